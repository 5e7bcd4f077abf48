/** A command that has a shell, and waiting for it. */

import { orAborted } from "./abort.ts";
import { defer } from "./deferred.ts";
import type { LiveBash } from "./live-bash.ts";
import type { ResolvedWaitOptions } from "./options.ts";
import type { InputWait, RunEnd } from "./result.ts";
import type { Run } from "./run.ts";

/** A command in flight, or one whose end has not been fetched, and the bash that it was typed into. */
export interface Flight {
  readonly run: Run;
  readonly live: LiveBash;
  /** What it waited for when its last result was made. */
  waiting: InputWait | null;
}

/**
 * How the command ended, or why it is not waited for any longer: the time is over, or it waits for input itself.
 *
 * @throws {EvershellError} `ABORTED`; what `run.ended` rejects with
 */
export async function endOrPause(
  { run, live }: Flight,
  { waitMs, signal }: ResolvedWaitOptions,
): Promise<RunEnd> {
  const pause = defer<RunEnd>();
  const timer =
    waitMs === null ? undefined : setTimeout(() => pause.resolve({ kind: "running" }), waitMs);
  const unfollow = live.follow((wait) => pause.resolve({ kind: "waiting", ...wait }));
  try {
    return await orAborted(Promise.race([run.ended, pause.promise]), signal);
  } finally {
    clearTimeout(timer);
    unfollow();
  }
}
