/** One command in flight: its output, its end, and the results that are made of them. */

import type { Clipped, Keep } from "./clip.ts";
import { defer } from "./deferred.ts";
import { foreignEnding } from "./foreign-ending.ts";
import type { Scrollback } from "./history.ts";
import type { ResolvedRunOptions, StopPolicy } from "./options.ts";
import type { ClipInfo, RunEnd, RunResult } from "./result.ts";
import type { Screen, ScreenView } from "./screen.ts";
import { Span } from "./span.ts";
import type { Spill } from "./spill.ts";
import type { OnOutput } from "./teller.ts";
import { Watcher } from "./watcher.ts";

/** What a run is made of. */
export interface RunParts {
  readonly id: string;
  readonly command: string;
  readonly options: ResolvedRunOptions;
  readonly spill: Spill;
  readonly now: () => number;
  /** A blank page of the shell's screen. */
  readonly screen: () => Screen;
}

/** One command from its typing to its last result. */
export class Run {
  readonly id: string;
  readonly command: string;
  /** Late output that came before the command started; the next result brings it. */
  background = "";
  readonly #begun = defer<boolean>();
  readonly #ended = defer<RunEnd>();
  /** Made when somebody asks: most commands get no input. */
  #over: AbortController | null = null;
  readonly timeoutMs: number | null;
  readonly onTimeout: StopPolicy;
  readonly onAbort: StopPolicy;
  readonly #span: Span;
  readonly #spill: Spill;
  readonly #keep: Keep;
  #watcher: Watcher | null;
  readonly #now: () => number;
  readonly #startedAt: number;
  #timedOut = false;
  #shellEnded = false;
  /** Resolves when a slow watcher must not hold the command up any more. */
  readonly #released = defer<void>();
  #endedAt: number | null = null;
  /** Someone was told where the complete output is. */
  #spillTold = false;

  constructor(parts: RunParts) {
    this.id = parts.id;
    this.command = parts.command;
    const { timeoutMs, onTimeout, onAbort, maxOutputChars, keep, onOutput } = parts.options;
    this.timeoutMs = timeoutMs;
    this.onTimeout = onTimeout;
    this.onAbort = onAbort;
    this.#span = new Span(parts.screen, maxOutputChars, keep);
    this.#spill = parts.spill;
    this.#keep = keep;
    this.#watcher = onOutput && new Watcher(onOutput);
    this.#now = parts.now;
    this.#startedAt = parts.now();
  }

  /** Whether the shell has taken the command; false if it ended before. */
  get begun(): Promise<boolean> {
    return this.#begun.promise;
  }

  /** Settles when the command has ended; rejects if it could not be run. */
  get ended(): Promise<RunEnd> {
    return this.#ended.promise;
  }

  /** Resolves when the command has ended, or could not be run. */
  get settled(): Promise<void> {
    return this.#ended.promise.then(noop, noop);
  }

  /** Aborted when the command is over. */
  get overSignal(): AbortSignal {
    this.#over ??= new AbortController();
    if (this.over) this.#over.abort();
    return this.#over.signal;
  }

  get over(): boolean {
    return this.#endedAt !== null;
  }

  /** The command ended because the shell did. */
  get shellEnded(): boolean {
    return this.#shellEnded;
  }

  /** The shell has taken the command. */
  begin(): void {
    this.#begun.resolve(true);
  }

  /** Takes output. Where it returns a promise, that is to be awaited before more comes. */
  push(bytes: Uint8Array): void | Promise<void> {
    this.#span.push(bytes);
    const spilled = this.#spill.push(bytes);
    const heard = this.#watcher?.push(bytes);
    if (spilled || heard) {
      return Promise.race([Promise.all([spilled, heard]).then(noop), this.#released.promise]);
    }
  }

  /** From now on somebody else hears the output. */
  watch(onOutput: OnOutput): void {
    this.#watcher?.end(null);
    this.#watcher = new Watcher(onOutput);
  }

  /** The command is being stopped: whoever watches it holds it up no longer. */
  release(): void {
    this.#released.resolve();
  }

  /** @param promptLines how many lines a prompt of the user's takes that may stand at the end of the output */
  end(end: RunEnd, promptLines = 1): void {
    if (this.over) return;
    this.#endedAt = this.#now();
    this.#shellEnded = end.kind === "shellExited";
    const foreign = foreignEnding(end, this.command, promptLines);
    this.#span.end(foreign);
    this.#watcher?.end(foreign);
    this.#settle();
    this.#ended.resolve(
      this.#timedOut ? { kind: "timedOut", shellKept: end.kind !== "shellExited" } : end,
    );
  }

  /** The command is being stopped because its time is over: whatever ends it now, it timed out. */
  timeOut(): void {
    this.#timedOut = true;
    this.release();
  }

  /** The command could not be run. */
  fail(error: unknown): void {
    if (this.over) return;
    this.#endedAt = this.#now();
    this.#settle();
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

  fromHere(): () => string {
    return this.#span.fromHere();
  }

  scrollback(): Scrollback {
    return this.#span.scrollback();
  }

  #settle(): void {
    this.#begun.resolve(false);
    this.#over?.abort();
    this.release();
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

function noop(): void {
  // For promises of which only the settling counts.
}

/** Milliseconds without the digits that no clock has. */
function toMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
