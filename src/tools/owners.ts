/** What belongs to whom. */

import { EvershellError } from "../core/index.ts";
import type { Owner } from "./tool.ts";

/** What an owner has: its shell and terminals, or its tasks. */
export interface Owned {
  /** Ends all of it, for good. May be called more than once. */
  close(): Promise<void>;
}

/** The owners of one set of tools, each with what belongs to it and to nobody else. */
export class Owners<T extends Owned> {
  readonly #make: () => T;
  readonly #byName = new Map<string, T>();
  readonly #byObject = new WeakMap<object, T>();
  /** Everything that is open. Nothing here leads to an owner object, so that it can be collected. */
  readonly #all = new Set<T>();
  readonly #collected = new FinalizationRegistry<T>((owned) => void this.#close(owned));
  readonly #calls = new Set<{ readonly owner: Owner | undefined }>();
  #closed = false;

  /** @param make makes what a new owner has; it does not know the owner */
  constructor(make: () => T) {
    this.#make = make;
  }

  /**
   * Does some work with what belongs to an owner, who is not collected meanwhile.
   *
   * @param tool names the tool that asks, for the message
   * @throws {EvershellError} `NO_OWNER` for nobody; `CLOSED` once the tools are disposed of; what the work throws
   */
  async use<R>(owner: Owner | undefined, tool: string, work: (owned: T) => Promise<R>): Promise<R> {
    const owned = this.of(owner, tool);
    const call = { owner };
    this.#calls.add(call);
    try {
      return await work(owned);
    } finally {
      this.#calls.delete(call);
    }
  }

  /** What belongs to an owner. The parameters and errors are those of `use`. */
  of(owner: Owner | undefined, tool: string): T {
    if (this.#closed) throw new EvershellError("CLOSED", `${tool} was disposed of: make new tools`);
    const isObject = typeof owner === "object" && owner !== null;
    if (!isObject && (typeof owner !== "string" || owner === "")) {
      throw new EvershellError("NO_OWNER", `${tool} requires an owning agent session`);
    }
    return this.#find(owner) ?? this.#add(owner);
  }

  /** Ends all that belongs to an owner, with everything that was started there. */
  async dispose(owner: Owner): Promise<void> {
    const owned = this.#find(owner);
    if (owned === undefined) return;
    if (typeof owner === "string") this.#byName.delete(owner);
    else this.#byObject.delete(owner);
    this.#collected.unregister(owned);
    await this.#close(owned);
  }

  /** The same for every owner, for good. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#all].map((owned) => this.#close(owned)));
  }

  #find(owner: Owner): T | undefined {
    return typeof owner === "string" ? this.#byName.get(owner) : this.#byObject.get(owner);
  }

  #add(owner: Owner): T {
    const owned = this.#make();
    this.#all.add(owned);
    if (typeof owner === "string") this.#byName.set(owner, owned);
    else {
      this.#byObject.set(owner, owned);
      this.#collected.register(owner, owned, owned);
    }
    return owned;
  }

  async #close(owned: T): Promise<void> {
    await owned.close();
    this.#all.delete(owned);
  }
}
