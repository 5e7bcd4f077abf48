/** The one-shot `bash` tool: every call is a fresh bash, of which nothing persists. */

import * as v from "valibot";
import { checkCommand } from "../core/arguments.ts";
import type { BashExecutor, BashOutcome, BashProcess, BashSpec } from "../core/executor.ts";
import { EvershellError } from "../core/index.ts";
import { flag, milliseconds, text } from "../core/schemas.ts";
import { presentOnceCall, presentOnceResult } from "./once-cards.ts";
import { onceText } from "./once-text.ts";
import type { OwnedCalls } from "./owned-calls.ts";
import type { Owners } from "./owners.ts";
import { processOutcome } from "./process-task.ts";
import type { TaskRuntime } from "./tasks.ts";
import {
  cancelled,
  checkArguments,
  described,
  jsonSchemaOf,
  type Owner,
  type Tool,
  type ToolContext,
  type ToolResult,
} from "./tool.ts";

/** What a call comes to: the outcome, or the id of a background task. */
export type OnceValue =
  | { readonly outcome: BashOutcome; readonly task_id: null }
  | { readonly outcome: null; readonly task_id: string };

export interface OnceToolParts {
  readonly name: string;
  readonly executor: BashExecutor;
  /** What is being carried out for each owner. */
  readonly calls: Owners<OwnedCalls>;
  /** Where background tasks go; null if there are none. */
  readonly tasks: TaskRuntime | null;
  /** The persistent `bash` is offered too. */
  readonly besidePersistent: boolean;
  /** Whether the model may leave a command running. */
  readonly enableRunInBackground: boolean;
}

const DESCRIPTION = `Runs a command in a fresh bash, on pipes. Nothing persists from call to call: no directory, no variables, \
no functions; pass workdir instead of using cd.
- The result is stdout, then stderr under [stderr], then [exit code: N] if that is not zero. Check it before going on.
- Nobody answers questions: there is no terminal and no input.`;

const IN_BACKGROUND =
  "\n- A command that takes long, such as a server: run_in_background answers at once with the id of a task; see task_output.";

/** Where both are offered. */
const WHEN_TO_CHOOSE =
  "\n- Choose bash for work in which one step builds on another; choose this for a command that stands alone, is not to " +
  "change the state of that shell, or is to run on in the background.";

/** The sentence for a host's system prompt, and where it stands among others. */
export const oncePromptSection: {
  readonly name: string;
  readonly order: number;
  readonly text: string;
} = {
  name: "tool:bash",
  order: 105,
  text: "After every bash call check the result for an [exit code: N] marker, and look into a failure before you move on.",
};

const entries = {
  command: described(v.string("must be a string"), "What bash is to run; any number of lines."),
  description: described(
    text,
    "What the command does, for people who watch: one line, active voice, 5 to 10 words.",
  ),
  timeoutMs: v.optional(
    described(
      milliseconds,
      "Stop the command after so many milliseconds. Default 120 000, at most 600 000.",
    ),
  ),
  workdir: v.optional(
    described(text, "The directory to run in, absolute or relative to the session's."),
  ),
};

const backgroundEntries = {
  ...entries,
  run_in_background: v.optional(
    described(
      flag,
      "Leave the command running, without a time limit, and answer with the id of a task.",
    ),
  ),
};

type OnceArguments = v.InferOutput<ReturnType<typeof schemaOf>>;

const streamSchema = v.object({
  text: v.string(),
  totalBytes: v.number(),
  truncated: v.boolean(),
  spillPath: v.nullable(v.string()),
});

const resultSchema = v.object({
  outcome: v.nullable(
    v.object({
      exitCode: v.nullable(v.number()),
      signal: v.nullable(v.string()),
      timedOutMs: v.nullable(v.number()),
      stdout: streamSchema,
      stderr: streamSchema,
      denials: v.array(v.string()),
      durationMs: v.number(),
    }),
  ),
  task_id: v.nullable(v.string()),
});

export function bashOnceTool(parts: OnceToolParts): Tool<OnceValue> {
  const { name, enableRunInBackground, besidePersistent } = parts;
  const schema = schemaOf(enableRunInBackground);
  return {
    name,
    description: [
      DESCRIPTION,
      enableRunInBackground ? IN_BACKGROUND : "",
      besidePersistent ? WHEN_TO_CHOOSE : "",
    ].join(""),
    parameters: jsonSchemaOf(schema),
    result: jsonSchemaOf(resultSchema),
    readOnly: false,
    presentCall: presentOnceCall,
    presentResult: presentOnceResult,
    async execute(args, context) {
      const given = checkArguments(name, schema, args);
      checkCommand(given.command);
      if (context.signal?.aborted) throw cancelled(context.signal);
      if (isAskedFor(args, "run_in_background") && !enableRunInBackground) {
        throw new EvershellError("NO_TASKS", `${name}: run_in_background is disabled here`);
      }
      const act = given.run_in_background ? runInBackground : run;
      return parts.calls.use(context.owner, name, (owned) =>
        owned.run(context.signal, (signal) => act(parts, given, { ...context, signal })),
      );
    },
  };
}

function schemaOf(
  enableRunInBackground: boolean,
): v.GenericSchema<
  v.InferInput<v.ObjectSchema<typeof backgroundEntries, undefined>>,
  v.InferOutput<v.ObjectSchema<typeof backgroundEntries, undefined>>
> {
  return enableRunInBackground ? v.object(backgroundEntries) : v.object(entries);
}

async function run(
  { executor }: OnceToolParts,
  args: OnceArguments,
  { cwd, signal, onOutput }: ToolContext,
): Promise<ToolResult<OnceValue>> {
  try {
    const outcome = await executor.run(specOf(executor, args, cwd), {
      ...(signal !== undefined && { signal }),
      ...(onOutput !== undefined && { onOutput }),
    });
    if (signal?.aborted) throw cancelled(signal);
    return { value: { outcome, task_id: null }, text: onceText(outcome) };
  } catch (error) {
    if (signal?.aborted) throw cancelled(signal);
    throw error;
  }
}

/** From its start on, the task is cancelled by `task_kill` and with its owner, not by the signal of the call. */
async function runInBackground(
  { name, executor, tasks }: OnceToolParts,
  args: OnceArguments,
  { cwd, owner, signal }: ToolContext,
): Promise<ToolResult<OnceValue>> {
  if (tasks === null) {
    throw new EvershellError(
      "NO_TASKS",
      `${name}: background tasks unavailable: give createTools() a task runtime (tasks: true)`,
    );
  }
  tasks.refuseIfFull(owner);
  const process = await executor.start(specOf(executor, args, cwd));
  if (signal?.aborted) {
    await process.cancel();
    throw cancelled(signal);
  }
  const id = await registered(tasks, owner, args, process);
  return { value: { outcome: null, task_id: id }, text: `started background task ${id}` };
}

async function registered(
  tasks: TaskRuntime,
  owner: Owner,
  { command }: OnceArguments,
  process: BashProcess,
): Promise<string> {
  try {
    return tasks.register({
      kind: "bash",
      label: command,
      owner,
      done: process.done.then(processOutcome),
      cancel: () => process.cancel(),
      readOutput: () => process.readOutput(),
    });
  } catch (error) {
    // Others were started meanwhile, or the owner is gone: nobody would know of it.
    await process.cancel();
    throw error;
  }
}

/** Built from named arguments alone: what else a model sends never reaches the executor. */
function specOf(executor: BashExecutor, args: OnceArguments, cwd: string | undefined): BashSpec {
  const { command, workdir, timeoutMs } = args;
  const directory = resolveAgainst(cwd, workdir);
  return executor.resolve({
    command,
    ...(directory !== undefined && { workdir: directory }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
}

/** Many owners share one executor: a relative directory is that of the owner. */
function resolveAgainst(cwd: string | undefined, workdir: string | undefined): string | undefined {
  if (cwd === undefined || workdir === undefined || workdir.startsWith("/")) return workdir ?? cwd;
  return `${cwd}/${workdir}`;
}

function isAskedFor(args: unknown, name: string): boolean {
  return typeof args === "object" && args !== null && Reflect.get(args, name) === true;
}
