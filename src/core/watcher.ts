/** A command's output as it comes, for somebody who watches. */

import { type ForeignEnding, possibleEndingAt, withoutEnding } from "./foreign-ending.ts";
import { type OnOutput, Teller } from "./teller.ts";

/** So long the last line is held back that may prove to be the shell's; its exit is told within 200 ms. */
const HOLD_MS = 500;

export class Watcher {
  readonly #teller: Teller;
  /** The last line, while it may prove to be the shell's. */
  #held = "";
  #release: ReturnType<typeof setTimeout> | undefined;

  constructor(onOutput: OnOutput) {
    this.#teller = new Teller(onOutput);
  }

  /** Takes output. Where it returns a promise, the watcher is behind. */
  push(bytes: Uint8Array): void | Promise<void> {
    clearTimeout(this.#release);
    const text = this.#held + this.#teller.decode(bytes);
    const end = possibleEndingAt(text);
    this.#held = text.slice(end);
    if (this.#held !== "") this.#release = setTimeout(() => void this.end(null), HOLD_MS);
    return this.#teller.tell(text.slice(0, end));
  }

  /** The output is over, or the held line is not its end. Nothing is held up by a slow watcher then. */
  end(foreign: ForeignEnding | null): void {
    clearTimeout(this.#release);
    const rest = withoutEnding(this.#held, foreign);
    this.#held = "";
    void this.#teller.tell(rest);
  }
}
