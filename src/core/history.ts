/** The lines that have scrolled off a screen, of which the latest are kept. */

/** Bounds of what is kept: lines, and characters in all of them. */
const MAX_LINES = 10_000;
const MAX_CHARS = 4 * 1024 * 1024;

/** Lines of a terminal from the oldest that is kept to the last of the screen. */
export interface Scrollback {
  readonly lines: readonly string[];
  /** How many lines came before these and are no longer kept. */
  readonly dropped: number;
}

export class History {
  #lines: string[] = [];
  #chars = 0;
  #dropped = 0;

  get dropped(): number {
    return this.#dropped;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Takes lines that each end with a newline. */
  push(text: string): void {
    if (text === "") return;
    const lines = text.split("\n");
    lines.pop();
    for (const line of lines) this.#lines.push(line);
    this.#chars += text.length;
    // Half as much again may be held, so that it is not cut line by line.
    if (this.#lines.length > 1.5 * MAX_LINES || this.#chars > 1.5 * MAX_CHARS) this.#cut();
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
