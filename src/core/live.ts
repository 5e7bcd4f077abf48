/** One bash on one PTY: it is started and made ours, takes commands, and tells what becomes of them. */

import { commandLines, setUp, startCommand } from "./bash.ts";
import { defer, pause } from "./deferred.ts";
import type { Environment } from "./environment.ts";
import { EvershellError } from "./errors.ts";
import { Late } from "./late.ts";
import { LateEcho } from "./late-echo.ts";
import { type Mark, MarkScanner } from "./marks.ts";
import type { ResolvedShellOptions } from "./options.ts";
import { type Fact, type Phase, type PhaseEvent, step } from "./phase.ts";
import type { Pty, PtyExit, SignalName } from "./pty.ts";
import type { Run, RunEnd } from "./run.ts";
import type { Runtime } from "./runtime.ts";
import { Screen, type ScreenView } from "./screen.ts";
import { Typist } from "./typist.ts";

/** The first look at a command that runs; each next one comes after twice the time, up to the last. */
const FIRST_LOOK_MS = 250;
const LAST_LOOK_MS = 8_000;

/** The time between the two looks that prove a read. */
const PROOF_MS = 50;

const CTRL_C = 0x03;

/** Only `exec` in the shell itself does that. What it hides in, such as a function, the missing mark tells. */
const MAY_SEND_STDERR_AWAY = /\bexec\b/;

/** After a command that has set the terminal, our lines might no longer arrive whole. */
const MAY_BREAK_LINES = /\bstty\b/;

/** What was printed before the shell was ready; the end of it is part of an error message. */
const PROLOGUE_CHARS = 2_000;

/** What it takes to start a bash. */
export interface LiveBashRequest {
  readonly runtime: Runtime;
  readonly options: ResolvedShellOptions;
  /** Path of the program. */
  readonly bash: string;
  readonly cwd: string;
  readonly env: Environment;
}

/** A bash that lives. */
export class LiveBash {
  readonly #options: ResolvedShellOptions;
  readonly #nonce: string = randomHex(16);
  readonly #scanner: MarkScanner = new MarkScanner(this.#nonce);
  readonly #late: Late = new Late(() => performance.now());
  readonly #ready = defer<void>();
  #pty!: Pty;
  #typist!: Typist;
  #phase: Phase = { at: "settingUp", id: null };
  #pid: number | null = null;
  #cwd: string | null = null;
  #exit: PtyExit | null = null;
  #prologue = "";
  #size: { readonly cols: number; readonly rows: number };
  #screen: Screen | null = null;
  /** The command that has the shell, from its typing to its end. */
  #run: Run | null = null;
  /** The last command that started: its page is what the screen shows. */
  #page: Run | null = null;
  #lateEcho: LateEcho | null = null;
  /** Whether a prompt mark was due after the last command, and whether one never came. */
  #promptDue = false;
  #promptMissed = false;
  #lookTimer: ReturnType<typeof setTimeout> | undefined;
  /** What the piece of output that is being taken has to wait for. */
  #held: Promise<void> | undefined;

  private constructor(options: ResolvedShellOptions) {
    this.#options = options;
    this.#size = options;
  }

  /**
   * Starts a bash and waits until it is at its prompt.
   *
   * @throws {EvershellError} `START_FAILED` if it does not come there; what `openPty` throws
   */
  static async open({ runtime, options, bash, cwd, env }: LiveBashRequest): Promise<LiveBash> {
    const live = new LiveBash(options);
    const { cols, rows } = options;
    const pty = await runtime.openPty({
      argv: startCommand(bash),
      cwd,
      env,
      cols,
      rows,
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

  /** Types a command. Its run is told of its output and its end. */
  start(run: Run): void {
    this.#run = run;
    if (MAY_BREAK_LINES.test(this.#page?.command ?? ""))
      void this.#pty.repair().then(() => this.#type(run));
    else this.#type(run);
  }

  /** Types input for the command in flight. Resolves when the terminal has taken it. */
  write(bytes: Uint8Array): Promise<void> {
    return this.#typist.typeInput(bytes);
  }

  /** Signals the foreground group. */
  async signal(name: SignalName): Promise<boolean> {
    return this.#pty.signal(name);
  }

  /**
   * Interrupts the command in flight; where the foreground group is not known, with Ctrl-C.
   *
   * A shell that has just forked a program, and not yet given it the terminal, gets the signal in its place and
   * waits on. So it is sent once more if a program has the terminal a moment later.
   */
  async interrupt(): Promise<void> {
    const run = this.#run;
    const shellHadIt = (await this.#pty.inspect())?.foreground === true;
    if (!(await this.#pty.signal("SIGINT"))) await this.#pty.write(Uint8Array.of(CTRL_C));
    if (!shellHadIt || run === null) return;
    await Promise.race([run.ended, pause(PROOF_MS)]);
    if (!run.over && (await this.#pty.inspect())?.foreground === false)
      await this.#pty.signal("SIGINT");
  }

  /**
   * Stops the command in flight and keeps the shell if it can be proved that it is back at its prompt.
   *
   * @returns whether the shell was kept
   */
  async stop(graceMs: number): Promise<boolean> {
    // If the terminal is gone, the proof fails.
    await this.interrupt().catch(() => undefined);
    if (await this.#backAtPrompt(graceMs)) return true;
    const state = await this.#pty.inspect();
    if (state === null || state.foreground) return false;
    await this.#pty.signal("SIGKILL");
    return this.#backAtPrompt(graceMs);
  }

  resize(cols: number, rows: number): void {
    this.#size = { cols, rows };
    this.#screen?.resize(cols, rows);
    this.#pty.resize(cols, rows);
  }

  view(): ScreenView {
    return this.#page?.view() ?? this.blankScreen().view();
  }

  /** The screen with a blank page. */
  blankScreen(): Screen {
    const { cols, rows } = this.#size;
    if (this.#screen === null) this.#screen = new Screen(cols, rows, (text) => this.#answer(text));
    else this.#screen.turnPage();
    return this.#screen;
  }

  /** Ends bash and everything in its session. Never rejects. */
  async close(): Promise<void> {
    await this.#pty.close();
    this.#screen?.close();
    this.#screen = null;
  }

  async #becomeReady(pty: Pty): Promise<void> {
    this.#pty = pty;
    this.#typist = this.#newTypist(pty);
    pty.exited.then((exit) => this.#exited(exit));
    const { startTimeoutMs } = this.#options;
    const late = `bash did not come to its prompt within ${startTimeoutMs} ms`;
    const timer = setTimeout(() => this.#ready.reject(this.#startFailed(late)), startTimeoutMs);
    try {
      this.#typist.typeSetUp();
      await this.#ready.promise;
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      clearTimeout(timer);
      this.#prologue = "";
    }
  }

  #type(run: Run): void {
    if (this.#run !== run) return;
    const { command: text, number, id } = run;
    const hush = this.#promptMissed || MAY_SEND_STDERR_AWAY.test(text);
    this.#typist.typeCommand(commandLines({ text, number, id, hush }));
  }

  #newTypist(pty: Pty): Typist {
    return new Typist({
      pty,
      timeoutMs: this.#options.startTimeoutMs,
      setUp: () => {
        const rc = this.#pid === null ? this.#options.rc : "none";
        this.#step({ kind: "setUp" });
        this.#late.afterSetUp();
        return encoder.encode(setUp(this.#nonce, rc));
      },
      onLine: (line) => {
        this.#step({ kind: "type", id: this.#run?.id ?? "" });
        this.#late.afterTyping(line);
      },
      onLost: () => this.#lost(),
    });
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
    if (this.#phase.at === "running" && this.#run !== null) {
      const held = this.#run.push(this.#lateEcho?.remove(bytes) ?? bytes);
      if (held) this.#held = Promise.all([this.#held, held]).then(() => undefined);
    } else if (this.#pid === null) {
      this.#prologue = (this.#prologue + decoder.decode(bytes)).slice(-PROLOGUE_CHARS);
    } else {
      this.#late.push(bytes);
    }
  }

  #mark(mark: Mark): void {
    if (mark.kind === "ready") this.#pid = mark.pid;
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
        this.#late.afterEnd("marked", false);
        this.#ready.resolve();
        this.#typist.typeAgain();
        break;
      case "begun":
        this.#promptMissed = this.#promptDue;
        this.#typist.taken();
        this.#lateEcho = LateEcho.after(this.#late.afterBegin(), this.#run?.id ?? "");
        break;
      case "started":
        this.#started();
        break;
      case "ended":
        if (mark.kind !== "end") break;
        this.#cwd = mark.cwd ?? this.#cwd;
        this.#late.afterEnd(mark.prompt, mark.verbose);
        this.#promptDue = mark.prompt !== "foreign";
        this.#endRun({ kind: "finished", exitCode: mark.status });
        break;
      case "interrupted":
        if (mark.kind !== "prompt") break;
        this.#late.afterEnd("bare", false);
        this.#endRun({ kind: "interrupted", exitCode: mark.status });
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
    if (this.#run === null) return;
    this.#run.background = this.#late.take();
    this.#page = this.#run;
    this.#lookAfter(this.#run, FIRST_LOOK_MS);
  }

  #endRun(end: RunEnd): void {
    this.#run?.end(end);
    this.#letGo();
  }

  #letGo(): void {
    clearTimeout(this.#lookTimer);
    this.#typist.taken();
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
    this.#letGo();
    void this.close();
  }

  #exited(exit: PtyExit): void {
    this.#exit = exit;
    const how = exit.signal ?? `code ${exit.exitCode}`;
    this.#ready.reject(this.#startFailed(`bash ended (${how}) before its prompt`));
    this.#endRun({ kind: "shellExited", ...exit });
    // What the shell left behind in its session ends with it.
    void this.close();
  }

  #startFailed(why: string): EvershellError {
    const printed = this.#prologue.trim();
    return new EvershellError(
      "START_FAILED",
      printed === "" ? why : `${why}; it printed: ${printed}`,
    );
  }

  /** Looks after a command from time to time: a shell that was stopped (`suspend`) is continued. */
  #lookAfter(run: Run, ms: number): void {
    this.#lookTimer = setTimeout(async () => {
      const state = await this.#pty.inspect();
      if (this.#run !== run) return;
      if (state?.stopped) await this.#pty.repair();
      this.#lookAfter(run, Math.min(2 * ms, LAST_LOOK_MS));
    }, ms);
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

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
