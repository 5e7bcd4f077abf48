/** A terminal that somebody types into and looks at: one program on a PTY, with a screen and what scrolled off it. */

import { checkSignal, type Input, inputText } from "./arguments.ts";
import { startThrough } from "./bash.ts";
import { hostEnvironment, shellEnvironment, taggedEnvironment } from "./environment.ts";
import { EvershellError } from "./errors.ts";
import { History, type Scrollback, textFrom } from "./history.ts";
import {
  resolveSendOptions,
  resolveSize,
  resolveTerminalOptions,
  type SendOptions,
  type TerminalOptions,
} from "./options.ts";
import type { Pty, PtyExit, SignalName } from "./pty.ts";
import { randomHex } from "./random.ts";
import type { Runtime } from "./runtime.ts";
import { Screen, type ScreenView } from "./screen.ts";
import { scrub } from "./scrub.ts";
import { type SendResult, send } from "./sending.ts";

/** An interactive terminal. */
export interface Terminal extends AsyncDisposable {
  /** Settles when the program has ended. */
  readonly exited: Promise<PtyExit>;

  /**
   * Types, and waits for what comes of it; with an empty text it only waits.
   *
   * @throws {EvershellError} `CLOSED` for a text once the program has ended; `BAD_ARGUMENT` for an unknown key; `BAD_OPTION`;
   * `BUSY` if more than 16 MiB wait to be taken; `ABORTED`
   */
  send(input: Input, options?: SendOptions): Promise<SendResult>;

  /**
   * Signals the foreground process group. Resolves to false if there is none.
   * @throws {EvershellError} `BAD_ARGUMENT` for another name
   */
  signal(name: SignalName): Promise<boolean>;

  /**
   * Sets the size, 1 to 1000 cells each.
   * @throws {EvershellError} `BAD_OPTION`
   */
  resize(cols: number, rows: number): void;

  screen(): ScreenView;

  /** The lines above the screen (the last 10 000) and those of the screen. */
  scrollback(): Scrollback;

  /** Ends the program and all that it started. May be called more than once. */
  close(): Promise<void>;
}

/**
 * Opens a terminal on a runtime.
 *
 * @throws {EvershellError} `BAD_OPTION`, `BAD_CWD`, `BASH_NOT_FOUND`, `PTY_UNAVAILABLE`
 */
export async function openTerminalOn(
  runtime: Runtime,
  options: TerminalOptions = {},
): Promise<Terminal> {
  const resolved = resolveTerminalOptions(options);
  const { argv, cwd, env, cols, rows, keepDetached } = resolved;
  const host = scrub(runtime.environment(), resolved.scrub);
  const environment =
    argv === null ? shellEnvironment(host, runtime.locale, env) : hostEnvironment(host, env);
  const bash = runtime.findBash("bash", environment);
  const terminal = new ScreenTerminal(cols, rows);
  terminal.attach(
    await runtime.openPty({
      argv: startThrough(bash, argv ?? [bash, "--noprofile", "--norc", "-i"]),
      cwd: runtime.resolveCwd(cwd ?? runtime.workingDirectory()),
      ...taggedEnvironment(environment, randomHex(16)),
      cols,
      rows,
      keepDetached,
      onData: (bytes) => terminal.take(bytes),
    }),
  );
  return terminal;
}

class ScreenTerminal implements Terminal {
  #pty!: Pty;
  readonly #screen: Screen;
  readonly #history: History;
  readonly #taps = new Set<(bytes: Uint8Array) => void>();
  #received = 0;
  #closed = false;

  constructor(cols: number, rows: number) {
    this.#screen = new Screen(cols, rows, (answer) => this.#answer(answer), false);
    this.#history = new History(this.#screen, 0);
  }

  attach(pty: Pty): void {
    this.#pty = pty;
    void pty.exited.then(() => this.close());
  }

  get exited(): Promise<PtyExit> {
    return this.#pty.exited;
  }

  take(bytes: Uint8Array): void {
    this.#received += bytes.length;
    this.#history.push(this.#screen.write(bytes));
    for (const tap of this.#taps) tap(bytes);
  }

  async send(input: Input, options?: SendOptions): Promise<SendResult> {
    const resolved = resolveSendOptions(options);
    const text = inputText(input, () => this.#screen.view().applicationCursorKeys);
    if (this.#closed && text !== "") throw ended();
    return send(
      {
        pty: this.#pty,
        leaderIsShell: true,
        received: () => this.#received,
        over: this.#pty.exited.then(() => "session_exit"),
        tap: (listener) => this.#tap(listener),
        write: async () => {
          if (text !== "") await this.#pty.write(new TextEncoder().encode(text));
        },
        fromHere: () => this.#fromHere(),
      },
      resolved,
    );
  }

  async signal(name: SignalName): Promise<boolean> {
    checkSignal(name);
    return this.#pty.signal(name);
  }

  resize(cols: number, rows: number): void {
    const size = resolveSize({ cols, rows });
    this.#screen.resize(size.cols, size.rows);
    this.#pty.resize(size.cols, size.rows);
  }

  screen(): ScreenView {
    return this.#screen.view();
  }

  scrollback(): Scrollback {
    return this.#history.scrollback();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#pty.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #fromHere(): () => string {
    const line = this.#history.cursorLine();
    return () => textFrom(this.scrollback(), line, this.#screen.alternate);
  }

  #tap(listener: (bytes: Uint8Array) => void): () => void {
    this.#taps.add(listener);
    return () => this.#taps.delete(listener);
  }

  /** Passes the answer of the terminal to the program that asked; one that has ended needs none. */
  #answer(text: string): void {
    this.#pty.write(new TextEncoder().encode(text)).catch(() => undefined);
  }
}

function ended(): EvershellError {
  return new EvershellError("CLOSED", "the terminal has ended: open another");
}
