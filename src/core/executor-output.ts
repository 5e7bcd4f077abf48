/** What an executor keeps of the output of a command: its end in memory, and all of it in a file. */

import type { ProcessOutput, StreamOutput } from "./executor.ts";
import type { Spill } from "./spill.ts";
import { Tail } from "./tail.ts";
import { type OnOutput, Teller } from "./teller.ts";
import { Unread } from "./unread.ts";

/** Bytes of each stream that are kept in memory: the last ones. */
const MAX_BYTES = 64_000;

/** Where a stream goes. */
export interface Sink {
  push(bytes: Uint8Array): Promise<unknown> | undefined;
}

/** One stream of a command that is waited for. */
export class Collector implements Sink {
  readonly #tail = new Tail(MAX_BYTES);
  readonly #spill: Spill;
  readonly #teller: Teller | null;

  constructor(spill: Spill, onOutput: OnOutput | undefined) {
    this.#spill = spill;
    this.#teller = onOutput === undefined ? null : new Teller(onOutput);
  }

  push(bytes: Uint8Array): Promise<unknown> | undefined {
    this.#tail.push(bytes);
    const spilled = this.#spill.push(bytes);
    const heard = this.#teller?.tell(this.#teller.decode(bytes));
    return spilled || heard ? Promise.all([spilled, heard]) : undefined;
  }

  async output(): Promise<StreamOutput> {
    await this.#teller?.tell(this.#teller.rest());
    const { truncated, totalBytes } = this.#tail;
    const spillPath = truncated ? await this.#spill.path() : null;
    await this.#spill.finish(spillPath !== null);
    return { text: this.#tail.text(), totalBytes, truncated, spillPath };
  }

  discard(): Promise<void> {
    return this.#spill.finish(false);
  }
}

/** The output of a command that was left running, until it is read. */
export class OutputLog implements Sink {
  readonly #unread = new Unread(MAX_BYTES);
  readonly #spill: Spill;
  #totalBytes = 0;
  /** Set once nothing more comes: the file with all of it, if more came than is kept in memory. */
  #ended: { readonly spillPath: string | null } | null = null;

  constructor(spill: Spill) {
    this.#spill = spill;
  }

  push(bytes: Uint8Array): Promise<unknown> | undefined {
    this.#totalBytes += bytes.length;
    this.#unread.push(bytes);
    return this.#spill.push(bytes) ?? undefined;
  }

  async read(): Promise<ProcessOutput> {
    const { text, dropped } = this.#unread.take(this.#ended !== null);
    if (!dropped) return { text, dropped, spillPath: null };
    const { spillPath } = this.#ended ?? { spillPath: await this.#spill.path() };
    return { text, dropped, spillPath };
  }

  async end(): Promise<void> {
    const spillPath = this.#totalBytes > MAX_BYTES ? await this.#spill.path() : null;
    await this.#spill.finish(spillPath !== null);
    this.#ended = { spillPath };
  }
}
