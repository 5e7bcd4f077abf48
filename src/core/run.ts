/** One command in flight: its output, its end, and the results that are made of them. */

import { END_LINE } from "./bash.ts";
import type { Clipped, Keep } from "./clip.ts";
import type { Screen, ScreenView } from "./screen.ts";
import { type ForeignEnding, Span } from "./span.ts";
import type { Spill } from "./spill.ts";

/** How a command ended, or why a result comes before its end. */
export type RunEnd =
  /** The command is over and the shell goes on. */
  | { readonly kind: "finished"; readonly exitCode: number }
  /** `waitMs` is over; the command runs on, and `shell.wait()` goes on waiting. */
  | { readonly kind: "running" }
  /** It is proved that the command waits for input on the terminal. */
  | { readonly kind: "waiting"; readonly program: string; readonly password: boolean }
  /** The shell is back at its prompt without having finished the command; 130 after SIGINT. */
  | { readonly kind: "interrupted"; readonly exitCode: number }
  /** `timeoutMs` is over. */
  | { readonly kind: "timedOut"; readonly shellKept: boolean }
  /** The shell itself ended: its exit code, or the signal that killed it (`"SIGKILL"`). */
  | {
      readonly kind: "shellExited";
      readonly exitCode: number | null;
      readonly signal: string | null;
    };

/** What of an over-long output a result shows. Characters are UTF-16 code units. */
export interface ClipInfo {
  readonly shownChars: number;
  readonly totalChars: number;
  /** The beginning of the output is neither shown nor kept anywhere. */
  readonly lostPrefix: boolean;
  /** A file with the complete bytes of the command's output; null if there is none. */
  readonly spillPath: string | null;
}

/** What a command printed and how it ended. */
export interface RunResult {
  /**
   * What the command printed since its last result, stdout and stderr as they came. Plain text is exact; where
   * the command painted, it is what stands on the screen and above it. One final newline is removed.
   */
  readonly output: string;
  readonly end: RunEnd;
  /** Set if `output` is not all of it. */
  readonly clip: ClipInfo | null;
  /** Output of earlier background jobs that came before this command started. */
  readonly background: string;
  /** The shell's working directory after the command; null when unknown. */
  readonly cwd: string | null;
  /** From the start of the command to this result; time in the queue is not counted. */
  readonly durationMs: number;
}

/** Receives output as it comes: text with its escape sequences, never a part of a character. */
export type OnOutput = (text: string) => void | Promise<void>;

/** What a run is made of. */
export interface RunParts {
  readonly id: string;
  readonly number: number;
  readonly command: string;
  readonly maxOutputChars: number;
  readonly keep: Keep;
  readonly onOutput: OnOutput | null;
  readonly spill: Spill;
  readonly now: () => number;
  /** A blank page of the shell's screen. */
  readonly screen: () => Screen;
}

/** One command from its typing to its last result. */
export class Run {
  readonly id: string;
  readonly number: number;
  readonly command: string;
  /** Settles when the command has ended. Never rejects with an end; rejects if it could not be run. */
  readonly ended: Promise<RunEnd>;
  /** Late output that came before the command started; the next result brings it. */
  background = "";
  readonly #settle: (end: RunEnd) => void;
  readonly #fail: (error: unknown) => void;
  readonly #span: Span;
  readonly #spill: Spill;
  readonly #keep: Keep;
  readonly #onOutput: OnOutput | null;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #now: () => number;
  readonly #startedAt: number;
  #outputBytes = 0;
  #timedOut = false;
  #endedAt: number | null = null;
  /** Someone was told where the complete output is. */
  #spillTold = false;

  constructor(parts: RunParts) {
    this.id = parts.id;
    this.number = parts.number;
    this.command = parts.command;
    this.#span = new Span(parts.screen, parts.maxOutputChars, parts.keep);
    this.#spill = parts.spill;
    this.#keep = parts.keep;
    this.#onOutput = parts.onOutput;
    this.#now = parts.now;
    this.#startedAt = parts.now();
    let settle: (end: RunEnd) => void = unset;
    let fail: (error: unknown) => void = unset;
    this.ended = new Promise((resolve, reject) => {
      settle = resolve;
      fail = reject;
    });
    this.#settle = settle;
    this.#fail = fail;
    // Whoever waits sees the rejection; a run that nobody waits for must not end the host.
    this.ended.catch(() => undefined);
  }

  /** How much output has come. */
  get outputBytes(): number {
    return this.#outputBytes;
  }

  get over(): boolean {
    return this.#endedAt !== null;
  }

  /** Takes output. Where it returns a promise, that is to be awaited before more comes. */
  push(bytes: Uint8Array): void | Promise<void> {
    this.#outputBytes += bytes.length;
    this.#span.push(bytes);
    const spilled = this.#spill.push(bytes);
    const heard =
      this.#onOutput && this.#tell(this.#onOutput, this.#decoder.decode(bytes, { stream: true }));
    if (spilled || heard) return Promise.all([spilled, heard]).then(() => undefined);
  }

  end(end: RunEnd): void {
    if (this.over) return;
    this.#endedAt = this.#now();
    this.#span.end(foreignEnding(end, this.command));
    this.#settle(
      this.#timedOut ? { kind: "timedOut", shellKept: end.kind !== "shellExited" } : end,
    );
  }

  /** The command is being stopped because its time is over: whatever ends it now, it timed out. */
  timeOut(): void {
    this.#timedOut = true;
  }

  /** The command could not be run. */
  fail(error: unknown): void {
    if (this.over) return;
    this.#endedAt = this.#now();
    this.#fail(error);
  }

  /** What came since the last result. The one with the command's end is the last. */
  async result(end: RunEnd, cwd: string | null): Promise<RunResult> {
    const durationMs = (this.#endedAt ?? this.#now()) - this.#startedAt;
    const clipped = this.#span.take();
    const background = this.background;
    this.background = "";
    const clip = await this.#clipInfo(clipped);
    if (this.over) await this.#spill.finish(this.#spillTold);
    return { output: clipped.text, end, clip, background, cwd, durationMs };
  }

  /** No result will be asked for any more. */
  async discard(): Promise<void> {
    await this.#spill.finish(this.#spillTold);
  }

  view(): ScreenView {
    return this.#span.view();
  }

  async #clipInfo({ shownChars, totalChars }: Clipped): Promise<ClipInfo | null> {
    if (shownChars === totalChars) return null;
    const spillPath = await this.#spill.path();
    this.#spillTold ||= spillPath !== null;
    return {
      shownChars,
      totalChars,
      spillPath,
      lostPrefix: this.#keep === "tail" && spillPath === null,
    };
  }

  #tell(onOutput: OnOutput, text: string): void | Promise<void> {
    if (text === "") return;
    try {
      // A listener that fails loses its view; the command and its result are not to suffer.
      return onOutput(text)?.catch(() => undefined);
    } catch {
      // As above.
    }
  }
}

function unset(): void {
  throw new Error("the executor of a promise runs at once");
}

/**
 * What the shell prints of itself at the end of an output: the line that ends our evaluation (under `set -v`),
 * or the `exit` of an interactive bash that is told to exit.
 */
function foreignEnding(end: RunEnd, command: string): ForeignEnding | null {
  if (end.kind === "finished") return { text: END_LINE, glued: true };
  if (end.kind === "shellExited" && end.exitCode !== null) {
    return { text: "exit", glued: /\bexit\b/.test(command) };
  }
  return null;
}
