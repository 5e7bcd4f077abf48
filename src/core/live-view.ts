/** A command's output as it comes, for somebody who watches. */

import { type ForeignEnding, possibleEndingAt, withoutEnding } from "./foreign-ending.ts";

/** Receives output as it comes: text with its escape sequences, never a part of a character. */
export type OnOutput = (text: string) => void | Promise<void>;

export class LiveView {
  readonly #onOutput: OnOutput;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** The last line, while it may prove to be the shell's. */
  #held = "";

  constructor(onOutput: OnOutput) {
    this.#onOutput = onOutput;
  }

  /** Takes output. Where it returns a promise, the watcher is behind. */
  push(bytes: Uint8Array): void | Promise<void> {
    const text = this.#held + this.#decoder.decode(bytes, { stream: true });
    const end = possibleEndingAt(text);
    this.#held = text.slice(end);
    return this.#tell(text.slice(0, end));
  }

  /** The output is over. */
  end(foreign: ForeignEnding | null): void {
    // Nothing comes after that a slow watcher could hold up.
    void this.#tell(withoutEnding(this.#held, foreign) + this.#decoder.decode());
    this.#held = "";
  }

  #tell(text: string): void | Promise<void> {
    if (text === "") return;
    try {
      // A watcher that fails loses its view; the command and its result are not to suffer.
      return this.#onOutput(text)?.catch(() => undefined);
    } catch {
      // As above.
    }
  }
}
