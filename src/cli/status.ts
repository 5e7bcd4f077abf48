/** The exit status of the program. Those of its own follow timeout(1) and env(1). */

import { constants } from "node:os";
import type { BashOutcome } from "../core/executor.ts";
import type { RunEnd } from "../core/index.ts";

/** Wrong usage of the command line. */
export const USAGE_STATUS = 2;
/** The last command waits for input. */
const WAITING_STATUS = 123;
/** The last command was stopped because its time was over, or left running. */
const TIMED_OUT_STATUS = 124;
/** evershell itself failed. */
export const FAILURE_STATUS = 125;

/** The status for a program killed by this signal, as shells report it. */
export function signalStatus(name: string): number {
  return 128 + (constants.signals[name as NodeJS.Signals] ?? 0);
}

/** The status that tells how a one-shot command ended. */
export function outcomeStatus({ timedOutMs, signal, exitCode }: BashOutcome): number {
  if (timedOutMs !== null) return TIMED_OUT_STATUS;
  return signal === null ? (exitCode ?? FAILURE_STATUS) : signalStatus(signal);
}

/** The status that tells how a command ended. */
export function statusOf(end: RunEnd): number {
  switch (end.kind) {
    case "finished":
    case "interrupted":
      return end.exitCode;
    case "shellExited":
      return end.signal === null ? (end.exitCode ?? FAILURE_STATUS) : signalStatus(end.signal);
    case "waiting":
      return WAITING_STATUS;
    case "running":
    case "timedOut":
      return TIMED_OUT_STATUS;
  }
}
