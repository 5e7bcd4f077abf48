/** What a host can set for its tools, and every default. */

import * as v from "valibot";
import { check } from "../core/check.ts";
import type { BashExecutor } from "../core/executor.ts";
import type { Keep, StopPolicy } from "../core/index.ts";
import { checkHostOptions, type HostOptions } from "../core/options.ts";
import { argv, characters, flag, milliseconds, oneOf, text } from "../core/schemas.ts";
import { type Backend, LOCAL_BACKEND, type ProgramBackend } from "./backends.ts";
import type { ApprovalFunction, PreExecuteListener } from "./policy.ts";

/** Options of the tools. */
export interface ToolsConfig {
  /** The backend that each owner's shell is opened on. Default `"shell"`: this machine. */
  readonly backendType?: string;
  /** Milliseconds that one command may take. Default 300 000. */
  readonly timeoutMs?: number;
  /** Characters (UTF-16 code units) of output kept in the text of a result; the notes come on top. Default 16 000. */
  readonly maxOutputChars?: number;
  /** Which part of a longer output is kept. Default `"head"`. */
  readonly keep?: Keep;
  /** What a timeout does to the shell. Default `"reset"`. */
  readonly onTimeout?: StopPolicy;
  /** What the model is told of the `bash` tool; hosts describe their environment here. */
  readonly description?: string;
  /** More backends, by name. */
  readonly backends?: Readonly<Record<string, Backend | ProgramBackend>>;
  /** Options of every shell: its environment, its size and the like. */
  readonly shell?: HostOptions;
  /**
   * Which bash the model gets: one that stays (`"persistent"`, the default), a fresh one for each command
   * (`"one-shot"`), or both, the second then under the name `bash_once`.
   */
  readonly tools?: "persistent" | "one-shot" | "both";
  /** What runs one-shot commands. Default: this machine. */
  readonly executor?: BashExecutor;
  /** Confines one-shot commands of this machine (Linux, bubblewrap). Default false. */
  readonly sandbox?: boolean | SandboxConfig;
  /** Whether a one-shot command may be left running. Default true. */
  readonly enableRunInBackground?: boolean;
  /** Whether there is a runtime for background tasks, with its tools. Default: where there is a one-shot bash. */
  readonly tasks?: boolean;
  /** They see every call before it is carried out, and allow it, deny it, or have it approved. */
  readonly preExecute?: readonly PreExecuteListener[];
  /** Asks a person. Without it, what is to be asked is denied. */
  readonly approve?: ApprovalFunction;
}

/** How one-shot commands are confined. */
export interface SandboxConfig {
  /** The folder that they may write to. Default: the host's working directory. */
  readonly workspace?: string;
  /** Whether they reach the network. Default false. */
  readonly network?: boolean;
}

/** The same with every default filled in. */
export interface ResolvedToolsConfig
  extends Required<Omit<ToolsConfig, "executor" | "approve" | "sandbox">> {
  readonly executor: BashExecutor | null;
  readonly approve: ApprovalFunction | null;
  readonly sandbox: SandboxConfig | null;
}

const DESCRIPTION = `Runs a command in a bash that stays: one persistent shell on a real terminal. The working \
directory, variables, functions, aliases, options and background jobs live on from call to call, so \`cd\`, \`export\` \
and an activated environment are still there next time.
- The result is exactly what the command printed (stdout and stderr as they came), then a line in brackets with how it \
ended. Check the exit code, and look into a non-zero one before going on.
- Any text that bash takes: several lines, here-documents, quotes. Do not add an "echo done" or wrap it in \`bash -c\`.
- A command that takes long: set waitMs to come back early; it runs on, and \`wait: true\` goes on waiting. Start a \
server with \`&\`.
- If the result says that a program waits for input, answer with terminal_send (terminal_id "shell").
- \`restart: true\` gives a fresh shell.`;

const backend = v.union(
  [
    v.strictObject({ argv, cwd: v.optional(text) }),
    v.object({ openShell: v.function(), openTerminal: v.function() }),
  ],
  'must be {"argv": [program, …arguments], "cwd"?}, or have openShell and openTerminal',
);

const entries = {
  backendType: v.optional(text, LOCAL_BACKEND),
  timeoutMs: v.optional(milliseconds, 300_000),
  maxOutputChars: v.optional(characters, 16_000),
  keep: v.optional(oneOf("head", "tail", "both"), "head"),
  onTimeout: v.optional(oneOf("reset", "interrupt"), "reset"),
  description: v.optional(text, DESCRIPTION),
  backends: v.optional(v.record(text, backend), {}),
  shell: v.optional(v.looseObject({}, "must be an object of options"), {}),
  tools: v.optional(oneOf("persistent", "one-shot", "both"), "persistent"),
  executor: v.optional(
    v.object(
      { resolve: v.function(), run: v.function(), start: v.function(), close: v.function() },
      "must have resolve, run, start and close",
    ),
  ),
  sandbox: v.optional(
    v.union(
      [flag, v.strictObject({ workspace: v.optional(text), network: v.optional(flag) })],
      'must be true, false or {"workspace"?, "network"?}',
    ),
    false,
  ),
  enableRunInBackground: v.optional(flag, true),
  tasks: v.optional(flag),
  preExecute: v.optional(v.array(v.function(), "must be an array of functions"), []),
  approve: v.optional(v.function("must be a function")),
};

const schema = v.strictObject(entries);

/** @throws {EvershellError} `BAD_OPTION`, naming the key, the rule and the value */
export function resolveToolsConfig(config: ToolsConfig): ResolvedToolsConfig {
  const resolved = check("BAD_OPTION", schema, config, "config");
  checkHostOptions(resolved.shell, "config: shell");
  // As they were given: a backend may be an object of a class.
  const { backends = {}, executor = null, approve = null, preExecute = [] } = config;
  const { sandbox, tools } = resolved;
  return {
    ...(resolved as ResolvedToolsConfig),
    backends,
    executor,
    approve,
    preExecute,
    tasks: resolved.tasks ?? tools !== "persistent",
    sandbox: sandbox === true ? {} : sandbox === false ? null : (sandbox as SandboxConfig),
  };
}
