/** What has scrolled off a screen, of which the latest lines are kept. */

import type { Screen } from "./screen.ts";

/** Bounds of what is kept: lines, and characters in all of them. */
const MAX_LINES = 10_000;
const MAX_CHARS = 4 * 1024 * 1024;

/** The lines of a terminal, from the oldest that is kept to the last one of the screen. */
export interface Scrollback {
  readonly lines: readonly string[];
  /** How many lines came before these and are no longer kept. */
  readonly dropped: number;
  /** How many of the lines, the last ones, stand on the screen. */
  readonly screenLines: number;
}

export const EMPTY_SCROLLBACK: Scrollback = { lines: [], dropped: 0, screenLines: 0 };

/** A screen and the lines above it. */
export class History {
  readonly #screen: Screen;
  #lines: string[] = [];
  /** The beginning of a line that wraps from above into the screen. */
  #open = "";
  #chars = 0;
  #dropped: number;

  /** @param dropped how many lines came before */
  constructor(screen: Screen, dropped: number) {
    this.#screen = screen;
    this.#dropped = dropped;
  }

  /** Takes the text of rows that scrolled off. */
  push(text: string): void {
    if (text === "") return;
    const lines = (this.#open + text).split("\n");
    this.#open = lines.pop() as string;
    for (const line of lines) this.#lines.push(line);
    this.#chars += text.length;
    // Half as much again may be held, so that it is not cut line by line.
    if (this.#lines.length > 1.5 * MAX_LINES || this.#chars > 1.5 * MAX_CHARS) this.#cut();
  }

  scrollback(): Scrollback {
    const onScreen = (this.#open + this.#screen.rest()).split("\n");
    return {
      lines: [...this.#lines, ...onScreen],
      dropped: this.#dropped,
      screenLines: onScreen.length,
    };
  }

  /** The number of the line that the cursor is in; the first of all is 0. */
  cursorLine(): number {
    return this.#dropped + this.#lines.length + this.#screen.linesAboveCursor();
  }

  #cut(): void {
    let first = Math.max(0, this.#lines.length - MAX_LINES);
    let chars = 0;
    for (let at = this.#lines.length - 1; at >= first; at--) {
      chars += (this.#lines[at] as string).length + 1;
      if (chars > MAX_CHARS) first = at + 1;
    }
    this.#dropped += first;
    this.#lines = this.#lines.slice(first);
    this.#chars = this.#lines.reduce((sum, line) => sum + line.length + 1, 0);
  }
}

/**
 * The text from a line on; all of the screen where that has been cleared since, or is a program's own. What is no
 * longer kept is told.
 */
export function textFrom(
  { lines, dropped, screenLines }: Scrollback,
  line: number,
  alternate: boolean,
): string {
  const from = line - dropped;
  if (alternate || from >= lines.length) return lines.slice(-screenLines).join("\n");
  if (from >= 0) return lines.slice(from).join("\n");
  return [`[… ${-from} lines left out …]`, ...lines].join("\n");
}
