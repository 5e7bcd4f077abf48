/** Every option and every default, in one place. Inside the core each field is present. */

import * as v from "valibot";
import type { RcFiles } from "./bash.ts";
import { check } from "./check.ts";
import type { Keep } from "./clip.ts";
import { argv, cells, characters, flag, milliseconds, oneOf, text } from "./schemas.ts";
import type { ScrubOptions } from "./scrub.ts";
import type { OnOutput } from "./teller.ts";

/** What happens to the shell when a command has to be stopped. */
export type StopPolicy =
  /** The shell is closed, with everything that it started. */
  | "reset"
  /**
   * SIGINT, then SIGKILL for the foreground group; the shell is kept only if it is proved to be back at its
   * prompt, else it is closed.
   */
  | "interrupt";

/** Options of one command. */
export interface RunOptions {
  /** Milliseconds after which the command is stopped; null for no limit. Default 300 000. */
  readonly timeoutMs?: number | null;
  /** Milliseconds after which the result comes while the command runs on; null (default) to wait for its end. */
  readonly waitMs?: number | null;
  /** Cancels: the call rejects with `ABORTED`, and the command is stopped as `onAbort` says. */
  readonly signal?: AbortSignal;
  /** Receives the output as it comes. While a promise that it returned is pending, the command is held up. */
  readonly onOutput?: OnOutput;
  /** Characters (UTF-16 code units) of output kept in a result. Default 1 000 000. */
  readonly maxOutputChars?: number;
  /** Which part of a longer output is kept. Default `"head"`. */
  readonly keep?: Keep;
  /** What `timeoutMs` does to the shell. Default `"reset"`. */
  readonly onTimeout?: StopPolicy;
  /** What `signal` does to the shell. Default `"reset"`. */
  readonly onAbort?: StopPolicy;
}

/** Options of a shell. Those of `run` given here are its defaults. */
export interface ShellOptions extends Omit<RunOptions, "signal" | "onOutput" | "waitMs"> {
  /** Working directory in which each bash starts. Default: that of the host. */
  readonly cwd?: string;
  /** Environment variables that are set besides the host's, or removed (`undefined`). */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Size of the terminal in cells, 1 to 1000. Default 120 × 40. */
  readonly cols?: number;
  readonly rows?: number;
  /** Which start-up files bash reads: none (default), or `/etc/bash.bashrc` and `~/.bashrc`. */
  readonly rc?: RcFiles;
  /** The bash to start: a path, or a name looked up in `PATH`. Default `"bash"`. */
  readonly bash?: string;
  /**
   * A program and its arguments through which bash is reached, such as `["ssh", "-tt", "host"]`: whatever shell that
   * leads to becomes the bash of this shell. It has to start without asking questions; `cwd`, `env` and `bash` are
   * those of the far side. Default: bash runs on this machine.
   */
  readonly backend?: readonly [string, ...string[]] | null;
  /** After bash has ended: the next `run` opens a fresh one (default), or throws `CLOSED`. */
  readonly onShellEnd?: "reopen" | "close";
  /** Folder for the complete output of commands whose result is clipped. Default: the temporary folder. */
  readonly spillDir?: string;
  /** Milliseconds that bash may take to come to its first prompt or to take a command. Default 10 000. */
  readonly startTimeoutMs?: number;
  /** Milliseconds between a gentle signal and the next, harsher one. Default 3 000. */
  readonly graceMs?: number;
  /**
   * Leave alone, when bash ends or is closed, what has made itself independent of it: processes that left its session
   * (`setsid`) or ignore SIGHUP (`nohup`). Default false: everything that was started from the shell is ended.
   */
  readonly keepDetached?: boolean;
  /**
   * Whether secrets of the host's environment are kept from the commands, told by their names (`API_KEY`, `DB_PASSWORD`)
   * or values (URLs with a password): true (default), false, or names that are let through or kept back besides. What
   * `env` names is always set.
   */
  readonly scrub?: boolean | ScrubOptions;
}

const envName = v.pipe(v.string(), v.regex(/^[^=\0]+$/, 'must have names without "=" and NUL'));
const envValue = v.pipe(
  v.string("must be a string or undefined"),
  v.regex(/^[^\0]*$/, "must be without NUL"),
);

const names = v.array(text, "must be an array of names");

/** Null: nothing is scrubbed. */
export const scrubSchema: v.GenericSchema<boolean | ScrubOptions, ScrubOptions | null> = v.pipe(
  v.union(
    [v.boolean(), v.strictObject({ allow: v.optional(names), deny: v.optional(names) })],
    'must be true, false or {"allow"?: [names], "deny"?: [names]}',
  ),
  v.transform((given) => (given === true ? {} : given === false ? null : given)),
);

const runEntries = {
  timeoutMs: v.optional(v.nullable(milliseconds), 300_000),
  maxOutputChars: v.optional(characters, 1_000_000),
  keep: v.optional(oneOf("head", "tail", "both"), "head"),
  onTimeout: v.optional(oneOf("reset", "interrupt"), "reset"),
  onAbort: v.optional(oneOf("reset", "interrupt"), "reset"),
};

const shellSchema = v.strictObject({
  ...runEntries,
  cwd: v.optional(text),
  env: v.optional(v.record(envName, v.optional(envValue)), {}),
  cols: v.optional(cells, 120),
  rows: v.optional(cells, 40),
  rc: v.optional(oneOf("none", "user"), "none"),
  bash: v.optional(text, "bash"),
  backend: v.optional(v.nullable(argv), null),
  onShellEnd: v.optional(oneOf("reopen", "close"), "reopen"),
  spillDir: v.optional(text),
  startTimeoutMs: v.optional(milliseconds, 10_000),
  graceMs: v.optional(milliseconds, 3_000),
  keepDetached: v.optional(flag, false),
  scrub: v.optional(scrubSchema, true),
});

const waitEntries = {
  waitMs: v.optional(v.nullable(milliseconds), null),
  signal: v.optional(v.instance(AbortSignal, "must be an AbortSignal")),
  onOutput: v.optional(v.function("must be a function")),
};

const runSchema = v.strictObject({
  ...v.partial(v.object(runEntries)).entries,
  ...waitEntries,
});

const NO_RUN_OPTIONS: v.InferOutput<typeof runSchema> = { waitMs: null };

const waitSchema = v.strictObject(waitEntries);

/**
 * Options that a host sets once for all shells of its agents.
 * @throws {EvershellError} `BAD_OPTION`
 */
export function checkHostOptions(options: HostOptions, caller: string): HostOptions {
  check("BAD_OPTION", hostSchema, options, caller);
  return options;
}

export type HostOptions = Pick<ShellOptions, (typeof HOST_OPTIONS)[number]>;

const HOST_OPTIONS = [
  "env",
  "cols",
  "rows",
  "rc",
  "bash",
  "spillDir",
  "startTimeoutMs",
  "graceMs",
  "keepDetached",
  "scrub",
] as const;

const hostSchema = v.strictObject(v.pick(shellSchema, HOST_OPTIONS).entries);

/** Options of a shell with every default filled in. */
export interface ResolvedShellOptions {
  readonly timeoutMs: number | null;
  readonly maxOutputChars: number;
  readonly keep: Keep;
  readonly onTimeout: StopPolicy;
  readonly onAbort: StopPolicy;
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cols: number;
  readonly rows: number;
  readonly rc: RcFiles;
  readonly bash: string;
  readonly backend: readonly [string, ...string[]] | null;
  readonly onShellEnd: "reopen" | "close";
  readonly spillDir?: string | undefined;
  readonly startTimeoutMs: number;
  readonly graceMs: number;
  readonly keepDetached: boolean;
  readonly scrub: ScrubOptions | null;
}

/** Options of one command with every default filled in. */
export interface ResolvedRunOptions extends ResolvedWaitOptions {
  readonly timeoutMs: number | null;
  readonly maxOutputChars: number;
  readonly keep: Keep;
  readonly onTimeout: StopPolicy;
  readonly onAbort: StopPolicy;
}

/** How long a call waits, what cancels it, and who hears the output. */
export interface ResolvedWaitOptions {
  readonly waitMs: number | null;
  readonly signal: AbortSignal | null;
  readonly onOutput: OnOutput | null;
}

/** @throws {EvershellError} `BAD_OPTION` */
export function resolveShellOptions(options: ShellOptions): ResolvedShellOptions {
  return check("BAD_OPTION", shellSchema, options, "openShell");
}

const sizeSchema = v.strictObject({ cols: cells, rows: cells });

/** @throws {EvershellError} `BAD_OPTION` */
export function resolveSize(size: { cols: number; rows: number }): { cols: number; rows: number } {
  return check("BAD_OPTION", sizeSchema, size, "resize");
}

/** @throws {EvershellError} `BAD_OPTION` */
export function resolveRunOptions(
  options: RunOptions | undefined,
  defaults: ResolvedShellOptions,
): ResolvedRunOptions {
  // Most commands have no options of their own, and the check costs as much as all else here.
  const given =
    options === undefined ? NO_RUN_OPTIONS : check("BAD_OPTION", runSchema, options, "run");
  return {
    timeoutMs: given.timeoutMs === undefined ? defaults.timeoutMs : given.timeoutMs,
    maxOutputChars: given.maxOutputChars ?? defaults.maxOutputChars,
    keep: given.keep ?? defaults.keep,
    onTimeout: given.onTimeout ?? defaults.onTimeout,
    onAbort: given.onAbort ?? defaults.onAbort,
    ...resolvedWait(given),
  };
}

/** Options of `wait`. An `onOutput` takes the place of the one before. */
export type WaitOptions = Pick<RunOptions, "waitMs" | "signal" | "onOutput">;

/** @throws {EvershellError} `BAD_OPTION` */
export function resolveWaitOptions(options: WaitOptions): ResolvedWaitOptions {
  return resolvedWait(check("BAD_OPTION", waitSchema, options, "wait"));
}

function resolvedWait(given: v.InferOutput<typeof waitSchema>): ResolvedWaitOptions {
  return {
    waitMs: given.waitMs,
    signal: given.signal ?? null,
    onOutput: (given.onOutput as OnOutput | undefined) ?? null,
  };
}

/** Options of `send`. */
export interface SendOptions {
  /** Milliseconds after which the call comes back in any case. Default 10 000. */
  readonly waitMs?: number;
  /** Cancels the waiting; what was typed stays typed. */
  readonly signal?: AbortSignal;
}

/** The same with every default filled in. */
export interface ResolvedSendOptions {
  readonly waitMs: number;
  readonly signal: AbortSignal | null;
}

const sendSchema = v.strictObject({
  waitMs: v.optional(milliseconds, 10_000),
  signal: waitEntries.signal,
});

/** @throws {EvershellError} `BAD_OPTION` */
export function resolveSendOptions(options: SendOptions = {}): ResolvedSendOptions {
  const { waitMs, signal = null } = check("BAD_OPTION", sendSchema, options, "send");
  return { waitMs, signal };
}

/** Options of a terminal. */
export interface TerminalOptions
  extends Pick<ShellOptions, "cwd" | "env" | "cols" | "rows" | "keepDetached" | "scrub"> {
  /** The program and its arguments. Default: an interactive bash. */
  readonly argv?: readonly [string, ...string[]] | null;
}

const terminalSchema = v.strictObject({
  argv: v.optional(v.nullable(argv), null),
  ...v.pick(shellSchema, ["cwd", "env", "cols", "rows", "keepDetached", "scrub"]).entries,
});

/** The same with every default filled in. */
export interface ResolvedTerminalOptions
  extends Pick<ResolvedShellOptions, "cwd" | "env" | "cols" | "rows" | "keepDetached" | "scrub"> {
  readonly argv: readonly [string, ...string[]] | null;
}

/** @throws {EvershellError} `BAD_OPTION` */
export function resolveTerminalOptions(options: TerminalOptions): ResolvedTerminalOptions {
  return check("BAD_OPTION", terminalSchema, options, "openTerminal");
}
