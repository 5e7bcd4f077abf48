/**
 * Output that only ever appends: printable text, newlines, tabs, and sequences that neither move the
 * cursor nor change what stands already. Such output has one exact text, whatever the width of the
 * screen; all other output is *painted*, and only a screen knows what it comes to.
 */

const BS = 0x08;
const TAB = 0x09;
const LF = 0x0a;
const VT = 0x0b;
const FF = 0x0c;
const CR = 0x0d;
const SO = 0x0e;
const SI = 0x0f;
const CAN = 0x18;
const SUB = 0x1a;
const ESC = 0x1b;
const DEL = 0x7f;
const BEL = 0x07;

/** Where the reader is inside of a sequence; the names follow the states of DEC's parser. */
type State = "ground" | "afterCr" | "escape" | "charset" | "csi" | "osc" | "oscEscape";

/** 1 for bytes that the fast path must stop at: all controls but TAB and LF, and DEL. */
const SPECIAL: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  (byte < 0x20 && byte !== TAB && byte !== LF) || byte === DEL ? 1 : 0,
);

/** Controls that a terminal acts on by moving the cursor or switching character sets. */
const PAINTING: ReadonlySet<number> = new Set([BS, VT, FF, SO, SI]);

/** Longest control sequence (without a string) that is read as one; xterm allows 32 parameters. */
const MAX_CSI_BYTES = 256;

/** Reads append-only output byte by byte, in pieces cut anywhere. */
export class AppendOnlyReader {
  #state: State = "ground";
  #csi = "";

  /**
   * The text bytes of a piece, without the sequences around them; null once the output paints. After null
   * the reader is of no more use.
   */
  read(chunk: Uint8Array): Uint8Array | null {
    if (this.#state === "ground" && nextSpecial(chunk, 0) === chunk.length) return chunk;
    const text = new Uint8Array(chunk.length + 1);
    let length = 0;
    for (let at = 0; at < chunk.length; ) {
      if (this.#state === "ground") {
        const end = nextSpecial(chunk, at);
        text.set(chunk.subarray(at, end), length);
        length += end - at;
        at = end;
        if (at === chunk.length) break;
      }
      const byte = chunk[at++] as number;
      const afterCr = this.#state === "afterCr";
      if (!this.#step(byte)) return null;
      if (afterCr && byte === LF) text[length++] = LF;
    }
    return text.subarray(0, length);
  }

  /** Takes one byte outside of plain text; false if it paints. */
  #step(byte: number): boolean {
    switch (this.#state) {
      case "ground":
        if (byte === ESC) this.#state = "escape";
        else if (byte === CR) this.#state = "afterCr";
        else return !PAINTING.has(byte);
        return true;
      case "afterCr":
        if (byte !== CR) this.#state = "ground";
        return byte === LF || byte === CR;
      case "escape":
        return this.#escape(byte);
      case "charset":
        // `ESC ( B` selects ASCII, which is selected already: part of `tput sgr0`.
        this.#state = "ground";
        return byte === 0x42;
      case "csi":
        return this.#controlSequence(byte);
      case "osc":
        if (byte === BEL || byte === CAN || byte === SUB) this.#state = "ground";
        else if (byte === ESC) this.#state = "oscEscape";
        return true;
      case "oscEscape":
        // ESC ends the string whatever follows; with `\` the two are ST.
        if (byte === 0x5c) {
          this.#state = "ground";
          return true;
        }
        return this.#escape(byte);
    }
  }

  #escape(byte: number): boolean {
    if (byte === 0x5b) {
      this.#state = "csi";
      this.#csi = "";
    } else if (byte === 0x5d) this.#state = "osc";
    else if (byte === 0x28) this.#state = "charset";
    // `ESC \` alone, and the choice of the keypad's mode, show nothing.
    else if (byte === 0x5c || byte === 0x3d || byte === 0x3e) this.#state = "ground";
    else return false;
    return true;
  }

  #controlSequence(byte: number): boolean {
    if (byte < 0x20 || byte > 0x7e || this.#csi.length > MAX_CSI_BYTES) return false;
    this.#csi += String.fromCharCode(byte);
    if (byte < 0x40) return true;
    this.#state = "ground";
    return APPENDING_CSI.test(this.#csi);
  }
}

/**
 * Control sequences that change no text when nothing stands to the right of the cursor or below it:
 * colours (SGR), erasing to the end of the line or screen (EL 0, ED 0; `grep --color`), the shape or
 * visibility of the cursor, and bracketed paste.
 */
const APPENDING_CSI = /^(?:[\d;:]*m|0?[KJ]|\?(?:12|25|2004)[hl]|\d* q)$/;

/** Where the next byte stands that the fast path must stop at; the length if there is none. */
function nextSpecial(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && SPECIAL[bytes[at] as number] === 0) at++;
  return at;
}
