/**
 * Every way in which evershell itself fails. What a command does (a status, a signal, a timeout) is a
 * value of the result and never one of these.
 */
export type ErrorCode =
  /** A call got something it cannot use: an empty command, a NUL, a key that does not exist. */
  | "BAD_ARGUMENT"
  /** An option breaks its rule; the message names the option, the rule and the value. */
  | "BAD_OPTION"
  /** The working directory is missing or is no directory. */
  | "BAD_CWD"
  /** There is no bash to start. */
  | "BASH_NOT_FOUND"
  /** This system or runtime has no pseudoterminals that evershell can use. */
  | "UNSUPPORTED"
  /** The native part that opens pseudoterminals is missing or broken. */
  | "PTY_UNAVAILABLE"
  /** bash started but did not come to its prompt. */
  | "START_FAILED"
  /** bash no longer takes commands; the command was not run. */
  | "SHELL_LOST"
  /** An earlier command is still in flight; it has to be waited for, interrupted or reset first. */
  | "BUSY"
  /** There is no command in flight to wait for, to write to or to signal. */
  | "NOT_RUNNING"
  /** The shell was closed, or has ended and may not be opened again. */
  | "CLOSED"
  /** A tool was called by nobody: each shell and terminal belongs to an owner. */
  | "NO_OWNER"
  /** There is no backend of that name. */
  | "NO_BACKEND"
  /** The owner has no terminal of that name. */
  | "NO_TERMINAL"
  /** The owner has no background task of that name. */
  | "NO_TASK"
  /** There is no runtime for background tasks, or they are not offered. */
  | "NO_TASKS"
  /** The host does not allow this call, or nobody approved it. */
  | "DENIED"
  /** The caller cancelled. */
  | "ABORTED"
  /** The folder for complete outputs cannot be used. */
  | "SPILL_UNAVAILABLE";

/** The one error class of evershell. Its message says what is wrong, by which rule, and what to do. */
export class EvershellError extends Error {
  override readonly name = "EvershellError";
  /** Which kind of failure this is; the list is closed. */
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** The error of a call that its caller cancelled. The reason is its cause, and never part of a message. */
export function aborted(signal: AbortSignal): EvershellError {
  return new EvershellError("ABORTED", "aborted by the caller", { cause: signal.reason });
}
