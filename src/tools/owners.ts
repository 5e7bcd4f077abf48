/** Whose shells and terminals are whose. */

import { EvershellError } from "../core/index.ts";
import { OwnedTerminals } from "./owned-terminals.ts";
import type { Owner } from "./tool.ts";

/** The owners of one set of tools, each with what belongs to it and to nobody else. */
export class Owners {
  readonly #byName = new Map<string, OwnedTerminals>();
  readonly #byObject = new WeakMap<object, OwnedTerminals>();
  /** Everything that is open. Nothing here leads to an owner object, so that it can be collected. */
  readonly #all = new Set<OwnedTerminals>();
  readonly #collected = new FinalizationRegistry<OwnedTerminals>(
    (owned) => void this.#close(owned),
  );
  readonly #calls = new Set<{ readonly owner: Owner }>();
  #closed = false;

  /**
   * Does some work with what belongs to an owner, who is not collected meanwhile.
   *
   * @param tool names the tool that asks, for the message
   * @throws {EvershellError} `NO_OWNER` for nobody; `CLOSED` once the tools are disposed of; what the work throws
   */
  async use<T>(
    owner: Owner | undefined,
    tool: string,
    work: (owned: OwnedTerminals) => Promise<T>,
  ): Promise<T> {
    if (this.#closed) throw new EvershellError("CLOSED", `${tool} was disposed of: make new tools`);
    const isObject = typeof owner === "object" && owner !== null;
    if (!isObject && (typeof owner !== "string" || owner === "")) {
      throw new EvershellError("NO_OWNER", `${tool} requires an owning agent session`);
    }
    const call = { owner };
    this.#calls.add(call);
    try {
      return await work(this.#find(owner) ?? this.#add(owner));
    } finally {
      this.#calls.delete(call);
    }
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

  #find(owner: Owner): OwnedTerminals | undefined {
    return typeof owner === "string" ? this.#byName.get(owner) : this.#byObject.get(owner);
  }

  #add(owner: Owner): OwnedTerminals {
    const owned = new OwnedTerminals();
    this.#all.add(owned);
    if (typeof owner === "string") this.#byName.set(owner, owned);
    else {
      this.#byObject.set(owner, owned);
      this.#collected.register(owner, owned, owned);
    }
    return owned;
  }

  async #close(owned: OwnedTerminals): Promise<void> {
    await owned.close();
    this.#all.delete(owned);
  }
}
