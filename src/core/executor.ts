/**
 * The seam of running one command once: a fresh `bash -c`, of which nothing persists. This machine, a sandbox or
 * another machine can stand behind it, and whoever asks sees no difference.
 */

import type { Environment } from "./environment.ts";

/** What to run. Only the command has to be given; an executor fills the rest. */
export interface BashRequest {
  readonly command: string;
  /** Directory to run in. A relative one is resolved against the executor's own. */
  readonly workdir?: string;
  /** Milliseconds after which the command is stopped. Default 120 000, at most 600 000. */
  readonly timeoutMs?: number;
  /** Input, for hosts that feed a command; by default there is none. A model cannot set it. */
  readonly stdin?: string | Uint8Array;
  /** Variables that are set besides, or removed (`undefined`). A model cannot set them. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A request with every default filled in. */
export interface BashSpec {
  readonly command: string;
  /** An absolute path. */
  readonly workdir: string;
  readonly timeoutMs: number;
  readonly stdin: Uint8Array | null;
  /** The complete environment. */
  readonly env: Environment;
}

/** How a process ended: an exit code, or the name of the signal that killed it. */
export interface ProcessEnd {
  readonly exitCode: number | null;
  /** As `"SIGKILL"`. */
  readonly signal: string | null;
}

/** What a command wrote to stdout or stderr. */
export interface StreamOutput {
  /** Its last bytes as text, at most 64 000 of them; bytes that are no UTF-8 become U+FFFD. */
  readonly text: string;
  /** How many bytes there were. */
  readonly totalBytes: number;
  /** `text` is not all of it. */
  readonly truncated: boolean;
  /** A file with all of it, if it was truncated and there is such a file. */
  readonly spillPath: string | null;
}

/** What a command came to. */
export interface BashOutcome extends ProcessEnd {
  readonly stdout: StreamOutput;
  readonly stderr: StreamOutput;
  /** The limit, if it was reached: whatever the end, the command was stopped then. */
  readonly timedOutMs: number | null;
  /** What a sandbox seems to have denied, a sentence each. */
  readonly denials: readonly string[];
  readonly durationMs: number;
}

/** What may come with a run. */
export interface BashRunOptions {
  /** Cancels: everything that the command started is ended, and the call rejects with `ABORTED`. */
  readonly signal?: AbortSignal;
  /** Receives stdout and stderr as they come. While a promise that it returned is pending, the command waits. */
  readonly onOutput?: (text: string, stream: "stdout" | "stderr") => unknown;
}

/** A command that was left running. */
export interface BashProcess {
  readonly pid: number;
  /** Settles when it has ended and its output is complete. Never rejects. */
  readonly done: Promise<ProcessEnd>;
  /** What came since the last call; each byte once, in the order in which it came. */
  readOutput(): Promise<ProcessOutput>;
  /** Ends it and everything that it started: TERM, then KILL. Resolves when nothing is left. */
  cancel(): Promise<void>;
}

/** New output of a process. */
export interface ProcessOutput {
  readonly text: string;
  /** Some of the output before it was dropped, since nobody had read it in time. */
  readonly dropped: boolean;
  /** A file with all output so far, if some was dropped and there is such a file. */
  readonly spillPath: string | null;
}

/** Runs commands, each by itself. */
export interface BashExecutor {
  /**
   * Fills in every default, once.
   * @throws {EvershellError} `BAD_ARGUMENT`, `BAD_OPTION`; `BAD_CWD` if the directory is missing
   */
  resolve(request: BashRequest): BashSpec;

  /**
   * Runs a command to its end. Whatever the command does is a value.
   * @throws {EvershellError} `ABORTED`; `START_FAILED`, `BASH_NOT_FOUND`, `UNSUPPORTED`, `CLOSED`
   */
  run(spec: BashSpec, options?: BashRunOptions): Promise<BashOutcome>;

  /**
   * Starts a command and leaves it running, without a time limit.
   * @throws {EvershellError} `START_FAILED`, `BASH_NOT_FOUND`, `UNSUPPORTED`, `CLOSED`
   */
  start(spec: BashSpec): Promise<BashProcess>;

  /** Ends everything that was started and is left, and removes spill files. */
  close(): Promise<void>;
}
