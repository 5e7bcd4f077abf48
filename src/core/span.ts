/** What one command prints, between its start mark and its end: bytes in, text out. */

import { AppendOnlyReader } from "./append-only.ts";
import { NO_BYTES } from "./bytes.ts";
import { Clip, type Clipped, type Keep } from "./clip.ts";
import { type ForeignEnding, withoutEnding } from "./foreign-ending.ts";
import { History, type Scrollback, textFrom } from "./history.ts";
import type { Screen, ScreenView } from "./screen.ts";

/**
 * So many bytes of append-only output stay at hand, in case the program starts to paint: they cover the
 * visible screen (40 rows of 120 cells, with colours) many times over. What is older has scrolled away and
 * can no longer change.
 */
const WINDOW_BYTES = 64 * 1024;

/** Where no screen is involved, so many lines count as standing on it. */
const SCREEN_LINES = 40;

/** A piece of append-only output, as it came and as text. */
interface Piece {
  readonly bytes: Uint8Array;
  readonly text: string;
}

/**
 * Output of one command. As long as it only appends, its text is exactly what was printed, and no screen
 * is involved. From the first sequence that paints, it is what a person would see: the rows that scrolled
 * away, and the screen.
 */
export class Span {
  readonly #screen: () => Screen;
  readonly #maxChars: number;
  readonly #keep: Keep;
  readonly #reader = new AppendOnlyReader();
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #window: Piece[] = [];
  #windowBytes = 0;
  /** Set once the output paints. */
  #painted: Screen | null = null;
  #history: History | null = null;
  /** How many lines have left the window before that. */
  #dropped = 0;
  #clip: Clip;
  /** A program's own screen has nothing to do with the ordinary one, which comes back after it. */
  readonly #shown = { normal: new Shown(""), alternate: new Shown("") };
  #foreign: ForeignEnding | null = null;

  /** @param screen gives the shell's screen with a blank page; called when it is needed first */
  constructor(screen: () => Screen, maxChars: number, keep: Keep) {
    this.#screen = screen;
    this.#maxChars = maxChars;
    this.#keep = keep;
    this.#clip = new Clip(maxChars, keep);
  }

  push(bytes: Uint8Array): void {
    if (this.#painted !== null) {
      this.#settle(this.#painted.write(bytes));
      return;
    }
    const textBytes = this.#reader.read(bytes);
    if (textBytes === null) {
      this.#paint(bytes);
      return;
    }
    this.#window.push({ bytes, text: this.#decoder.decode(textBytes, { stream: true }) });
    this.#windowBytes += bytes.length;
    this.#slideWindow();
  }

  /**
   * The output is over: a character that was cut off counts as unreadable.
   *
   * @param foreign what the shell may have printed of itself at the end
   */
  end(foreign: ForeignEnding | null): void {
    const text = this.#decoder.decode();
    if (text !== "") this.#window.push({ bytes: NO_BYTES, text });
    this.#foreign = foreign;
  }

  /** What came since the last call, clipped. */
  take(): Clipped {
    const open = withoutEnding(this.#openText(), this.#foreign);
    const screen = this.#painted?.alternate ? "alternate" : "normal";
    this.#clip.push(this.#shown[screen].filter(open, true));
    const taken = this.#clip.finish();
    this.#clip = new Clip(this.#maxChars, this.#keep);
    this.#shown[screen] = new Shown(open);
    if (screen === "normal") this.#shown.alternate = new Shown("");
    return taken;
  }

  /** The screen as it stands. */
  view(): ScreenView {
    if (this.#painted !== null) return this.#painted.view();
    const screen = this.#screen();
    for (const piece of this.#window) screen.write(piece.bytes);
    return screen.view();
  }

  /** The text from the present line on, when the returned function is called. */
  fromHere(): () => string {
    const line = this.#history?.cursorLine() ?? this.#dropped + this.#openLines().length - 1;
    return () => textFrom(this.scrollback(), line, this.#painted?.alternate ?? false);
  }

  /** Its lines, as far back as they are at hand. */
  scrollback(): Scrollback {
    if (this.#history !== null) return this.#history.scrollback();
    const lines = this.#openLines();
    const screenLines = Math.min(lines.length, SCREEN_LINES);
    return { lines, dropped: this.#dropped, screenLines };
  }

  #openLines(): string[] {
    return this.#openText().split("\n");
  }

  /** The text that may still change, because the program can paint over it or add to it. */
  #openText(): string {
    return this.#painted?.rest() ?? this.#window.map((piece) => piece.text).join("");
  }

  /** Takes text that can no longer change. */
  #settle(text: string): void {
    if (text === "") return;
    this.#clip.push(this.#shown.normal.filter(text, false));
    this.#history?.push(text);
  }

  #slideWindow(): void {
    for (let first = this.#window[0]; first !== undefined; first = this.#window[0]) {
      if (this.#windowBytes - first.bytes.length < WINDOW_BYTES) return;
      this.#window.shift();
      this.#windowBytes -= first.bytes.length;
      this.#dropped += newlinesIn(first.bytes);
      this.#settle(first.text);
    }
  }

  #paint(bytes: Uint8Array): void {
    const screen = this.#screen();
    this.#painted = screen;
    this.#history = new History(screen, this.#dropped);
    for (const piece of this.#window) this.#settle(screen.write(piece.bytes));
    this.#window = [];
    this.#settle(screen.write(bytes));
  }
}

/**
 * Text that a result has shown although it could still change. What settles later begins with the same text,
 * unless the program painted over it; the same is left out, so that each result brings only what is new.
 */
class Shown {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * The part of the text that has not been shown. Where it differs from what was shown, it is new from
   * the beginning of that line on.
   *
   * @param last nothing more will be compared: what was shown beyond the text has been wiped
   */
  filter(text: string, last: boolean): string {
    const rest = this.#text.length - this.#at;
    if (rest === 0) return text;
    const same = commonPrefix(this.#text, this.#at, text);
    if (same === text.length || same === rest) {
      this.#at = last ? this.#text.length : this.#at + same;
      return text.slice(same);
    }
    const lineStart = this.#text.lastIndexOf("\n", this.#at + same - 1) + 1;
    const shownOfLine = this.#text.slice(lineStart, this.#at + same);
    this.#at = this.#text.length;
    return shownOfLine + text.slice(same);
  }
}

/** In bytes, since they are counted at twice the speed of characters. */
function newlinesIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === 0x0a) count++;
  return count;
}

function commonPrefix(shown: string, from: number, text: string): number {
  const length = Math.min(shown.length - from, text.length);
  let same = 0;
  while (same < length && shown.charCodeAt(from + same) === text.charCodeAt(same)) same++;
  return same;
}
