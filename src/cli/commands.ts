/** Commands given on the command line, one after another in one shell. */

import { EvershellError, type Shell } from "../core/index.ts";
import type { Report } from "./report.ts";
import { FAILURE_STATUS, statusOf } from "./status.ts";

/**
 * Runs the commands until one does not settle (is stopped, or ends the shell).
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
