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

  /** Its text, without the echo of what we typed. */
  text(typed: Uint8Array): string {
    const echo = new Echo(typed);
    // The terminal may not be set yet, and end lines with CR LF.
    echo.push(
      this.#bytes.filter((byte) => byte !== CR),
      false,
    );
    const { others } = echo.split();
    return new TextStripper().strip(concat(others.map(({ bytes }) => bytes))).trim();
  }

  /** The shell is ready. */
  forget(): void {
    this.#bytes = NO_BYTES;
  }
}
