/** Keeps a bounded part of a text that comes in pieces, and counts all of it. */

import { fromBoundary, toBoundary } from "./characters.ts";

/** Which part of an over-long text is kept. */
export type Keep = "head" | "tail" | "both";

/** A text after clipping. Counts are UTF-16 code units, as of `String.length`. */
export interface Clipped {
  readonly text: string;
  /** How many characters of the whole are in `text`. */
  readonly shownChars: number;
  readonly totalChars: number;
}

/**
 * Collects a text of which at most `maxChars` characters are kept. The cut never parts a surrogate pair. One
 * newline at the end of the whole is not part of the text.
 */
export class Clip {
  readonly #headChars: number;
  readonly #tailChars: number;
  #head = "";
  /** The latest pieces after the head, together no shorter than the tail if that much came. */
  #tail: string[] = [];
  #tailLength = 0;
  #total = 0;
  #newlineHeld = false;

  constructor(maxChars: number, keep: Keep) {
    this.#headChars = keep === "head" ? maxChars : keep === "tail" ? 0 : Math.ceil(maxChars / 2);
    this.#tailChars = maxChars - this.#headChars;
  }

  push(piece: string): void {
    if (piece === "") return;
    const text = this.#newlineHeld ? `\n${piece}` : piece;
    this.#newlineHeld = text.endsWith("\n");
    this.#add(this.#newlineHeld ? text.slice(0, -1) : text);
  }

  finish(): Clipped {
    const tail = this.#tail.join("");
    if (this.#total <= this.#headChars + this.#tailChars) return whole(this.#head + tail);
    const end = tail.slice(fromBoundary(tail, tail.length - this.#tailChars));
    const shownChars = this.#head.length + end.length;
    const gap = `\n[… ${this.#total - shownChars} characters left out …]\n`;
    const text =
      this.#headChars > 0 && this.#tailChars > 0 ? this.#head + gap + end : this.#head + end;
    return { text, shownChars, totalChars: this.#total };
  }

  #add(text: string): void {
    const room = this.#total > this.#head.length ? 0 : this.#headChars - this.#head.length;
    this.#total += text.length;
    const cut = Math.min(toBoundary(text, room), text.length);
    if (cut > 0) this.#head += text.slice(0, cut);
    if (cut < text.length && this.#tailChars > 0) this.#addToTail(text.slice(cut));
  }

  #addToTail(text: string): void {
    this.#tail.push(text);
    this.#tailLength += text.length;
    // One character more than the tail may be needed to see that a pair is parted.
    while (this.#tailLength - (this.#tail[0] as string).length > this.#tailChars) {
      this.#tailLength -= (this.#tail.shift() as string).length;
    }
  }
}

/** The end of a text, and how much came before. */
export function tailWithNote(clip: Clip): string {
  const { text, shownChars, totalChars } = clip.finish();
  const left = totalChars - shownChars;
  return left === 0 ? text : `[… ${left} characters left out …]\n${text}`;
}

function whole(text: string): Clipped {
  return { text, shownChars: text.length, totalChars: text.length };
}
