/** The calls of one owner that are being carried out, and end with it. */

import { EvershellError } from "../core/index.ts";

export class OwnedCalls {
  readonly #over = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  /**
   * Does some work, under a signal that is aborted with the call or when the owner is disposed of.
   *
   * @throws {EvershellError} `CLOSED` once that is so; what the work throws
   */
  async run<T>(
    call: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    this.#refuseIfClosed();
    const signal =
      call === undefined ? this.#over.signal : AbortSignal.any([call, this.#over.signal]);
    const running = work(signal);
    this.#running.add(running);
    try {
      return await running;
    } catch (error) {
      this.#refuseIfClosed();
      throw error;
    } finally {
      this.#running.delete(running);
    }
  }

  async close(): Promise<void> {
    this.#over.abort();
    await Promise.allSettled(this.#running);
  }

  #refuseIfClosed(): void {
    if (!this.#over.signal.aborted) return;
    throw new EvershellError("CLOSED", "the owner of this call was disposed of");
  }
}
