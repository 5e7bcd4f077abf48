/** What a call of the persistent `bash` comes to, as data. */

import * as v from "valibot";
import type { Keep, RunResult } from "../core/index.ts";

/** A command and what is known of it: since its last result, where there was one. */
export interface BashRun extends RunResult {
  readonly command: string;
  /** Which part of a longer output is kept. */
  readonly keep: Keep;
}

/** What a call of the tool comes to. */
export interface BashValue {
  /** A command that an earlier call left in flight, and that has ended meanwhile. */
  readonly earlier: BashRun | null;
  /** The shell is a fresh one, as the call asked for. */
  readonly restarted: boolean;
  /** The command of this call, or that it waited for; null if it only restarted the shell. */
  readonly run: BashRun | null;
}

const run = v.object({
  command: v.string(),
  output: v.string(),
  end: v.looseObject({
    kind: v.picklist(["finished", "interrupted", "running", "waiting", "timedOut", "shellExited"]),
  }),
  clip: v.nullable(v.looseObject({})),
  background: v.string(),
  cwd: v.nullable(v.string()),
  durationMs: v.number(),
});

/** The same as a schema. */
export const bashValueSchema: v.GenericSchema = v.object({
  earlier: v.nullable(run),
  restarted: v.boolean(),
  run: v.nullable(run),
});
