/** Types into the terminal: the set-up, commands, input for programs; and sees to it that commands are taken. */

import { concat, NO_BYTES } from "./bytes.ts";
import type { Pty } from "./pty.ts";

/** Bytes handed to the PTY at a time. */
const WRITE_BYTES = 64 * 1024;

/**
 * ^C discards a line that the shell still waits for the end of, and all input that it has not read. The empty line
 * mends bash's parser, which after half a quoted word misses the next reserved word (5.2).
 */
const START_OVER = Uint8Array.of(0x03, 0x0a);

/** ^U: in canonical mode it discards what was typed but not ended with a newline. */
const KILL_LINE = Uint8Array.of(0x15);

/** When the prompt is there again and the command was not taken: the time for its begin mark to come still. */
const REFUSED_MS = 50;

/** What the typist needs of the shell that it types into. */
export interface TypistHost {
  readonly pty: Pty;
  /** The time that the shell may take to set up or to take a command. */
  readonly timeoutMs: number;
  /** The text that makes the shell ours. */
  setUp(): Uint8Array;
  /** A line is about to be typed, and will be echoed. */
  onLine(line: Uint8Array): void;
  /** The shell does not take commands, not even after it has been set up once more. */
  onLost(): void;
}

export class Typist {
  readonly #host: TypistHost;
  /** The command that the shell has not taken yet. */
  #line: Uint8Array = NO_BYTES;
  #repaired = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Input that no program may have read, and that the shell must not take for the beginning of a line. */
  #inputLeft = false;

  constructor(host: TypistHost) {
    this.#host = host;
  }

  /** Types the set-up; the shell answers with a ready mark. */
  typeSetUp(): void {
    void this.#write(this.#host.setUp());
  }

  /** Types a command. `taken` or `onLost` tells what becomes of it. */
  typeCommand(line: Uint8Array): void {
    this.#line = line;
    this.#repaired = false;
    this.#typeLine();
  }

  /** The shell is ours again: a command that it has not taken is typed once more. */
  typeAgain(): void {
    if (this.#line !== NO_BYTES) this.#typeLine();
  }

  /** Types input for the program in the foreground. Resolves when the terminal has taken it. */
  async typeInput(bytes: Uint8Array): Promise<void> {
    this.#inputLeft = true;
    for (let at = 0; at < bytes.length; at += WRITE_BYTES) {
      await this.#host.pty.write(bytes.subarray(at, at + WRITE_BYTES));
    }
  }

  /** The shell has taken the command, or it is no longer of interest. */
  taken(): void {
    clearTimeout(this.#timer);
    this.#line = NO_BYTES;
  }

  /** The prompt has come without the command having been taken. */
  refused(): void {
    if (this.#line !== NO_BYTES) this.#expectWithin(REFUSED_MS);
  }

  #typeLine(): void {
    const line = this.#line;
    this.#host.onLine(line);
    this.#write(this.#inputLeft ? concat([KILL_LINE, line]) : line);
    this.#inputLeft = false;
    this.#expectWithin(this.#host.timeoutMs);
  }

  #expectWithin(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#notTaken(), ms);
  }

  /**
   * The shell may have lost our functions, be stopped, have become another program, or have a terminal that
   * breaks lines. It is made ours once more; the number of the command keeps it from running twice.
   */
  async #notTaken(): Promise<void> {
    const line = this.#line;
    if (this.#repaired) {
      this.taken();
      this.#host.onLost();
      return;
    }
    this.#repaired = true;
    await this.#host.pty.repair();
    if (this.#line !== line) return;
    void this.#write(concat([START_OVER, this.#host.setUp()]));
    this.#expectWithin(this.#host.timeoutMs);
  }

  /** Writes in pieces; as long as the shell takes them, it is given time for the next. */
  async #write(bytes: Uint8Array): Promise<void> {
    const line = this.#line;
    try {
      for (let at = 0; at < bytes.length; at += WRITE_BYTES) {
        if (this.#line !== line) return;
        await this.#host.pty.write(bytes.subarray(at, at + WRITE_BYTES));
        if (at > 0 && this.#line === line) this.#expectWithin(this.#host.timeoutMs);
      }
    } catch {
      // The terminal has ended, which its exit tells.
    }
  }
}
