/** The public shell: commands in order, what ends them, and a fresh bash when one is gone. */

import { checkText } from "./bash.ts";
import { type Environment, shellEnvironment } from "./environment.ts";
import { aborted, EvershellError } from "./errors.ts";
import { keyBytes } from "./keys.ts";
import { LiveBash } from "./live.ts";
import {
  type ResolvedRunOptions,
  type ResolvedShellOptions,
  type ResolvedWaitOptions,
  type RunOptions,
  resolveRunOptions,
  resolveShellOptions,
  resolveWaitOptions,
  type ShellOptions,
  type StopPolicy,
  type WaitOptions,
} from "./options.ts";
import type { PtyExit, SignalName } from "./pty.ts";
import { Run, type RunEnd, type RunResult } from "./run.ts";
import type { Runtime } from "./runtime.ts";
import type { ScreenView } from "./screen.ts";
import { SpillShelf } from "./spill.ts";
import { Turns } from "./turns.ts";

/**
 * One persistent bash. Its working directory, variables, functions, options and jobs live on from command
 * to command; commands run one after another, in the order of the calls.
 *
 * @example
 * ```ts
 * await using shell = await openShell();
 * await shell.run("cd /tmp && export NAME=value");
 * const { output, end } = await shell.run("echo $PWD $NAME"); // "/tmp value"
 * ```
 */
export interface Shell extends AsyncDisposable {
  /** The process id of the bash that lives now; null if there is none. */
  readonly pid: number | null;

  /**
   * Runs a command: any text that bash can evaluate, of any number of lines.
   *
   * Whatever the command does is a value of the result. The promise rejects only if the command could not
   * be run, or its result was given up:
   * @throws {EvershellError} `BAD_ARGUMENT` an empty command, or one that no bash can hold; `BAD_OPTION`;
   * `BUSY` a command left in flight (after `waitMs`) is to be waited for first; `ABORTED` by `signal`;
   * `CLOSED`; `SHELL_LOST` bash took no commands any more; `START_FAILED`, `BAD_CWD`, `BASH_NOT_FOUND`,
   * `PTY_UNAVAILABLE` when a fresh bash was needed
   */
  run(command: string, options?: RunOptions): Promise<RunResult>;

  /**
   * Goes on waiting for the command that a result left running. The result brings what is new since then.
   * @throws {EvershellError} `NOT_RUNNING` if no command was left; `ABORTED`; `BAD_OPTION`
   */
  wait(options?: WaitOptions): Promise<RunResult>;

  /**
   * Types into the command in flight: text as it is, or keys by name (`Enter`, `C-c`, `Up`). Resolves when
   * the terminal has taken the input.
   * @throws {EvershellError} `NOT_RUNNING` if no command is in flight; `BAD_ARGUMENT` for an unknown key
   */
  write(input: string | { readonly keys: readonly string[] }): Promise<void>;

  /** Interrupts the command in flight as Ctrl-C does. Without one it does nothing. */
  interrupt(): Promise<void>;

  /**
   * Signals the foreground process group. Resolves to false if there is none to signal.
   * @throws {EvershellError} `NOT_RUNNING` if no command is in flight
   */
  signal(name: SignalName): Promise<boolean>;

  /**
   * Sets the size of the terminal, 1 to 1000 cells each.
   * @throws {EvershellError} `BAD_OPTION`
   */
  resize(cols: number, rows: number): void;

  /** The visible screen as the command in flight, or the last one, has left it. */
  screen(): ScreenView;

  /** Calls the listener each time that a bash of this shell ends. Returns a function that ends this. */
  onExit(listener: (exit: PtyExit) => void): () => void;

  /** Ends the bash and everything in its session, and removes spill files. May be called more than once. */
  close(): Promise<void>;
}

/**
 * Opens a shell on a runtime.
 *
 * @throws {EvershellError} `BAD_OPTION`, `BAD_CWD`, `BASH_NOT_FOUND`, `SPILL_UNAVAILABLE`,
 * `PTY_UNAVAILABLE`, `START_FAILED`
 */
export async function openShellOn(runtime: Runtime, options: ShellOptions = {}): Promise<Shell> {
  const shell = new PersistentShell(runtime, resolveShellOptions(options));
  await shell.open();
  return shell;
}

class PersistentShell implements Shell {
  readonly #runtime: Runtime;
  readonly #options: ResolvedShellOptions;
  readonly #env: Environment;
  readonly #cwd: string;
  readonly #bash: string;
  readonly #shelf: SpillShelf;
  readonly #turns = new Turns();
  readonly #exitListeners = new Set<(exit: PtyExit) => void>();
  #size: { cols: number; rows: number };
  #live: LiveBash | null = null;
  /** The command whose result is being waited for. */
  #run: Run | null = null;
  /** The command that a result left running, and its timeout. */
  #left: Run | null = null;
  #runs = 0;
  /** Settles when the last bash that was closed is gone. */
  #resetting: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(runtime: Runtime, options: ResolvedShellOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.#size = { cols: options.cols, rows: options.rows };
    this.#env = shellEnvironment(runtime.environment(), runtime.locale, options.env);
    this.#cwd = runtime.resolveCwd(options.cwd ?? runtime.workingDirectory());
    this.#bash = runtime.findBash(options.bash, this.#env);
    this.#shelf = new SpillShelf(runtime.openSpillStore(options.spillDir ?? null));
  }

  get pid(): number | null {
    return this.#live?.pid ?? null;
  }

  async run(command: string, options: RunOptions = {}): Promise<RunResult> {
    checkCommand(command);
    const resolved = resolveRunOptions(options, this.#options);
    this.#refuseIfLeft();
    return this.#turns.take(() => this.#runInTurn(command, resolved), resolved.signal);
  }

  async wait(options: WaitOptions = {}): Promise<RunResult> {
    const resolved = resolveWaitOptions(options);
    return this.#turns.take(() => {
      if (this.#left === null) throw notRunning("wait");
      return this.#follow(this.#left, resolved, this.#options.onAbort);
    }, resolved.signal);
  }

  async write(input: string | { readonly keys: readonly string[] }): Promise<void> {
    const live = this.#inFlight("write");
    const text = typeof input === "string" ? input : this.#keys(input.keys, live);
    await live.write(new TextEncoder().encode(text));
  }

  async interrupt(): Promise<void> {
    if (this.#currentRun() !== null) await this.#live?.interrupt();
  }

  async signal(name: SignalName): Promise<boolean> {
    return this.#inFlight("signal").signal(name);
  }

  resize(cols: number, rows: number): void {
    const size = resolveShellOptions({ cols, rows });
    this.#size = { cols: size.cols, rows: size.rows };
    this.#live?.resize(size.cols, size.rows);
  }

  screen(): ScreenView {
    if (this.#live === null)
      throw new EvershellError("CLOSED", "screen: there is no bash; run a command to open one");
    return this.#live.view();
  }

  onExit(listener: (exit: PtyExit) => void): () => void {
    this.#exitListeners.add(listener);
    return () => this.#exitListeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#reset();
    await this.#shelf.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Opens a bash if there is none. */
  async open(): Promise<LiveBash> {
    if (this.#closed) throw closed("the shell was closed");
    if (this.#live !== null) return this.#live;
    const live = await LiveBash.open({
      runtime: this.#runtime,
      options: { ...this.#options, ...this.#size },
      bash: this.#bash,
      cwd: this.#cwd,
      env: this.#env,
    });
    this.#live = live;
    live.exited.then((exit) => this.#exited(live, exit));
    if (this.#closed) {
      await this.#reset();
      throw closed("the shell was closed");
    }
    return live;
  }

  async #runInTurn(command: string, options: ResolvedRunOptions): Promise<RunResult> {
    this.#refuseIfLeft();
    const live = await this.open();
    if (options.signal?.aborted) throw aborted(options.signal);
    const run = new Run({
      id: randomId(),
      number: ++this.#runs,
      command,
      maxOutputChars: options.maxOutputChars,
      keep: options.keep,
      onOutput: options.onOutput,
      spill: this.#shelf.start(),
      screen: () => live.blankScreen(),
      now: () => performance.now(),
    });
    live.start(run);
    if (options.timeoutMs !== null)
      this.#stopAfter(run, live, options.timeoutMs, options.onTimeout);
    return this.#follow(run, options, options.onAbort);
  }

  /** Waits for the run's end, or for the end of the waiting. */
  async #follow(
    run: Run,
    { waitMs, signal }: ResolvedWaitOptions,
    onAbort: StopPolicy,
  ): Promise<RunResult> {
    this.#run = run;
    try {
      const end = await endOrWaitOver(run, waitMs, signal);
      this.#left = end.kind === "running" ? run : null;
      if (end.kind === "timedOut" && !end.shellKept) await this.#resetting;
      const result = await run.result(end, this.#live?.cwd ?? null);
      if (signal?.aborted) throw aborted(signal);
      return result;
    } catch (error) {
      this.#left = null;
      await this.#stop(run, onAbort);
      await run.discard();
      throw error;
    } finally {
      this.#run = null;
    }
  }

  /** Stops a command; true if the shell was kept. */
  async #stop(run: Run, policy: StopPolicy): Promise<boolean> {
    const live = this.#live;
    if (live === null) return false;
    if (run.over && policy === "interrupt") return true;
    if (policy === "interrupt" && (await live.stop(this.#options.graceMs))) return true;
    await this.#reset();
    return false;
  }

  #stopAfter(run: Run, live: LiveBash, ms: number, policy: StopPolicy): void {
    const timer = setTimeout(async () => {
      if (run.over || live !== this.#live) return;
      if (policy === "reset") run.end({ kind: "timedOut", shellKept: false });
      else run.timeOut();
      await this.#stop(run, policy);
    }, ms);
    run.ended.finally(() => clearTimeout(timer)).catch(() => undefined);
  }

  /** Closes the bash, if there is one; the next command opens a fresh one. */
  async #reset(): Promise<void> {
    const live = this.#live;
    this.#live = null;
    if (live !== null) this.#resetting = live.close();
    await this.#resetting;
  }

  #exited(live: LiveBash, exit: PtyExit): void {
    if (this.#live === live) {
      this.#live = null;
      if (this.#options.onShellEnd === "close") this.#closed = true;
    }
    for (const listener of this.#exitListeners) listener(exit);
  }

  #refuseIfLeft(): void {
    if (this.#left === null) return;
    throw new EvershellError(
      "BUSY",
      this.#left.over
        ? "an earlier command has ended and its result was not fetched: call wait() first"
        : "an earlier command is still running: call wait(), write() input to it, interrupt() it, or close the shell",
    );
  }

  #currentRun(): Run | null {
    const run = this.#run ?? this.#left;
    return run === null || run.over ? null : run;
  }

  #inFlight(call: string): LiveBash {
    if (this.#currentRun() === null || this.#live === null) throw notRunning(call);
    return this.#live;
  }

  #keys(names: readonly string[], live: LiveBash): string {
    const application = live.view().applicationCursorKeys;
    return names.map((name) => keyBytes(name, application)).join("");
  }
}

function checkCommand(command: unknown): asserts command is string {
  if (typeof command !== "string") {
    throw new EvershellError(
      "BAD_ARGUMENT",
      `command must be a string; received ${typeof command}`,
    );
  }
  if (command.trim() === "") {
    throw new EvershellError("BAD_ARGUMENT", "command is empty: pass the text that bash is to run");
  }
  checkText(command, "command");
}

/** @throws {EvershellError} `ABORTED`; what `run.ended` rejects with */
function endOrWaitOver(
  run: Run,
  waitMs: number | null,
  signal: AbortSignal | null,
): Promise<RunEnd> {
  if (waitMs === null && signal === null) return run.ended;
  return new Promise<RunEnd>((resolve, reject) => {
    const abort = (): void => reject(aborted(signal as AbortSignal));
    const timer =
      waitMs === null ? undefined : setTimeout(() => resolve({ kind: "running" }), waitMs);
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
    run.ended.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    });
  });
}

function notRunning(call: string): EvershellError {
  return new EvershellError("NOT_RUNNING", `${call}: no command is in flight`);
}

function closed(why: string): EvershellError {
  return new EvershellError("CLOSED", `${why}: open another with openShell()`);
}

/** Tells one command's marks from another's. No secret: the command itself could read it. */
function randomId(): string {
  return Math.random().toString(36).slice(2, 10);
}
