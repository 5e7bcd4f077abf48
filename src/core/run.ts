/** One command in flight: its output, its end, and the results that are made of them. */

import type { Clipped, Keep } from "./clip.ts";
import { defer } from "./deferred.ts";
import { foreignEnding } from "./foreign-ending.ts";
import { LiveView, type OnOutput } from "./live-view.ts";
import type { Screen, ScreenView } from "./screen.ts";
import { Span } from "./span.ts";
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
  /** Late output that came before the command started; the next result brings it. */
  background = "";
  readonly #ended = defer<RunEnd>();
  readonly #span: Span;
  readonly #spill: Spill;
  readonly #keep: Keep;
  readonly #view: LiveView | null;
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
    this.#view = parts.onOutput && new LiveView(parts.onOutput);
    this.#now = parts.now;
    this.#startedAt = parts.now();
  }

  /** Settles when the command has ended; rejects if it could not be run. */
  get ended(): Promise<RunEnd> {
    return this.#ended.promise;
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
    const heard = this.#view?.push(bytes);
    if (spilled || heard) return Promise.all([spilled, heard]).then(() => undefined);
  }

  end(end: RunEnd): void {
    if (this.over) return;
    this.#endedAt = this.#now();
    const foreign = foreignEnding(end, this.command);
    this.#span.end(foreign);
    this.#view?.end(foreign);
    this.#ended.resolve(
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
    this.#ended.reject(error);
  }

  /** What came since the last result. The one with the command's end is the last. */
  async result(end: RunEnd, cwd: string | null): Promise<RunResult> {
    const durationMs = toMicroseconds((this.#endedAt ?? this.#now()) - this.#startedAt);
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
}

/** Milliseconds without the digits that no clock has. */
function toMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
