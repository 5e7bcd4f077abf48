/** Output that waits to be read, each byte once; of what nobody reads in time, the end is kept. */

import { concat, NO_BYTES } from "./bytes.ts";
import { firstCharacter } from "./tail.ts";

/** What has come since the last reading. */
export interface UnreadText {
  readonly text: string;
  /** Some of what came before it was dropped. */
  readonly dropped: boolean;
}

export class Unread {
  readonly #maxBytes: number;
  #pieces: Uint8Array[] = [];
  #held = 0;
  #dropped = false;
  /** Keeps a character that is cut in two for the next reading. */
  #decoder = newDecoder();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(bytes: Uint8Array): void {
    this.#pieces.push(bytes);
    this.#held += bytes.length;
    if (this.#held > 2 * this.#maxBytes) this.#bound();
  }

  /** @param last no more will come: a character that was cut off counts as unreadable */
  take(last: boolean): UnreadText {
    this.#bound();
    const text = this.#decoder.decode(concat(this.#pieces), { stream: !last });
    const dropped = this.#dropped;
    this.#pieces = [];
    this.#held = 0;
    this.#dropped = false;
    return { text, dropped };
  }

  #bound(): void {
    const all = this.#pieces.length === 0 ? NO_BYTES : concat(this.#pieces);
    if (all.length > this.#maxBytes) {
      const tail = all.slice(-this.#maxBytes);
      this.#pieces = [tail.subarray(firstCharacter(tail))];
      this.#dropped = true;
      this.#decoder = newDecoder();
    } else {
      this.#pieces = [all];
    }
    this.#held = this.#pieces[0]?.length ?? 0;
  }
}

function newDecoder(): InstanceType<typeof TextDecoder> {
  return new TextDecoder("utf-8", { ignoreBOM: true });
}
