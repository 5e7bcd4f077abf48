/** Commands given on the command line, one after another in one shell. */

import { EvershellError, type Shell } from "../core/index.ts";
import type { Report } from "./report.ts";
import { FAILURE_STATUS, statusOf } from "./status.ts";

/** How long a command that waits for input is given to end once it is interrupted. */
const INTERRUPT_MS = 3_000;

/**
 * Runs the commands until one does not settle (is stopped, waits for input, or ends the shell).
 *
 * @param keepGoing run all of them nevertheless
 * @returns the status of the last one that ran
 */
export async function runCommands(
  commands: readonly string[],
  shell: Shell,
  report: Report,
  keepGoing: boolean,
): Promise<number> {
  let status = 0;
  for (const command of commands) {
    let settled = false;
    try {
      await endInFlight(shell);
      const result = await shell.run(
        command,
        report.onOutput === null ? {} : { onOutput: report.onOutput },
      );
      await report.result(result);
      settled = result.end.kind === "finished";
      status = statusOf(result.end);
    } catch (error) {
      if (!(error instanceof EvershellError)) throw error;
      await report.failure(error);
      status = FAILURE_STATUS;
    }
    if (!settled && !keepGoing) break;
  }
  return status;
}

/** Makes way for the next command: one that waits for input is interrupted, and killed if it waits on. */
async function endInFlight(shell: Shell): Promise<void> {
  if (shell.inFlight === null) return;
  await shell.interrupt();
  if (await isOver(shell)) return;
  if (!shell.inFlight.over) await shell.signal("SIGKILL");
  await isOver(shell);
}

async function isOver(shell: Shell): Promise<boolean> {
  const deadline = performance.now() + INTERRUPT_MS;
  for (;;) {
    const left = Math.ceil(deadline - performance.now());
    if (left <= 0) return false;
    const { end } = await shell.wait({ waitMs: left });
    if (end.kind !== "running" && end.kind !== "waiting") return true;
  }
}
