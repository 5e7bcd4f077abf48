/** A queue of one: whoever takes a turn has the thing alone, first come, first served. */

import { aborted } from "./errors.ts";

export class Turns {
  readonly #waiting: (() => void)[] = [];
  #taken = false;

  /** Somebody has the turn. */
  get taken(): boolean {
    return this.#taken;
  }

  /**
   * Runs the work when its turn comes. Work whose signal is aborted before never starts.
   *
   * @throws {EvershellError} `ABORTED` in that case; else whatever the work throws
   */
  async take<T>(work: () => Promise<T>, signal: AbortSignal | null): Promise<T> {
    if (signal?.aborted) throw aborted(signal);
    if (this.#taken) await this.#wait(signal);
    this.#taken = true;
    try {
      if (signal?.aborted) throw aborted(signal);
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#taken = false;
    }
  }

  #wait(signal: AbortSignal | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(aborted(signal as AbortSignal));
      };
      this.#waiting.push(enter);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }
}
