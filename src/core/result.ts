/** What a caller gets of a command. */

/** A program that waits for input on the terminal. */
export interface InputWait {
  /** Its name, such as `python3`. */
  readonly program: string;
  /** What is typed will not be shown: it asks for a password. */
  readonly password: boolean;
}

/** How a command ended, or why a result comes before its end. */
export type RunEnd =
  /** The command is over and the shell goes on. */
  | { readonly kind: "finished"; readonly exitCode: number }
  /** `waitMs` is over; the command runs on, and `shell.wait()` goes on waiting. */
  | { readonly kind: "running" }
  /** It is proved (Linux) that the command waits for input on the terminal; `shell.write()`, then `shell.wait()`. */
  | ({ readonly kind: "waiting" } & InputWait)
  /** The shell is back at its prompt without having finished the command; 130 after SIGINT. */
  | { readonly kind: "interrupted"; readonly exitCode: number }
  /** `timeoutMs` is over. */
  | { readonly kind: "timedOut"; readonly shellKept: boolean }
  /** The shell itself ended: its exit code, or the signal that killed it (`"SIGKILL"`). */
  | {
      readonly kind: "shellExited";
      readonly exitCode: number | null;
      readonly signal: string | null;
    };

/** What of an over-long output a result shows. Characters are UTF-16 code units. */
export interface ClipInfo {
  readonly shownChars: number;
  readonly totalChars: number;
  /** The beginning of the output is neither shown nor kept anywhere. */
  readonly lostPrefix: boolean;
  /** A file with the complete bytes of the command's output; null if there is none. */
  readonly spillPath: string | null;
}

/** What a command printed and how it ended. */
export interface RunResult {
  /**
   * What the command printed since its last result, stdout and stderr as they came. Plain text is exact; where
   * the command painted, it is what stands on the screen and above it. One final newline is removed.
   */
  readonly output: string;
  readonly end: RunEnd;
  /** Set if `output` is not all of it. */
  readonly clip: ClipInfo | null;
  /** Output of earlier background jobs that came before this command started; the last 16 000 characters. */
  readonly background: string;
  /** The shell's working directory after the command; null when unknown. */
  readonly cwd: string | null;
  /** From the start of the command to this result; time in the queue is not counted. */
  readonly durationMs: number;
}
