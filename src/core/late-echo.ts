/**
 * The echo of a command that comes after the command has started.
 *
 * The kernel wakes the reader of a line before it has put out the line's echo (Linux, n_tty: echoes are
 * committed in blocks and flushed at the end of the write), so on a busy machine the shell can be faster.
 */

import { concat, indexOfBytes } from "./bytes.ts";
import type { Echo } from "./late.ts";

/** The echo is under way when the command starts; it comes with the first output or never. */
const MAX_DELAY_BYTES = 4096;

export class LateEcho {
  readonly #rest: Uint8Array;
  #seen = 0;
  #done = false;

  private constructor(rest: Uint8Array) {
    this.#rest = rest;
  }

  /**
   * What has to be looked for after `echo`, if anything.
   *
   * @param id names the command in its line; a rest without it is too common to be told from output
   */
  static after(echo: Echo | null, id: string): LateEcho | null {
    if (echo === null || echo.rest.length === 0 || id === "") return null;
    return new TextDecoder().decode(echo.rest).includes(id) ? new LateEcho(echo.rest) : null;
  }

  /** The bytes without the echo, which the kernel puts out in one piece. */
  remove(bytes: Uint8Array): Uint8Array {
    if (this.#done) return bytes;
    this.#seen += bytes.length;
    this.#done = this.#seen > MAX_DELAY_BYTES;
    const at = indexOfBytes(bytes, this.#rest);
    if (at === -1) return bytes;
    this.#done = true;
    return concat([bytes.subarray(0, at), bytes.subarray(at + this.#rest.length)]);
  }
}
