/** What a caller can do with a shell. */

import type { Input } from "./arguments.ts";
import type { Scrollback } from "./history.ts";
import type { RunOptions, SendOptions, WaitOptions } from "./options.ts";
import type { PtyExit, SignalName } from "./pty.ts";
import type { InputWait, RunResult } from "./result.ts";
import type { ScreenView } from "./screen.ts";
import type { SendResult } from "./sending.ts";

/** A command that a result left in flight. */
export interface InFlight {
  readonly command: string;
  /** It has ended meanwhile; `wait()` fetches its end. */
  readonly over: boolean;
  /** What it waited for at its last result. */
  readonly waiting: InputWait | null;
}

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
  /** The command that is running, or whose end has not been fetched; null if there is none. */
  readonly inFlight: InFlight | null;

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
   * @throws {EvershellError} `NOT_RUNNING` if no command is in flight, or it ended before all was taken;
   * `BAD_ARGUMENT` for an unknown key; `BUSY` if more than 16 MiB wait to be taken; `CLOSED` if bash ended
   */
  write(input: Input): Promise<void>;

  /**
   * Types like `write`, and waits until the program waits for input, ends, or is silent. Results of `run` and `wait`
   * bring the same output again, and the end of the command.
   *
   * @throws {EvershellError} as `write`; `BAD_OPTION`; `ABORTED`
   */
  send(input: Input, options?: SendOptions): Promise<SendResult>;

  /** Interrupts the command in flight as Ctrl-C does. Without one it does nothing. */
  interrupt(): Promise<void>;

  /**
   * Signals the foreground process group. Resolves to false if there is none to signal.
   * @throws {EvershellError} `NOT_RUNNING` if no command is in flight; `BAD_ARGUMENT` for another name
   */
  signal(name: SignalName): Promise<boolean>;

  /**
   * Sets the size of the terminal, 1 to 1000 cells each.
   * @throws {EvershellError} `BAD_OPTION`
   */
  resize(cols: number, rows: number): void;

  /**
   * The visible screen as the command in flight, or the last one, has left it.
   * @throws {EvershellError} `CLOSED`
   */
  screen(): ScreenView;

  /**
   * The lines of that command, as far back as they are at hand: some 64 KiB.
   * @throws {EvershellError} `CLOSED`
   */
  scrollback(): Scrollback;

  /** Calls the listener each time that a bash of this shell ends. Returns a function that ends this. */
  onExit(listener: (exit: PtyExit) => void): () => void;

  /** Ends the bash and everything in its session, and removes spill files. May be called more than once. */
  close(): Promise<void>;
}
