/** A command's output as it comes, for somebody who watches. */

import { type ForeignEnding, possibleEndingAt, withoutEnding } from "./foreign-ending.ts";

/**
 * Receives output as it comes: text with its escape sequences, never a part of a character. If it returns a promise,
 * the command is held up until that settles, or until the command is stopped. What it throws is ignored.
 */
export type OnOutput = (text: string) => unknown;

/** So long the last line is held back that may prove to be the shell's; its exit is told within 200 ms. */
const HOLD_MS = 500;

export class Watcher {
  readonly #onOutput: OnOutput;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** The last line, while it may prove to be the shell's. */
  #held = "";
  #release: ReturnType<typeof setTimeout> | undefined;

  constructor(onOutput: OnOutput) {
    this.#onOutput = onOutput;
  }

  /** Takes output. Where it returns a promise, the watcher is behind. */
  push(bytes: Uint8Array): void | Promise<void> {
    clearTimeout(this.#release);
    const text = this.#held + this.#decoder.decode(bytes, { stream: true });
    const end = possibleEndingAt(text);
    this.#held = text.slice(end);
    if (this.#held !== "") this.#release = setTimeout(() => void this.end(null), HOLD_MS);
    return this.#tell(text.slice(0, end));
  }

  /** The output is over, or the held line is not its end. Nothing is held up by a slow watcher then. */
  end(foreign: ForeignEnding | null): void {
    clearTimeout(this.#release);
    const rest = withoutEnding(this.#held, foreign);
    this.#held = "";
    void this.#tell(rest);
  }

  #tell(text: string): void | Promise<void> {
    if (text === "") return;
    try {
      const heard = this.#onOutput(text);
      if (heard instanceof Promise) return heard.then(noop, noop);
    } catch {
      // A watcher that fails misses something; the command and its result are not to suffer.
    }
  }
}

function noop(): void {
  // As above, for a promise that is rejected.
}
