/** Types into the terminal: the set-up, commands, input for programs; and sees to it that commands are taken. */

import { concat, NO_BYTES } from "./bytes.ts";
import { pause } from "./deferred.ts";
import type { Pty } from "./pty.ts";

/**
 * Bytes of our lines that are typed before their echo is awaited: the terminal holds 64 KiB of it, and what finds no
 * room would come after the command has started (seen on a busy machine).
 */
const PIECE_BYTES = 16 * 1024;

/** Looks in a row at which no more has come, after which a terminal is taken not to echo; each takes 1 ms or more. */
const ECHO_LOOKS = 100;

/** ^U: in canonical mode it discards what was typed but not ended with a newline. */
const KILL_LINE = Uint8Array.of(0x15);

/**
 * ^C discards a line that the shell still waits for the end of, and all input that it has not read. The empty line
 * mends bash's parser, which after half a quoted word misses the next reserved word (5.2).
 */
const START_OVER = Uint8Array.of(0x03, 0x0a);

/** When the prompt is there again and the command was not taken: the time for its begin mark to come still. */
const REFUSED_MS = 50;

/** What the typist needs of the shell that it types into. */
export interface TypistHost {
  readonly pty: Pty;
  /** The time that the shell may take to set up or to take a command. */
  readonly timeoutMs: number;
  /** How many bytes have come from the terminal. */
  readonly received: () => number;
  /** The text that makes the shell ours; it is about to be typed. */
  setUp(): Uint8Array;
  /** This line is about to be typed, and will be echoed. */
  beforeLine(line: Uint8Array): void;
  /** The shell does not take commands, not even after it has been set up once more. */
  onLost(): void;
}

export class Typist {
  readonly #host: TypistHost;
  /** The command that the shell has not taken yet. */
  #line: Uint8Array = NO_BYTES;
  #repaired = false;
  /** What is being written in pieces. */
  #writing: Uint8Array = NO_BYTES;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What the next line must begin with, because of what was typed before it. */
  #prefix: Uint8Array = NO_BYTES;
  /** Inputs are typed one after another. */
  #inputs: Promise<void> = Promise.resolve();

  constructor(host: TypistHost) {
    this.#host = host;
  }

  /** Types the set-up; the shell answers with a ready mark. */
  typeSetUp(): void {
    void this.#write(this.#host.setUp());
  }

  /** Types the set-up into a shell that may be in the middle of something. */
  startOver(): void {
    this.#prefix = NO_BYTES;
    void this.#write(concat([START_OVER, this.#host.setUp()]));
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

  /**
   * Types input for the program in the foreground. Resolves when the terminal has taken it.
   *
   * @param until aborted when the command is over: what the terminal has not taken by then is dropped
   */
  typeInput(bytes: Uint8Array, until: AbortSignal): Promise<void> {
    const typed = this.#inputs.then(() => {
      this.#prefix = KILL_LINE;
      return this.#host.pty.write(bytes, until);
    });
    this.#inputs = typed.catch(() => undefined);
    return typed;
  }

  /** The shell has taken the command. */
  taken(): void {
    clearTimeout(this.#timer);
    this.#line = NO_BYTES;
    this.#writing = NO_BYTES;
  }

  /** The command is no longer of interest. If the shell has not taken it, half of it may stand there. */
  forget(): void {
    if (this.#line !== NO_BYTES) this.#prefix = START_OVER;
    this.taken();
  }

  /** The prompt has come without the command having been taken. */
  refused(): void {
    if (this.#line !== NO_BYTES) this.#expectWithin(REFUSED_MS);
  }

  #typeLine(): void {
    const line = this.#line;
    this.#host.beforeLine(line);
    void this.#write(concat([this.#prefix, line]));
    this.#prefix = NO_BYTES;
    this.#expectWithin(this.#host.timeoutMs);
  }

  #expectWithin(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#notTaken(), ms);
  }

  /**
   * The shell may have lost our functions, be stopped, have become another program, or have a terminal that
   * breaks lines. It is made ours once more; the number of the command keeps it from running twice.
   */
  async #notTaken(): Promise<void> {
    const line = this.#line;
    if (this.#repaired) {
      this.forget();
      this.#host.onLost();
      return;
    }
    this.#repaired = true;
    await this.#host.pty.repair();
    // A shell that was only stopped takes it now.
    await pause(REFUSED_MS);
    if (this.#line !== line) return;
    this.startOver();
    this.#expectWithin(this.#host.timeoutMs);
  }

  /** Writes in pieces until something else is to be written; a shell that takes one is given time for the next. */
  async #write(bytes: Uint8Array): Promise<void> {
    this.#writing = bytes;
    try {
      const before = this.#host.received();
      let echoes = true;
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        if (at > 0) {
          echoes = echoes && (await this.#hasReceived(before + at));
          if (this.#writing !== bytes) return;
          if (this.#line !== NO_BYTES) this.#expectWithin(this.#host.timeoutMs);
        }
        await this.#host.pty.write(bytes.subarray(at, at + PIECE_BYTES));
      }
    } catch {
      // The terminal has ended, which its exit tells.
    }
  }

  /** Waits until so many bytes have come; false if no more come. */
  async #hasReceived(bytes: number): Promise<boolean> {
    let last = this.#host.received();
    for (let looks = 0; last < bytes && looks < ECHO_LOOKS; looks++) {
      await pause(1);
      const now = this.#host.received();
      if (now > last) looks = 0;
      last = now;
    }
    return last >= bytes;
  }
}
