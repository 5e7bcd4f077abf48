/** What was printed before a shell was ready: it tells why one never is. */

import { concat, NO_BYTES } from "./bytes.ts";
import { Echo } from "./echo.ts";
import { TextStripper } from "./text-stripper.ts";

const CR = 0x0d;

/** Of more, the end is kept. */
const MAX_BYTES = 8_000;

export class Prologue {
  #bytes: Uint8Array = NO_BYTES;

  push(bytes: Uint8Array): void {
    this.#bytes = concat([this.#bytes, bytes]).slice(-MAX_BYTES);
  }

  /**
   * Its text, without the echo of what we typed.
   *
   * @param nonce stands in the line that was typed for a far shell, which may have shown it in its own way
   */
  text(typed: Uint8Array, nonce: string): string {
    const echo = new Echo(typed);
    // The terminal may not be set yet, and end lines with CR LF.
    echo.push(
      this.#bytes.filter((byte) => byte !== CR),
      false,
    );
    const { others } = echo.split();
    const text = new TextStripper().strip(concat(others.map(({ bytes }) => bytes)));
    const lines = text.split("\n").filter((line) => !line.includes(nonce));
    return lines.join("\n").trim();
  }

  /** The shell is ready. */
  forget(): void {
    this.#bytes = NO_BYTES;
  }
}
