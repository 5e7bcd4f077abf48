/** Options of an executor on this machine, and every default. */

import * as v from "valibot";
import { check } from "./check.ts";
import { scrubSchema } from "./options.ts";
import { milliseconds, text } from "./schemas.ts";
import type { ScrubOptions } from "./scrub.ts";

export interface ExecutorOptions {
  /** Directory that commands run in, and that relative ones are resolved against. Default: that of the host. */
  readonly cwd?: string;
  /** Environment variables that are set besides the host's, or removed (`undefined`). */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** As of a shell. */
  readonly scrub?: boolean | ScrubOptions;
  /** Milliseconds that a command may take if its request does not say, and at most. Default 120 000, and 600 000. */
  readonly timeoutMs?: number;
  readonly maxTimeoutMs?: number;
  /** Milliseconds between TERM and KILL. Default 3 000. */
  readonly graceMs?: number;
  /** Folder for complete outputs. Default: the temporary folder. */
  readonly spillDir?: string;
}

/** The same with every default filled in. */
export interface ResolvedExecutorOptions {
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly scrub: ScrubOptions | null;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly graceMs: number;
  readonly spillDir?: string | undefined;
}

const schema = v.strictObject({
  cwd: v.optional(text),
  env: v.optional(v.record(v.string(), v.optional(v.string("must be a string or undefined"))), {}),
  scrub: v.optional(scrubSchema, true),
  timeoutMs: v.optional(milliseconds, 120_000),
  maxTimeoutMs: v.optional(milliseconds, 600_000),
  graceMs: v.optional(milliseconds, 3_000),
  spillDir: v.optional(text),
});

/** @throws {EvershellError} `BAD_OPTION` */
export function resolveExecutorOptions(options: ExecutorOptions): ResolvedExecutorOptions {
  return check("BAD_OPTION", schema, options, "executor");
}

const timeoutSchema = v.object({ timeoutMs: milliseconds });

/** @throws {EvershellError} `BAD_ARGUMENT` */
export function checkTimeout(timeoutMs: number): void {
  check("BAD_ARGUMENT", timeoutSchema, { timeoutMs }, "bash");
}
