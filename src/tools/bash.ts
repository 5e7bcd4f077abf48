/** The persistent `bash` tool: one shell per owner, and what becomes of a command there. */

import * as v from "valibot";
import { orAborted } from "../core/abort.ts";
import { checkCommand } from "../core/arguments.ts";
import {
  EvershellError,
  type InFlight,
  type RunOptions,
  type RunResult,
  type Shell,
  type ShellOptions,
} from "../core/index.ts";
import { flag, milliseconds } from "../core/schemas.ts";
import type { Backend, Backends } from "./backends.ts";
import { presentBashCall, presentBashResult } from "./bash-cards.ts";
import { bashText, quote } from "./bash-text.ts";
import { type BashRun, type BashValue, bashValueSchema } from "./bash-value.ts";
import type { ResolvedToolsConfig } from "./config.ts";
import { type OwnedTerminals, SHELL_ID } from "./owned-terminals.ts";
import type { Owners } from "./owners.ts";
import type { Policy } from "./policy.ts";
import {
  cancelled,
  checkArguments,
  described,
  jsonSchemaOf,
  type ObjectSchema,
  type Tool,
  type ToolContext,
  type ToolResult,
} from "./tool.ts";

const parameters = v.object({
  command: v.optional(
    described(v.string("must be a string"), "What bash is to run; any number of lines."),
  ),
  timeoutMs: v.optional(described(milliseconds, "Stop the command after so many milliseconds.")),
  waitMs: v.optional(
    described(milliseconds, "Come back after so many milliseconds; the command runs on, see wait."),
  ),
  wait: v.optional(
    described(
      flag,
      "Without command: go on waiting for the command in flight; brings only what is new.",
    ),
  ),
  restart: v.optional(
    described(
      flag,
      "Reset the shell first: fresh directory and environment. The command may be left out.",
    ),
  ),
});

type BashArguments = v.InferOutput<typeof parameters>;

const NAME = "bash";

export class BashTool implements Tool<BashValue> {
  readonly name: string = NAME;
  readonly description: string;
  readonly parameters: ObjectSchema = jsonSchemaOf(parameters);
  readonly result: ObjectSchema = jsonSchemaOf(bashValueSchema);
  readonly readOnly: boolean = false;
  readonly presentCall: typeof presentBashCall = presentBashCall;
  readonly presentResult: typeof presentBashResult = presentBashResult;
  readonly #owners: Owners<OwnedTerminals>;
  readonly #backends: Backends;
  readonly #config: ResolvedToolsConfig;
  readonly #policy: Policy;
  /** What is left to tell of a command that has ended. */
  readonly #earlier = new WeakMap<OwnedTerminals, BashRun>();

  constructor(
    owners: Owners<OwnedTerminals>,
    backends: Backends,
    config: ResolvedToolsConfig,
    policy: Policy,
  ) {
    this.#policy = policy;
    this.#owners = owners;
    this.#backends = backends;
    this.#config = config;
    this.description = config.description;
  }

  /**
   * @throws {EvershellError} `NO_OWNER`, `NO_BACKEND`, `BAD_ARGUMENT`; `BUSY` while a command is in flight;
   * `NOT_RUNNING` for `wait` without one; `ABORTED`; `CLOSED`; what opening a shell throws
   */
  async execute(args: unknown, context: ToolContext): Promise<ToolResult<BashValue>> {
    const { owner, signal = null } = context;
    const value = await this.#owners.use(owner, NAME, async (owned) => {
      const frozen = this.#policy.freeze(NAME, args);
      const checked = checkBashArguments(frozen);
      const backend = this.#backends.get(this.#config.backendType);
      try {
        return await owned.turns.take(async () => {
          // In its turn, so that a decision that takes long does not let a later call go first.
          await this.#policy.decide(NAME, frozen, context);
          const done = await this.#call(owned, backend, checked, context);
          if (signal?.aborted) await owned.resetShell();
          if (signal?.aborted) throw cancelled(signal);
          if (done.earlier !== null) this.#earlier.delete(owned);
          return done;
        }, signal);
      } catch (error) {
        // Whatever else went wrong by then, the caller knows why.
        if (signal?.aborted) throw cancelled(signal);
        throw error;
      }
    });
    return { value, text: bashText(value) };
  }

  async #call(
    owned: OwnedTerminals,
    backend: Backend,
    args: BashArguments,
    context: ToolContext,
  ): Promise<BashValue> {
    owned.refuseIfClosed();
    const { command, wait, restart: restarted = false } = args;
    if (wait) return { earlier: null, restarted, run: await this.#wait(owned, args, context) };
    if (!restarted) refuseIfBusy(owned.shell?.inFlight ?? null);
    const rest = this.#earlier.get(owned) ?? (await this.#fetchEarlier(owned.shell));
    const earlier = restarted ? withoutSpill(rest) : rest;
    // Until a result has brought it.
    if (earlier !== null) this.#earlier.set(owned, earlier);
    if (restarted) await owned.resetShell();
    if (command === undefined) return { earlier, restarted, run: null };
    const opening = owned.useShell(
      (cwd) => backend.openShell(this.#shellOptions(cwd)),
      backend.isFar ? undefined : context.cwd,
    );
    const shell = await orAborted(opening, context.signal ?? null);
    const result = await listening(context, (options) =>
      shell.run(command, {
        ...(args.timeoutMs !== undefined && { timeoutMs: args.timeoutMs }),
        ...(args.waitMs !== undefined && { waitMs: args.waitMs }),
        ...options,
      }),
    );
    return { earlier, restarted, run: this.#describe(command, result) };
  }

  /** Goes on waiting for the command in flight. */
  async #wait(owned: OwnedTerminals, args: BashArguments, context: ToolContext): Promise<BashRun> {
    const shell = owned.shell;
    const inFlight = shell?.inFlight;
    if (!shell || !inFlight) {
      throw new EvershellError(
        "NOT_RUNNING",
        "bash: there is no command in flight to wait for: pass a command",
      );
    }
    const result = await listening(context, (options) =>
      shell.wait({ ...(args.waitMs !== undefined && { waitMs: args.waitMs }), ...options }),
    );
    return this.#describe(inFlight.command, result);
  }

  /** What an earlier call left in flight, and has ended. */
  async #fetchEarlier(shell: Shell | null): Promise<BashRun | null> {
    const inFlight = shell?.inFlight;
    return shell && inFlight?.over ? this.#describe(inFlight.command, await shell.wait()) : null;
  }

  #describe(command: string, result: RunResult): BashRun {
    return { command, keep: this.#config.keep, ...result };
  }

  #shellOptions(cwd: string | undefined): ShellOptions {
    const { timeoutMs, maxOutputChars, keep, onTimeout, shell } = this.#config;
    return {
      ...shell,
      timeoutMs,
      maxOutputChars,
      keep,
      onTimeout,
      ...(cwd !== undefined && { cwd }),
    };
  }
}

/** Runs or waits, so that the caller hears the output for as long as its call lasts. */
async function listening(
  { signal, onOutput }: ToolContext,
  act: (options: Pick<RunOptions, "signal" | "onOutput">) => Promise<RunResult>,
): Promise<RunResult> {
  // The shell keeps what it is given: the caller, whom a listener may know, is not to be kept with it.
  let listener = onOutput;
  try {
    return await act({
      ...(signal !== undefined && { signal }),
      ...(onOutput !== undefined && { onOutput: (text) => listener?.(text) }),
    });
  } finally {
    listener = undefined;
  }
}

/** The complete output goes with the shell. */
function withoutSpill(run: BashRun | null): BashRun | null {
  return run?.clip ? { ...run, clip: { ...run.clip, spillPath: null } } : run;
}

/** @throws {EvershellError} `BAD_ARGUMENT` */
function checkBashArguments(args: unknown): BashArguments {
  const checked = checkArguments(NAME, parameters, args);
  const { command, wait, restart, timeoutMs } = checked;
  if (command !== undefined && wait) {
    throw badArguments("wait goes without command: it waits for the command in flight");
  }
  if (command !== undefined ? command.trim() === "" : !wait && !restart) {
    throw badArguments(
      "command is empty: pass the text that bash is to run, wait: true or restart: true",
    );
  }
  if (wait && restart) throw badArguments("wait and restart exclude each other");
  if (command === undefined && timeoutMs !== undefined) {
    throw badArguments("timeoutMs goes with command: it is set when the command starts");
  }
  if (command !== undefined) checkCommand(command);
  return checked;
}

function badArguments(why: string): EvershellError {
  return new EvershellError("BAD_ARGUMENT", `${NAME}: ${why}`);
}

/** Nothing is ever typed into a program that runs. */
function refuseIfBusy(inFlight: InFlight | null): void {
  if (inFlight === null || inFlight.over) return;
  const { command, waiting } = inFlight;
  const state =
    waiting === null
      ? "is still running: go on waiting with wait: true, type into it with terminal_send"
      : `waits for ${waiting.password ? "a password" : "input"} (${waiting.program}): answer with terminal_send`;
  throw new EvershellError(
    "BUSY",
    `the command was not run, since an earlier one (${quote(command)}) ${state} (terminal_id "${SHELL_ID}"), ` +
      "stop it with terminal_signal, or reset the shell with restart: true",
  );
}
