/** The last bytes of an output, as text. */

import { concat, NO_BYTES } from "./bytes.ts";

export class Tail {
  readonly #maxBytes: number;
  #pieces: Uint8Array[] = [];
  #held = 0;
  #total = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get totalBytes(): number {
    return this.#total;
  }

  get truncated(): boolean {
    return this.#total > this.#maxBytes;
  }

  push(bytes: Uint8Array): void {
    this.#total += bytes.length;
    this.#pieces.push(bytes);
    this.#held += bytes.length;
    // Joined now and then: a piece may be a byte, or a view of a much larger buffer.
    if (this.#held > 2 * this.#maxBytes || this.#pieces.length > MAX_PIECES) this.#cut();
  }

  /** The last bytes, from the beginning of a character on. What is no UTF-8 becomes U+FFFD. */
  text(): string {
    this.#cut();
    const [bytes = NO_BYTES] = this.#pieces;
    const start = this.truncated ? firstCharacter(bytes) : 0;
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(start));
  }

  #cut(): void {
    const kept = concat(this.#pieces).slice(-this.#maxBytes);
    this.#pieces = [kept];
    this.#held = kept.length;
  }
}

const MAX_PIECES = 1_000;

/** Where the first whole character begins: up to three bytes may continue one that was cut off. */
export function firstCharacter(bytes: Uint8Array): number {
  let at = 0;
  while (at < 3 && at < bytes.length && ((bytes[at] as number) & 0xc0) === 0x80) at++;
  return at;
}
