/** One bash on one PTY: it is started and made ours, takes commands, and tells what becomes of them. */

import { commandLines, setUp, startCommand } from "./bash.ts";
import { concat, NO_BYTES } from "./bytes.ts";
import type { Environment } from "./environment.ts";
import { EvershellError } from "./errors.ts";
import { Late } from "./late.ts";
import { LateEcho } from "./late-echo.ts";
import { type Mark, MarkScanner } from "./marks.ts";
import type { ResolvedShellOptions } from "./options.ts";
import { type Fact, type Phase, step } from "./phase.ts";
import type { Pty, PtyExit, SignalName } from "./pty.ts";
import type { Run } from "./run.ts";
import type { Runtime } from "./runtime.ts";
import { Screen, type ScreenView } from "./screen.ts";

/** After a prompt that came without the command being taken: the time for its begin mark to arrive still. */
const REFUSED_MS = 50;

/** The first look at a command that is silent; each next one comes after twice the time, up to the last. */
const FIRST_LOOK_MS = 250;
const LAST_LOOK_MS = 8_000;

/** Bytes handed to the PTY at a time. */
const WRITE_BYTES = 64 * 1024;

/** ^U: in canonical mode it discards a line that was typed but not ended. */
const KILL_LINE = Uint8Array.of(0x15);

/** A bash that lives. */
export class LiveBash {
  readonly #options: ResolvedShellOptions;
  readonly #nonce: string = randomHex(16);
  readonly #scanner: MarkScanner;
  readonly #late: Late = new Late(() => performance.now());
  readonly #ready: Deferred<void> = defer();
  #pty!: Pty;
  #phase: Phase = { at: "settingUp" };
  #pid: number | null = null;
  #cwd: string | null = null;
  #exit: PtyExit | null = null;
  #screen: Screen | null = null;
  #cols: number;
  #rows: number;
  /** The command that has the shell, from its typing to its end. */
  #run: Run | null = null;
  /** The last command: its page is what the screen shows. */
  #page: Run | null = null;
  #lines: Uint8Array = NO_BYTES;
  #lateEcho: LateEcho | null = null;
  /** Input that the last command may have left unread. */
  #inputLeft = false;
  #repaired = false;
  #startTimer: Timer | undefined;
  #lookTimer: Timer | undefined;
  /** What the piece of output being taken has to wait for. */
  #held: Promise<void> | undefined;
  /** Text before the shell was ready; for the message if it never is. */
  #prologue = "";

  private constructor(options: ResolvedShellOptions) {
    this.#options = options;
    this.#cols = options.cols;
    this.#rows = options.rows;
    this.#scanner = new MarkScanner(this.#nonce);
  }

  /**
   * Starts a bash and waits until it is at its prompt.
   *
   * @throws {EvershellError} `START_FAILED` if it does not come there; what `openPty` throws
   */
  static async open(
    runtime: Runtime,
    options: ResolvedShellOptions,
    bash: string,
    cwd: string,
    env: Environment,
  ): Promise<LiveBash> {
    const live = new LiveBash(options);
    live.#pty = await runtime.openPty({
      argv: startCommand(bash),
      cwd,
      env,
      cols: options.cols,
      rows: options.rows,
      onData: (bytes) => live.#take(bytes),
    });
    live.#pty.exited.then((exit) => live.#exited(exit));
    await live.#becomeReady();
    return live;
  }

  /** How bash ended; null while it lives. */
  get exit(): PtyExit | null {
    return this.#exit;
  }

  /** Settles when bash has ended. */
  get exited(): Promise<PtyExit> {
    return this.#pty.exited;
  }

  get pid(): number | null {
    return this.#pid;
  }

  /** The working directory after the last command; null when unknown. */
  get cwd(): string | null {
    return this.#cwd;
  }

  /** Types a command. Its run is told of its output and its end. */
  start(run: Run): void {
    this.#lines = commandLines(run.command, run.number, run.id);
    this.#run = run;
    this.#repaired = false;
    this.#type(run);
  }

  /** Types text into the command in flight. Resolves when the terminal has taken it. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#inputLeft = true;
    for (let at = 0; at < bytes.length; at += WRITE_BYTES) {
      await this.#pty.write(bytes.subarray(at, at + WRITE_BYTES));
    }
  }

  /** Signals the foreground group; SIGINT goes as a key where the group is not known. */
  async signal(name: SignalName): Promise<boolean> {
    if (await this.#pty.signal(name)) return true;
    if (name !== "SIGINT") return false;
    await this.#pty.write(Uint8Array.of(0x03));
    return true;
  }

  /**
   * Stops the command in flight and keeps the shell if it can be proved that it is back at its prompt.
   *
   * @returns whether the shell was kept
   */
  async interrupt(graceMs: number): Promise<boolean> {
    await this.signal("SIGINT").catch(() => false);
    if (await this.#backAtPrompt(graceMs)) return true;
    const state = await this.#pty.inspect();
    if (state === null || state.foreground) return false;
    await this.#pty.signal("SIGKILL");
    return this.#backAtPrompt(graceMs);
  }

  resize(cols: number, rows: number): void {
    this.#cols = cols;
    this.#rows = rows;
    this.#screen?.resize(cols, rows);
    this.#pty.resize(cols, rows);
  }

  view(): ScreenView {
    return this.#page?.view() ?? this.blankScreen().view();
  }

  /** The screen with a blank page. */
  blankScreen(): Screen {
    if (this.#screen === null)
      this.#screen = new Screen(this.#cols, this.#rows, (text) => this.#answer(text));
    else this.#screen.turnPage();
    return this.#screen;
  }

  /** Output of background jobs since the last call. */
  takeLate(): string {
    return this.#late.take();
  }

  /** Ends bash and everything in its session. Never rejects. */
  async close(): Promise<void> {
    await this.#pty.close();
    this.#screen?.close();
    this.#screen = null;
  }

  async #becomeReady(): Promise<void> {
    const timer = setTimeout(() => {
      const why = `bash did not come to its prompt within ${this.#options.startTimeoutMs} ms`;
      this.#ready.reject(startFailed(why, this.#prologue));
    }, this.#options.startTimeoutMs);
    try {
      this.#typeSetUp();
      await this.#ready.promise;
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      clearTimeout(timer);
      this.#prologue = "";
    }
  }

  #typeSetUp(): void {
    this.#phase = { at: "settingUp" };
    const text = encoder.encode(setUp(this.#nonce, this.#pid === null ? this.#options.rc : "none"));
    // If bash is gone, its exit says more than the failed write.
    this.#pty.write(text).catch(() => undefined);
  }

  /** Types the lines of the run's command, and sees to it that the shell takes them. */
  #type(run: Run): void {
    this.#phase = step(this.#phase, { kind: "type", id: run.id }, this.#pid)[0];
    this.#late.afterTyping(this.#lines);
    const bytes = this.#inputLeft ? concat([KILL_LINE, this.#lines]) : this.#lines;
    this.#inputLeft = false;
    this.#watchStart(run, this.#options.startTimeoutMs);
    this.#typePieces(run, bytes).catch(() => undefined);
  }

  async #typePieces(run: Run, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += WRITE_BYTES) {
      if (this.#run !== run || run.over) return;
      await this.#pty.write(bytes.subarray(at, at + WRITE_BYTES));
      if (this.#phase.at === "typed") this.#watchStart(run, this.#options.startTimeoutMs);
    }
  }

  #watchStart(run: Run, ms: number): void {
    clearTimeout(this.#startTimer);
    this.#startTimer = setTimeout(() => void this.#notTaken(run), ms);
  }

  /**
   * The shell has not taken the command: it may have lost our functions, be stopped, or have become another
   * program. It is made ours once more; the number of the command keeps it from running twice.
   */
  async #notTaken(run: Run): Promise<void> {
    if (this.#run !== run) return;
    if (this.#repaired) {
      this.#run = null;
      run.fail(
        new EvershellError(
          "SHELL_LOST",
          "the shell no longer takes commands (was it replaced by exec, or its terminal changed?); " +
            "the command was not run, and the next one gets a fresh shell",
        ),
      );
      await this.close();
      return;
    }
    this.#repaired = true;
    await this.#pty.repair();
    if (this.#run !== run) return;
    this.#typeSetUp();
    this.#watchStart(run, this.#options.startTimeoutMs);
  }

  #take(chunk: Uint8Array): Promise<void> | undefined {
    this.#held = undefined;
    this.#scanner.scan(
      chunk,
      (bytes) => this.#output(bytes),
      (mark) => this.#mark(mark),
    );
    return this.#held;
  }

  #output(bytes: Uint8Array): void {
    if (this.#phase.at !== "running" || this.#run === null) {
      if (this.#pid === null)
        this.#prologue = (this.#prologue + decoder.decode(bytes)).slice(-PROLOGUE_CHARS);
      else this.#late.push(bytes);
      return;
    }
    const output = this.#lateEcho?.remove(bytes) ?? bytes;
    const held = this.#run.push(output);
    if (held)
      this.#held = this.#held ? Promise.all([this.#held, held]).then(() => undefined) : held;
  }

  #mark(mark: Mark): void {
    if (mark.kind === "ready") this.#pid = mark.pid;
    const [phase, fact] = step(this.#phase, mark, this.#pid);
    this.#phase = phase;
    this.#act(fact, mark);
  }

  #act(fact: Fact, mark: Mark): void {
    const run = this.#run;
    switch (fact) {
      case "ready":
        this.#late.afterEnd("marked", false);
        this.#ready.resolve();
        if (run) this.#type(run);
        break;
      case "begun":
        clearTimeout(this.#startTimer);
        this.#lateEcho = LateEcho.after(this.#late.afterBegin(), run?.id ?? "");
        break;
      case "started":
        if (run === null) break;
        run.background = this.#late.take();
        this.#page = run;
        this.#look(FIRST_LOOK_MS);
        break;
      case "ended":
        if (mark.kind !== "end") break;
        this.#cwd = mark.cwd ?? this.#cwd;
        this.#late.afterEnd(mark.prompt, mark.verbose);
        this.#endRun({ kind: "finished", exitCode: mark.status });
        break;
      case "interrupted":
        if (mark.kind !== "prompt") break;
        this.#late.afterEnd("bare", false);
        this.#endRun({ kind: "interrupted", exitCode: mark.status });
        break;
      case "prompted":
        this.#late.afterPrompt();
        break;
      case "refused":
        if (run) this.#watchStart(run, REFUSED_MS);
        break;
    }
  }

  #endRun(end: Parameters<Run["end"]>[0]): void {
    clearTimeout(this.#startTimer);
    clearTimeout(this.#lookTimer);
    this.#lateEcho = null;
    const run = this.#run;
    this.#run = null;
    run?.end(end);
  }

  #exited(exit: PtyExit): void {
    this.#exit = exit;
    this.#ready.reject(
      startFailed(
        `bash ended (${exit.signal ?? `code ${exit.exitCode}`}) before its prompt`,
        this.#prologue,
      ),
    );
    this.#endRun({ kind: "shellExited", ...exit });
    // What the shell left behind in its session ends with it.
    void this.close();
  }

  /** Looks after a command from time to time: a shell that was stopped (`suspend`) is continued. */
  #look(afterMs: number): void {
    this.#lookTimer = setTimeout(async () => {
      const run = this.#run;
      const state = await this.#pty.inspect();
      if (run === null || this.#run !== run) return;
      if (state?.stopped) await this.#pty.repair();
      this.#look(Math.min(2 * afterMs, LAST_LOOK_MS));
    }, afterMs);
  }

  /**
   * Whether the command in flight ends within the time: by its end, by the prompt mark, or, where the user's
   * prompt hides that, by the proof that the shell itself reads the terminal, twice with no output between.
   */
  async #backAtPrompt(ms: number): Promise<boolean> {
    const run = this.#run;
    if (run === null) return this.#exit === null;
    const deadline = performance.now() + ms;
    let before = "";
    while (!run.over && performance.now() < deadline) {
      await Promise.race([run.ended, pause(PROOF_MS)]);
      const state = run.over ? null : await this.#pty.inspect();
      const now = state?.reading ? `reading after ${run.outputBytes}` : "";
      if (now !== "" && now === before && !run.over) {
        this.#phase = { at: "idle", promptDue: false };
        this.#endRun({ kind: "interrupted", exitCode: 130 });
      }
      before = now;
    }
    return run.over && this.#exit === null;
  }

  /** Passes the terminal's answer to the program that asked; never to the shell, which would run it. */
  #answer(text: string): void {
    if (this.#phase.at !== "running") return;
    // A program that is gone needs no answer.
    this.write(encoder.encode(text)).catch(() => undefined);
  }
}

/** The time between the two looks that prove a read. */
const PROOF_MS = 50;

const PROLOGUE_CHARS = 2_000;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

type Timer = ReturnType<typeof setTimeout>;

interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

function defer<T>(): Deferred<T> {
  const parts: Partial<Deferred<T>> = {};
  const promise = new Promise<T>((resolve, reject) => Object.assign(parts, { resolve, reject }));
  // It may settle when nobody waits any more.
  promise.catch(() => undefined);
  return { ...parts, promise } as Deferred<T>;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function startFailed(why: string, printed: string): EvershellError {
  const text = printed.trim();
  return new EvershellError("START_FAILED", text === "" ? why : `${why}; it printed: ${text}`);
}

function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
