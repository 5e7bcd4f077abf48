/** One bash on one PTY: it is started and made ours, takes commands, and tells what becomes of them. */

import { commandLines, promptMark, setUp } from "./bash.ts";
import { defer, within } from "./deferred.ts";
import { LateEcho } from "./echo.ts";
import { type Environment, taggedEnvironment } from "./environment.ts";
import { type ErrorCode, EvershellError } from "./errors.ts";
import { type Far, FarPty, typeBecome } from "./far-bash.ts";
import { EMPTY_SCROLLBACK, type Scrollback } from "./history.ts";
import { Late } from "./late.ts";
import { Lookout } from "./lookout.ts";
import { type Mark, MarkScanner } from "./marks.ts";
import type { ResolvedSendOptions, ResolvedShellOptions } from "./options.ts";
import { type Fact, type Phase, type PhaseEvent, step } from "./phase.ts";
import { Prologue } from "./prologue.ts";
import type { OpenPty, Pty, PtyExit, SignalName } from "./pty.ts";
import { randomHex } from "./random.ts";
import type { InputWait, RunEnd } from "./result.ts";
import type { Run } from "./run.ts";
import { Screen, type ScreenView } from "./screen.ts";
import { type SendResult, type SendTarget, send } from "./sending.ts";
import { INTERRUPTED_STATUS, interrupt, regainTerminal, type StopHost, stop } from "./stop.ts";
import { Typist } from "./typist.ts";

/** Only `exec` in the shell itself does that. What it hides in, such as a function, the missing mark tells. */
const MAY_SEND_STDERR_AWAY = /\bexec\b/;

/** After a command that has set the terminal, our lines might no longer arrive whole. */
const MAY_BREAK_LINES = /\bstty\b/;

/** From such a command on, a DEBUG trap may print something for our words too. */
const MAY_TRACE_WORDS = /\bDEBUG\b|\bsource\b|(?:^|[\s;&|])\.\s/;

/** The status with which shells and env(1) end if there is no such program. */
const PROGRAM_NOT_FOUND = 127;

/** What it takes to start a bash. */
export interface LiveBashRequest {
  readonly openPty: OpenPty;
  readonly options: ResolvedShellOptions;
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Environment;
  /** Where bash is, if what is started is not bash itself; else null. */
  readonly far: Far | null;
}

/** A bash that lives. */
export class LiveBash {
  readonly #options: ResolvedShellOptions;
  readonly #far: Far | null;
  readonly #nonce: string = randomHex(16);
  readonly #scanner: MarkScanner = new MarkScanner(this.#nonce);
  readonly #late: Late = new Late();
  #pty!: Pty;
  #typist!: Typist;
  #lookout!: Lookout;
  #phase: Phase = { at: "settingUp", id: null };
  /** Settles when the shell answers our set-up. */
  #ready = defer<void>();
  /** Settles when a far bash shows its first prompt. */
  readonly #reached = defer<void>();
  #pid: number | null = null;
  /** How many lines the prompt took at the last set-up. */
  #promptLines = 1;
  #cwd: string | null = null;
  #closing = false;
  readonly #prologue = new Prologue();
  #size: { readonly cols: number; readonly rows: number };
  #screen: Screen | null = null;
  /** The command that has the shell, from its typing to its end. */
  #run: Run | null = null;
  /** How many commands have been started. */
  #runs = 0;
  /** The last command that started: its page is what the screen shows. */
  #page: Run | null = null;
  #lateEcho: LateEcho | null = null;
  /** They hear the output of the command in flight besides. */
  readonly #taps = new Set<(bytes: Uint8Array) => void>();
  /** Whether a prompt mark was due after the last command, and whether one never came. */
  #promptDue = false;
  #promptMissed = false;
  #wordsTraced: boolean;
  /** The last command was interrupted. */
  #interrupted = false;
  /** Bytes of output. */
  #received = 0;
  /** What the piece of output that is being taken has to wait for. */
  #held: Promise<void> | undefined;

  private constructor(options: ResolvedShellOptions, far: Far | null) {
    this.#options = options;
    this.#far = far;
    this.#size = options;
    this.#wordsTraced = options.rc === "user";
  }

  /**
   * Starts a bash and waits until it is at its prompt.
   *
   * @throws {EvershellError} `START_FAILED` if it does not come there; `BASH_NOT_FOUND` if the far side has none;
   * what `openPty` throws
   */
  static async open({ openPty, options, argv, cwd, env, far }: LiveBashRequest): Promise<LiveBash> {
    const live = new LiveBash(options, far);
    const { cols, rows, keepDetached } = options;
    const pty = await openPty({
      argv,
      cwd,
      ...taggedEnvironment(env, randomHex(16)),
      cols,
      rows,
      keepDetached,
      onData: (bytes) => live.#take(bytes),
    });
    await live.#becomeReady(pty);
    return live;
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

  /** It takes commands: it has not ended, and is not being closed. */
  get usable(): boolean {
    return !this.#closing;
  }

  /** Types a command. Its run is told of its output and its end. */
  start(run: Run): void {
    this.#run = run;
    this.#runs++;
    this.#wordsTraced ||= MAY_TRACE_WORDS.test(run.command);
    const repair = MAY_BREAK_LINES.test(this.#page?.command ?? "");
    if (this.#interrupted || repair) void this.#prepare(repair).then(() => this.#type(run));
    else this.#type(run);
  }

  /**
   * Types input for the command in flight, and waits for what comes of it.
   *
   * @throws {EvershellError} `NOT_RUNNING` if the command ends before it began
   */
  send(run: Run, bytes: Uint8Array, options: ResolvedSendOptions): Promise<SendResult> {
    const target: SendTarget = {
      pty: this.#pty,
      // As long as a command is in flight, what the shell reads is input for that.
      leaderIsShell: false,
      received: () => this.#received,
      over: run.settled.then(() => (this.#closing ? "session_exit" : "stdin_read")),
      tap: (listener) => {
        this.#taps.add(listener);
        return () => this.#taps.delete(listener);
      },
      write: () => this.write(run, bytes),
      fromHere: () => run.fromHere(),
    };
    return send(target, options);
  }

  /**
   * Types input for the command in flight, once the shell has taken that. Resolves when the terminal has taken all.
   *
   * @throws {EvershellError} `NOT_RUNNING` if the command ends before
   */
  async write(run: Run, bytes: Uint8Array): Promise<void> {
    if (!(await run.begun)) {
      throw new EvershellError("NOT_RUNNING", "write: the command ended before it began");
    }
    this.#lookout.watch(run);
    await this.#typist.typeInput(bytes, run.overSignal);
  }

  /** Tells once it is proved that the command in flight waits for input. Returns a function that ends this. */
  follow(onWaiting: (wait: InputWait) => void): () => void {
    return this.#lookout.follow(onWaiting);
  }

  /** Signals the foreground group of the command in flight. */
  async signal(run: Run, name: SignalName): Promise<boolean> {
    if (!(await run.begun)) return false;
    this.#lookout.watch(run);
    if (name !== "SIGINT") return this.#pty.signal(name);
    // A shell that is just starting a program loses it.
    await this.interrupt(run);
    return true;
  }

  /** Interrupts the command in flight. */
  async interrupt(run: Run): Promise<void> {
    if (this.#run === run) this.#lookout.watch(run);
    await interrupt(this.#stopHost(), run);
  }

  /** Stops the command in flight; true if the shell has proved to be back at its prompt. */
  async stop(run: Run): Promise<boolean> {
    const kept = await stop(this.#stopHost(), run, this.#options.graceMs);
    if (kept) this.#forget();
    return kept;
  }

  resize(size: { readonly cols: number; readonly rows: number }): void {
    this.#size = size;
    this.#screen?.resize(size.cols, size.rows);
    this.#pty.resize(size.cols, size.rows);
  }

  view(): ScreenView {
    return this.#page?.view() ?? this.blankScreen().view();
  }

  /** The lines of the last command, as far back as they are at hand. */
  scrollback(): Scrollback {
    return this.#page?.scrollback() ?? EMPTY_SCROLLBACK;
  }

  /** The screen with a blank page. */
  blankScreen(): Screen {
    const { cols, rows } = this.#size;
    if (this.#screen === null)
      this.#screen = new Screen(cols, rows, (text) => this.#answer(text), true);
    else this.#screen.turnPage();
    return this.#screen;
  }

  /** Ends bash and everything in its session. Never rejects. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#pty.close();
  }

  async #becomeReady(opened: Pty): Promise<void> {
    const pty = this.#far === null ? opened : new FarPty(opened);
    this.#pty = pty;
    this.#typist = this.#newTypist(pty);
    this.#lookout = new Lookout({
      pty,
      received: () => this.#received,
      onPrompt: (run) => void this.#regain(run),
    });
    pty.exited.then((exit) => this.#exited(exit));
    const { startTimeoutMs } = this.#options;
    const late = `bash did not come to its prompt within ${startTimeoutMs} ms`;
    const timer = setTimeout(() => this.#ready.reject(this.#startFailed(late)), startTimeoutMs);
    try {
      if (this.#far !== null) await this.#reach(opened, this.#far);
      this.#typist.typeSetUp();
      await this.#ready.promise;
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      clearTimeout(timer);
      this.#prologue.forget();
    }
  }

  /** Makes what the program leads to our bash, at its prompt. */
  async #reach(pty: Pty, far: Far): Promise<void> {
    const mark = promptMark(this.#nonce);
    const becoming = typeBecome(pty, far, mark, this.#reached.promise, () => this.#closing);
    const why = await Promise.race([becoming, this.#ready.promise]);
    if (why) throw this.#startFailed(why);
  }

  #newTypist(pty: Pty): Typist {
    return new Typist({
      pty,
      timeoutMs: this.#options.startTimeoutMs,
      received: () => this.#received,
      setUp: () => {
        this.#step({ kind: "setUp" });
        this.#late.beforeSetUp();
        return this.#setUpText();
      },
      beforeLine: (line) => {
        this.#step({ kind: "type", id: this.#run?.id ?? "" });
        this.#late.beforeTyping(line);
      },
      onLost: () => this.#lost(),
    });
  }

  #setUpText(): Uint8Array {
    const rc = this.#pid === null ? this.#options.rc : "none";
    return encoder.encode(setUp(this.#nonce, rc, this.#far !== null));
  }

  #stopHost(): StopHost {
    return { pty: this.#pty, answers: (ms) => this.#answers(ms) };
  }

  /** Whether the shell answers our set-up within the time. */
  async #answers(ms: number): Promise<boolean> {
    this.#ready = defer();
    this.#typist.forget();
    this.#typist.startOver();
    return (
      (await within(
        this.#ready.promise.then(() => true),
        ms,
      )) ?? false
    );
  }

  /** Sees to it that the shell has the terminal, and that lines reach it whole. */
  async #prepare(repair: boolean): Promise<void> {
    if (this.#interrupted) await regainTerminal(this.#pty, this.#options.graceMs);
    if (repair) await this.#pty.repair();
    this.#interrupted = false;
  }

  #type(run: Run): void {
    if (this.#run !== run || run.over) return;
    const { command: text, id } = run;
    const hush = this.#promptMissed || MAY_SEND_STDERR_AWAY.test(text);
    this.#typist.typeCommand(
      commandLines({ text, number: this.#runs, id, hush, traced: this.#wordsTraced }),
    );
  }

  #take(chunk: Uint8Array): Promise<void> | undefined {
    this.#held = undefined;
    this.#received += chunk.length;
    this.#scanner.scan(
      chunk,
      (bytes) => this.#output(bytes),
      (mark) => this.#mark(mark),
    );
    return this.#held;
  }

  #output(bytes: Uint8Array): void {
    if (this.#phase.at === "running" && this.#run !== null) {
      const output = this.#lateEcho?.remove(bytes) ?? bytes;
      for (const tap of this.#taps) tap(output);
      const held = this.#run.push(output);
      if (held)
        this.#held = this.#held ? Promise.all([this.#held, held]).then(() => undefined) : held;
    } else if (this.#pid === null) {
      this.#prologue.push(bytes);
    } else {
      this.#late.push(bytes);
    }
  }

  #mark(mark: Mark): void {
    if (mark.kind === "ready") {
      this.#pid = mark.pid;
      this.#promptLines = mark.promptLines;
    }
    if (mark.kind === "prompt") this.#reached.resolve();
    this.#act(this.#step(mark), mark);
  }

  #step(event: PhaseEvent): Fact {
    const [phase, fact] = step(this.#phase, event, this.#pid);
    this.#phase = phase;
    return fact;
  }

  #act(fact: Fact, mark: Mark): void {
    switch (fact) {
      case "ready":
        this.#late.afterEnd(false, false);
        this.#ready.resolve();
        this.#typist.typeAgain();
        break;
      case "begun":
        this.#late.afterBegin();
        break;
      case "started":
        this.#started();
        break;
      case "ended":
        if (mark.kind === "end") this.#ended(mark);
        break;
      case "interrupted":
        if (mark.kind !== "prompt") break;
        this.#interrupted = true;
        this.#late.afterEnd(true, true);
        this.#endRun({ kind: "interrupted", exitCode: mark.status });
        break;
      case "prompting":
        this.#late.afterPromptStart();
        break;
      case "prompted":
        this.#promptDue = false;
        this.#late.afterPrompt();
        break;
      case "refused":
        this.#typist.refused();
        break;
    }
  }

  #started(): void {
    this.#promptMissed = this.#promptDue;
    this.#typist.taken();
    const { output, restOfEcho } = this.#late.afterStart();
    if (this.#run === null) return;
    this.#run.begin();
    this.#run.background = output;
    this.#lateEcho = LateEcho.of(restOfEcho, this.#run.id);
    this.#page = this.#run;
    this.#lookout.watch(this.#run);
  }

  #ended(mark: Extract<Mark, { kind: "end" }>): void {
    this.#cwd = mark.cwd ?? this.#cwd;
    this.#promptDue = true;
    if (this.#phase.at !== "settingUp") this.#late.afterEnd(mark.bare, false);
    this.#endRun({ kind: "finished", exitCode: mark.status });
  }

  /** @param promptLines how many lines a prompt of the user's takes that stands at the end of the output */
  #endRun(end: RunEnd, promptLines = 1): void {
    this.#run?.end(end, promptLines);
    this.#forget();
  }

  /** The command in flight is over, or has been given up. */
  #forget(): void {
    this.#lookout.leave();
    this.#typist.forget();
    this.#lateEcho = null;
    this.#run = null;
  }

  #lost(): void {
    this.#run?.fail(
      new EvershellError(
        "SHELL_LOST",
        "the shell no longer takes commands (was it replaced by exec, or its terminal changed?); " +
          "the command was not run, and the next one gets a fresh shell",
      ),
    );
    this.#forget();
    void this.close();
  }

  #exited(exit: PtyExit): void {
    const how = exit.signal ?? `code ${exit.exitCode}`;
    const missing = this.#far !== null && exit.exitCode === PROGRAM_NOT_FOUND;
    this.#ready.reject(
      missing
        ? this.#startFailed(
            `no bash could be started through ${this.#far?.program}`,
            "BASH_NOT_FOUND",
          )
        : this.#startFailed(`bash ended (${how}) before its prompt`),
    );
    this.#endRun({ kind: "shellExited", ...exit });
    // What the shell left behind in its session ends with it.
    void this.close();
  }

  #startFailed(why: string, code: ErrorCode = "START_FAILED"): EvershellError {
    const printed = this.#prologue.text(this.#setUpText(), this.#nonce);
    return new EvershellError(code, printed === "" ? why : `${why}; it printed: ${printed}`);
  }

  /** Makes the shell ours again, which is back at a prompt of the user's (after an interrupt). */
  async #regain(run: Run): Promise<void> {
    this.#ready = defer();
    this.#typist.typeSetUp();
    await within(this.#ready.promise, this.#options.startTimeoutMs);
    if (this.#run !== run) return;
    this.#endRun({ kind: "interrupted", exitCode: INTERRUPTED_STATUS }, this.#promptLines);
  }

  /** Passes the terminal's answer to the program that asked; never to the shell, which would run it. */
  #answer(text: string): void {
    const run = this.#run;
    if (this.#phase.at !== "running" || run === null) return;
    // A program that is gone needs no answer.
    this.#typist.typeInput(encoder.encode(text), run.overSignal).catch(() => undefined);
  }
}

const encoder = new TextEncoder();
