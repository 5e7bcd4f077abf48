/** A shell: commands in order, what ends them, and a fresh bash when one is gone. */

import { orAborted } from "./abort.ts";
import { checkCommand, checkSignal, type Input, inputText } from "./arguments.ts";
import { aborted, EvershellError } from "./errors.ts";
import { endOrPause, type Flight } from "./flight.ts";
import { EMPTY_SCROLLBACK, type Scrollback } from "./history.ts";
import { Launcher, type Size } from "./launcher.ts";
import type { LiveBash } from "./live-bash.ts";
import {
  type ResolvedRunOptions,
  type ResolvedShellOptions,
  type ResolvedWaitOptions,
  type RunOptions,
  resolveRunOptions,
  resolveSendOptions,
  resolveShellOptions,
  resolveSize,
  resolveWaitOptions,
  type SendOptions,
  type ShellOptions,
  type StopPolicy,
  type WaitOptions,
} from "./options.ts";
import type { PtyExit, SignalName } from "./pty.ts";
import type { RunResult } from "./result.ts";
import { Run } from "./run.ts";
import type { Runtime } from "./runtime.ts";
import type { ScreenView } from "./screen.ts";
import type { SendResult } from "./sending.ts";
import type { InFlight, Shell } from "./shell.ts";
import { SpillShelf } from "./spill.ts";
import { Turns } from "./turns.ts";

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
  readonly #options: ResolvedShellOptions;
  readonly #launcher: Launcher;
  readonly #shelf: SpillShelf;
  readonly #turns = new Turns();
  readonly #exitListeners = new Set<(exit: PtyExit) => void>();
  #size: Size;
  /** The bash that takes commands; it may still be opening. */
  #bash: Promise<LiveBash> | null = null;
  /** The same once it is open, also after it has ended: its last page is shown. */
  #live: LiveBash | null = null;
  /** Settles when every bash that ended or was closed is gone with all of its session. */
  #gone: Promise<void> = Promise.resolve();
  /** The command in flight, or that a result left running and whose end has not been fetched. */
  #flight: Flight | null = null;
  #closed: EvershellError | null = null;

  constructor(runtime: Runtime, options: ResolvedShellOptions) {
    this.#options = options;
    this.#size = { cols: options.cols, rows: options.rows };
    this.#launcher = new Launcher(runtime, options);
    this.#shelf = new SpillShelf(runtime.openSpillStore(options.spillDir ?? null));
  }

  get pid(): number | null {
    return this.#live?.usable ? this.#live.pid : null;
  }

  async run(command: string, options?: RunOptions): Promise<RunResult> {
    checkCommand(command);
    const resolved = resolveRunOptions(options, this.#options);
    if (this.#closed !== null) throw this.#closed;
    // While somebody waits for its result, a command has the turn, and this one queues behind it.
    if (!this.#turns.taken) this.#refuseIfLeft();
    return this.#turns.take(() => this.#runInTurn(command, resolved), resolved.signal);
  }

  async wait(options: WaitOptions = {}): Promise<RunResult> {
    const resolved = resolveWaitOptions(options);
    return this.#turns.take(async () => {
      if (this.#flight === null) throw notRunning("wait");
      if (resolved.onOutput !== null) this.#flight.run.watch(resolved.onOutput);
      return this.#follow(this.#flight, resolved);
    }, resolved.signal);
  }

  get inFlight(): InFlight | null {
    if (this.#flight === null) return null;
    const { run, waiting } = this.#flight;
    return { command: run.command, over: run.over, waiting };
  }

  async write(input: Input): Promise<void> {
    const flight = this.#running("write");
    flight.waiting = null;
    await flight.live.write(flight.run, inputBytes(input, flight.live));
  }

  async send(input: Input, options?: SendOptions): Promise<SendResult> {
    const resolved = resolveSendOptions(options);
    const flight = this.#running("send");
    const { run, live } = flight;
    const result = await live.send(run, inputBytes(input, live), resolved);
    flight.waiting = result.reader;
    return result;
  }

  async interrupt(): Promise<void> {
    const flight = this.#flight;
    if (flight !== null && !flight.run.over) await flight.live.interrupt(flight.run);
  }

  async signal(name: SignalName): Promise<boolean> {
    checkSignal(name);
    const { run, live } = this.#running("signal");
    return live.signal(run, name);
  }

  resize(cols: number, rows: number): void {
    this.#size = resolveSize({ cols, rows });
    if (this.#live?.usable) this.#live.resize(this.#size);
  }

  screen(): ScreenView {
    if (this.#closed !== null) throw this.#closed;
    return this.#live?.view() ?? blankView(this.#size);
  }

  scrollback(): Scrollback {
    if (this.#closed !== null) throw this.#closed;
    return this.#live?.scrollback() ?? EMPTY_SCROLLBACK;
  }

  onExit(listener: (exit: PtyExit) => void): () => void {
    this.#exitListeners.add(listener);
    return () => this.#exitListeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closed ??= closed("the shell was closed");
    this.#flight?.run.release();
    // A bash that does not come up closes itself.
    const live = await this.#bash?.catch(() => null);
    if (live) await this.#closeBash(live);
    await this.#gone;
    // Of a command that was left in flight nobody asks for the rest.
    await this.#flight?.run.discard();
    await this.#shelf.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The bash that takes commands; a fresh one if there is none. */
  async open(): Promise<LiveBash> {
    if (this.#closed !== null) throw this.#closed;
    if (this.#bash !== null && (this.#live === null || this.#live.usable)) return this.#bash;
    this.#live = null;
    this.#bash = this.#openBash();
    try {
      return await this.#bash;
    } catch (error) {
      this.#bash = null;
      throw error;
    }
  }

  async #openBash(): Promise<LiveBash> {
    const size = this.#size;
    const live = await this.#launcher.launch(size);
    this.#live = live;
    live.exited.then((exit) => this.#exited(live, exit));
    if (this.#size !== size) live.resize(this.#size);
    return live;
  }

  async #runInTurn(command: string, options: ResolvedRunOptions): Promise<RunResult> {
    this.#refuseIfLeft();
    const live = await orAborted(this.open(), options.signal);
    const run = new Run({
      id: randomId(),
      command,
      options,
      spill: this.#shelf.start(),
      screen: () => live.blankScreen(),
      now: () => performance.now(),
    });
    const flight: Flight = { run, live, waiting: null };
    this.#flight = flight;
    live.start(run);
    this.#stopInTime(flight);
    return this.#follow(flight, options);
  }

  /** Waits for the run's end, or for the end of the waiting. */
  async #follow(flight: Flight, waiting: ResolvedWaitOptions): Promise<RunResult> {
    const { run, live } = flight;
    try {
      const end = await endOrPause(flight, waiting);
      flight.waiting =
        end.kind === "waiting" ? { program: end.program, password: end.password } : null;
      if (end.kind !== "running" && end.kind !== "waiting") this.#flight = null;
      if (end.kind === "timedOut" && !end.shellKept) await this.#gone;
      const result = await run.result(end, live.usable ? live.cwd : null);
      if (waiting.signal?.aborted) throw aborted(waiting.signal);
      return result;
    } catch (error) {
      this.#flight = null;
      await this.#stop(flight, run.onAbort);
      await run.discard();
      throw error;
    }
  }

  /** Stops a command as the policy says. */
  async #stop({ run, live }: Flight, policy: StopPolicy): Promise<void> {
    run.release();
    const kept = policy === "interrupt" && live.usable && (run.over || (await live.stop(run)));
    if (!kept) await this.#closeBash(live);
  }

  #stopInTime(flight: Flight): void {
    const { run } = flight;
    if (run.timeoutMs === null) return;
    const timer = setTimeout(() => void this.#timeOut(flight), run.timeoutMs);
    void run.settled.then(() => clearTimeout(timer));
  }

  async #timeOut(flight: Flight): Promise<void> {
    const { run } = flight;
    if (run.onTimeout === "reset") run.end({ kind: "timedOut", shellKept: false });
    run.timeOut();
    await this.#stop(flight, run.onTimeout);
  }

  /** Closes a bash; the next command opens a fresh one. */
  #closeBash(live: LiveBash): Promise<void> {
    const gone = live.close();
    this.#gone = this.#gone.then(() => gone);
    return gone;
  }

  #exited(live: LiveBash, exit: PtyExit): void {
    void this.#closeBash(live);
    if (this.#options.onShellEnd === "close") this.#closed ??= closed("bash has ended");
    for (const listener of this.#exitListeners) {
      // A listener that throws fails by itself, as an uncaught exception.
      queueMicrotask(() => listener(exit));
    }
  }

  #refuseIfLeft(): void {
    if (this.#flight === null) return;
    throw new EvershellError(
      "BUSY",
      this.#flight.run.over
        ? "an earlier command has ended and its result was not fetched: call wait() first"
        : "an earlier command is still running: call wait(), write() input to it, interrupt() it, or close the shell",
    );
  }

  #running(call: string): Flight {
    if (this.#flight === null || this.#flight.run.over) throw notRunning(call);
    return this.#flight;
  }
}

function inputBytes(input: Input, live: LiveBash): Uint8Array {
  return new TextEncoder().encode(inputText(input, () => live.view().applicationCursorKeys));
}

function blankView({ cols, rows }: { readonly cols: number; readonly rows: number }): ScreenView {
  const lines = Array.from({ length: rows }, () => "");
  const cursor = { x: 0, y: 0 };
  return { cols, rows, lines, cursor, alternate: false, applicationCursorKeys: false };
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
