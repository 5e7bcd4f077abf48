/** One command in a fresh bash, as text or as JSON. */

import type { BashExecutor, BashOutcome } from "../core/executor.ts";
import type { Streams } from "./report.ts";
import { onEndingSignal } from "./signals.ts";
import { outcomeStatus, signalStatus } from "./status.ts";

/** What to run, and how to tell of it. */
export interface ExecRequest {
  readonly command: string;
  readonly workdir?: string;
  readonly timeoutMs?: number;
  readonly json: boolean;
}

/**
 * Runs the command under the program's signals, which end it with all that it started.
 *
 * @returns the status to exit with
 */
export async function execCommand(
  executor: BashExecutor,
  { command, workdir, timeoutMs, json }: ExecRequest,
  { out, err }: Streams,
): Promise<number> {
  onEndingSignal(async (signal) => {
    await executor.close();
    process.exit(signalStatus(signal));
  });
  try {
    const spec = executor.resolve({
      command,
      ...(workdir !== undefined && { workdir }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    const outcome = await executor.run(
      spec,
      json ? {} : { onOutput: (text, stream) => (stream === "stdout" ? out(text) : err(text)) },
    );
    if (json) await out(`${JSON.stringify(withoutFiles(outcome))}\n`);
    else for (const note of notesOn(outcome)) await err(`evershell: ${note}\n`);
    return outcomeStatus(outcome);
  } finally {
    await executor.close();
  }
}

/** The files with complete outputs go when the program ends. */
function withoutFiles({ stdout, stderr, ...outcome }: BashOutcome): BashOutcome {
  return {
    ...outcome,
    stdout: { ...stdout, spillPath: null },
    stderr: { ...stderr, spillPath: null },
  };
}

function notesOn({ timedOutMs, signal, denials }: BashOutcome): string[] {
  return [
    ...(timedOutMs === null ? [] : [`timed out after ${timedOutMs} ms`]),
    ...(signal === null || timedOutMs !== null ? [] : [`killed by ${signal}`]),
    ...denials.map((denial) => `sandbox: ${denial}`),
  ];
}
