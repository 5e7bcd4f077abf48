/**
 * The seam of a pseudoterminal: the least that the core needs, promised alike by every adapter.
 * `test/contract` holds these comments to account with real processes.
 */

/** How a process ended: an exit code, or the name of the signal that killed it; never both. */
export interface PtyExit {
  readonly exitCode: number | null;
  /** As `"SIGKILL"`. */
  readonly signal: string | null;
}

/** Signals that can be sent to the foreground process group of a terminal. */
export const SIGNAL_NAMES: readonly [
  "SIGINT",
  "SIGTERM",
  "SIGKILL",
  "SIGTSTP",
  "SIGHUP",
  "SIGQUIT",
  "SIGCONT",
] = ["SIGINT", "SIGTERM", "SIGKILL", "SIGTSTP", "SIGHUP", "SIGQUIT", "SIGCONT"];

export type SignalName = (typeof SIGNAL_NAMES)[number];

/** What to start, and who hears its output. */
export interface PtyRequest {
  /** Program and arguments; the program is an absolute path or is looked up in `env.PATH`. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  /** The complete environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** Size of the terminal in character cells. */
  readonly cols: number;
  readonly rows: number;
  /**
   * A random text that stands in `env` and nowhere else on the machine: a process that has inherited it was started
   * from this terminal, wherever it is now. Shorter than 16 characters it tells nobody.
   */
  readonly tag: string;
  /**
   * `close` leaves alone what has made itself independent: processes that left the session (`setsid`), and those
   * that ignore SIGHUP (`nohup`).
   */
  readonly keepDetached: boolean;
  /**
   * Called with each piece of output, in order; the bytes are the callee's to keep. While a returned
   * promise is pending the adapter reads no further, so that the kernel makes the process wait.
   */
  readonly onData: (bytes: Uint8Array) => void | Promise<void>;
}

/** The host end of one pseudoterminal and the session of processes on it. */
export interface Pty {
  /**
   * Settles when the process has ended *and* its last byte has been given to `onData`. Never rejects.
   */
  readonly exited: Promise<PtyExit>;

  /**
   * Sends bytes as if typed. Resolves when the kernel has taken all of them, in the order of the calls.
   *
   * @param until when it is aborted, what the kernel has not taken is dropped
   * @throws {EvershellError} `CLOSED` once the process has ended or the PTY was closed, also for the
   * rest of a write that was under way; `NOT_RUNNING` if `until` was aborted before all was taken; `BUSY` when
   * more than 16 MiB wait to be taken.
   */
  write(bytes: Uint8Array, until?: AbortSignal): Promise<void>;

  /** Sets the size in cells. After the end of the process it does nothing. */
  resize(cols: number, rows: number): void;

  /** Signals the foreground process group. Resolves to false if there is none or it cannot be known. */
  signal(name: SignalName): Promise<boolean>;

  /** What the adapter can see of the processes on the terminal; null where that cannot be known. */
  inspect(): Promise<PtyState | null>;

  /**
   * A process of the foreground group that is *proved* to wait for input on this terminal, and for nothing else; null
   * if there is none, or the system does not let it be proved.
   */
  reader(): Promise<TerminalReader | null>;

  /** How the terminal treats input; null where that cannot be known. */
  modes(): Promise<TerminalModes | null>;

  /**
   * Puts back, from outside, the input maps and special characters of the terminal, which could keep a line
   * from reaching the shell whole (`stty inlcr`, `stty eof a`), and continues the shell if it is
   * stopped. Best effort.
   */
  repair(): Promise<void>;

  /**
   * Ends every process of the session and all that was started from it (HUP, then TERM, then KILL; less with
   * `keepDetached`), frees the terminal, and resolves when nothing is left, or nothing more can be done. May be
   * called at any time and more than once. Never rejects. What the process still prints is dropped.
   */
  close(): Promise<void>;
}

/** Facts about the processes on a terminal, read from the system. */
export interface PtyState {
  /** The process that was started is stopped (by SIGSTOP or `suspend`). */
  readonly stopped: boolean;
  /** Its process group is the foreground group of the terminal: no other program has the terminal. */
  readonly foreground: boolean;
  /** The foreground process group; -1 if there is none. */
  readonly foregroundGroup: number;
  /** SIGINT ends the leader of that group, which neither catches nor ignores it. */
  readonly interruptible: boolean;
  /** If it is in the foreground and blocked in a read of the terminal, how many bytes it has asked for. */
  readonly readSize: number | null;
}

/** A process that waits for input. */
export interface TerminalReader {
  readonly pid: number;
  /** The name of its program, as the system knows it. */
  readonly program: string;
  /** Tells one wait from another: equal as long as the process has not moved. */
  readonly wait: string;
}

/** How a terminal treats input (termios). */
export interface TerminalModes {
  /** ECHO: what is typed is shown. Without it, and with lines, a password is asked for. */
  readonly echo: boolean;
  /** ICANON: a program gets whole lines. */
  readonly lines: boolean;
}

/** Opens a pseudoterminal with a process on it that has it as its controlling terminal. */
export type OpenPty = (request: PtyRequest) => Promise<Pty>;
