/**
 * The screen model, and the only user of xterm: bytes in; rows, the cursor and the terminal's answers out.
 */

import type { IBuffer, IBufferLine, IMarker } from "@xterm/headless";
import { Terminal } from "@xterm/headless/lib-headless/xterm-headless.mjs";

/** What a person would see on the terminal now. */
export interface ScreenView {
  readonly cols: number;
  readonly rows: number;
  /** The visible rows from top to bottom, without blanks at their ends. */
  readonly lines: readonly string[];
  /** Zero-based cell of the cursor. */
  readonly cursor: { readonly x: number; readonly y: number };
  /** Whether a program shows its own full screen (vim, less) in place of the ordinary one. */
  readonly alternate: boolean;
  /** Whether the arrow keys have to be sent in their application form (DECCKM). */
  readonly applicationCursorKeys: boolean;
}

/**
 * Bytes are parsed in pieces of this size. A byte scrolls at most one row away (but for REP, see MAX_COUNT), so no
 * row leaves the scrollback before it has been taken; and a call costs 9 µs, far less than the parsing.
 */
const PIECE_BYTES = 500;
const SCROLLBACK_ROWS = 2 * PIECE_BYTES;

/** SU, SD, IL, DL, REP, CHT and CBT, which xterm carries out count by count. */
const COUNTED = ["S", "T", "L", "M", "b", "I", "Z"];

/** A larger count than any screen has rows or columns is ignored: a few bytes could keep the host busy for hours. */
const MAX_COUNT = 1000;

/** CAN makes the parser give up an unfinished sequence. */
const CAN = Uint8Array.of(0x18);

/** One page of a terminal: it starts blank, and what scrolls off its top is handed out once. */
export class Screen {
  readonly #terminal: Terminal;
  /** The last row that has been handed out; undefined if none of the page has. */
  #handedOut: IMarker | undefined;
  #scrolledOff = "";
  readonly #newlineReturns: boolean;

  /**
   * @param onReply gets what the terminal answers to a program's queries
   * @param newlineReturns LF returns the cursor too, since the kernel's output processing is off
   */
  constructor(
    cols: number,
    rows: number,
    onReply: (answer: string) => void,
    newlineReturns: boolean,
  ) {
    this.#newlineReturns = newlineReturns;
    this.#terminal = new Terminal({
      cols,
      rows,
      scrollback: SCROLLBACK_ROWS,
      convertEol: newlineReturns,
      allowProposedApi: true,
      // It would report each malformed sequence of a program on the host's console.
      logLevel: "off",
    });
    // A program with a screen of its own is in raw mode, and means LF as it stands.
    this.#terminal.buffer.onBufferChange((buffer) => {
      this.#terminal.options.convertEol = newlineReturns && buffer.type === "normal";
    });
    // The empty data are those of #parseNow.
    this.#terminal.onData((answer) => answer !== "" && onReply(answer));
    this.#terminal.parser.registerCsiHandler({ final: "J" }, (params) => {
      // ED 3 throws the scrollback away: take it first.
      if (params[0] === 3) this.#takeScrolledOff();
      return false;
    });
    for (const final of COUNTED) {
      this.#terminal.parser.registerCsiHandler({ final }, ([count]) => Number(count) > MAX_COUNT);
    }
    this.#terminal.parser.registerEscHandler({ final: "c" }, () => {
      // RIS makes a new page, and markers stay behind with a meaningless line.
      this.#takeScrolledOff();
      this.#forgetMarker();
      return false;
    });
  }

  /** Shows bytes, and returns the text of the rows that scrolled off the page because of them. */
  write(bytes: Uint8Array): string {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      this.#parseNow(bytes.subarray(at, at + PIECE_BYTES));
      this.#takeScrolledOff();
    }
    const text = this.#scrolledOff;
    this.#scrolledOff = "";
    return text;
  }

  /** The text of the rows that `write` has not returned. */
  rest(): string {
    const buffer = this.#terminal.buffer.active;
    const from = buffer.type === "alternate" ? 0 : this.#nextRow();
    return rowsText(buffer, from, this.#lastRow() + 1).slice(0, -1);
  }

  /** How many lines that `write` has not returned stand above that of the cursor. */
  linesAboveCursor(): number {
    const buffer = this.#terminal.buffer.active;
    if (buffer.type === "alternate") return 0;
    const above = rowsText(buffer, this.#nextRow(), buffer.baseY + buffer.cursorY);
    return above.split("\n").length - 1;
  }

  /** A program shows a screen of its own. */
  get alternate(): boolean {
    return this.#terminal.buffer.active.type === "alternate";
  }

  view(): ScreenView {
    const { cols, rows, modes } = this.#terminal;
    const buffer = this.#terminal.buffer.active;
    return {
      cols,
      rows,
      lines: Array.from({ length: rows }, (_, y) => rowText(buffer, buffer.baseY + y)),
      cursor: { x: buffer.cursorX, y: buffer.cursorY },
      alternate: buffer.type === "alternate",
      applicationCursorKeys: modes.applicationCursorKeysMode,
    };
  }

  resize(cols: number, rows: number): void {
    this.#terminal.resize(cols, rows);
  }

  /** A blank page: modes, character sets, margins and the scrollback of the one before are gone. */
  turnPage(): void {
    this.#parseNow(CAN);
    this.#terminal.reset();
    this.#terminal.options.convertEol = this.#newlineReturns;
    this.#forgetMarker();
    this.#scrolledOff = "";
  }

  /**
   * `write` alone defers parsing to a timer (1.1 ms a call). After input from the user xterm parses the next
   * write at once, provided that none is pending.
   */
  #parseNow(bytes: Uint8Array): void {
    this.#terminal.input("", true);
    this.#terminal.write(bytes);
  }

  #takeScrolledOff(): void {
    // While the alternate screen shows, nothing scrolls off the ordinary one.
    if (this.#terminal.buffer.active.type === "alternate") return;
    const buffer = this.#terminal.buffer.normal;
    const from = this.#nextRow();
    if (buffer.baseY <= from) return;
    this.#scrolledOff += rowsText(buffer, from, buffer.baseY);
    // Not on a visible row: erasing that would dispose the marker.
    this.#handedOut?.dispose();
    this.#handedOut = this.#terminal.registerMarker(-buffer.cursorY - 1);
  }

  /** The last row that shows anything, or that the cursor is in. */
  #lastRow(): number {
    const buffer = this.#terminal.buffer.active;
    const cursor = buffer.baseY + buffer.cursorY;
    for (let row = buffer.length - 1; row > cursor; row--) {
      if (rowText(buffer, row) !== "") return row;
    }
    return cursor;
  }

  #nextRow(): number {
    return this.#handedOut === undefined || this.#handedOut.isDisposed
      ? 0
      : this.#handedOut.line + 1;
  }

  #forgetMarker(): void {
    this.#handedOut?.dispose();
    this.#handedOut = undefined;
  }
}

/** The rows as lines: a row that wraps into the next is joined with it, each line ends with a newline. */
function rowsText(buffer: IBuffer, from: number, to: number): string {
  let text = "";
  for (let row = from; row < to; row++) {
    // Beyond the end, a full buffer gives its first row.
    const wraps = row + 1 < buffer.length && buffer.getLine(row + 1)?.isWrapped === true;
    text += wraps ? wrappedRowText(buffer, row) : `${rowText(buffer, row)}\n`;
  }
  return text;
}

/** The text of a row without blanks at its end. */
function rowText(buffer: IBuffer, row: number): string {
  return (buffer.getLine(row)?.translateToString(true) ?? "").replace(/ +$/, "");
}

/** The whole of a row that wraps; a wide character that found no room for both cells left one empty. */
function wrappedRowText(buffer: IBuffer, row: number): string {
  const line = buffer.getLine(row) as IBufferLine;
  const next = buffer.getLine(row + 1) as IBufferLine;
  const last = line.getCell(line.length - 1);
  const leftOut = last?.getCode() === 0 && next.getCell(0)?.getWidth() === 2;
  return line.translateToString(false, 0, leftOut ? line.length - 1 : line.length);
}
