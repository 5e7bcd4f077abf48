/** The tools that a model sees, and the owners whose shells they use. A composition root gives them a machine. */

import type { BashExecutor } from "../core/executor.ts";
import type { ExecutorOptions } from "../core/executor-options.ts";
import type { HostOptions } from "../core/options.ts";
import { type Backend, Backends } from "./backends.ts";
import { BashTool } from "./bash.ts";
import { bashOnceTool, type OnceValue, oncePromptSection } from "./bash-once.ts";
import type { BashValue } from "./bash-value.ts";
import {
  type ResolvedToolsConfig,
  resolveToolsConfig,
  type SandboxConfig,
  type ToolsConfig,
} from "./config.ts";
import { OwnedCalls } from "./owned-calls.ts";
import { OwnedTerminals } from "./owned-terminals.ts";
import { Owners } from "./owners.ts";
import { Policy, withPolicy } from "./policy.ts";
import { taskTools, withNotices } from "./task-tools.ts";
import { TaskRuntime } from "./tasks.ts";
import { terminalTools } from "./terminals.ts";
import type { Owner, Tool } from "./tool.ts";

export type { Backend, ProgramBackend } from "./backends.ts";
export type { OnceValue } from "./bash-once.ts";
export { bashText } from "./bash-text.ts";
export type { BashRun, BashValue } from "./bash-value.ts";
export type { Card, GenericCard, TerminalCard } from "./cards.ts";
export type { SandboxConfig, ToolsConfig } from "./config.ts";
export { onceText } from "./once-text.ts";
export type { ApprovalFunction, Decision, PendingCall, PreExecuteListener } from "./policy.ts";
export { processOutcome, renderProcessRead } from "./process-task.ts";
export {
  type TaskEnd,
  type TaskInfo,
  type TaskOutput,
  type TaskProducer,
  type TaskReading,
  TaskRuntime,
} from "./tasks.ts";
export type {
  ObjectSchema,
  Owner,
  Tool,
  ToolContext,
  ToolFailure,
  ToolResult,
} from "./tool.ts";

/** What the tools need of a machine. */
export interface Machine extends Backend {
  /** Makes an executor of one-shot commands; confined as `sandbox` says, or not at all for null. */
  openExecutor(options: ExecutorOptions, sandbox: SandboxConfig | null): BashExecutor;
}

/** A sentence for a host's system prompt, and where it stands among others. */
export interface PromptSection {
  readonly name: string;
  readonly order: number;
  readonly text: string;
}

/** A set of tools that share their owners. */
export interface Tools extends AsyncDisposable {
  /** The persistent bash; null if it is not among the tools. */
  readonly bash: Tool<BashValue> | null;
  /** The one-shot bash; null if it is not among the tools. */
  readonly bashOnce: Tool<OnceValue> | null;
  /** All of them. */
  readonly all: readonly Tool[];
  /** Where background tasks are; other producers may register theirs. Null if there are none. */
  readonly tasks: TaskRuntime | null;
  readonly promptSections: readonly PromptSection[];
  /** Ends all that belongs to an owner, with everything that was started there. */
  disposeOwner(owner: Owner): Promise<void>;
  /** The same for every owner, for good. */
  dispose(): Promise<void>;
}

/** A set that has the persistent bash. */
export interface PersistentTools extends Tools {
  readonly bash: Tool<BashValue>;
}

/** The default: the persistent bash is among the tools. */
export type PersistentToolsConfig = ToolsConfig & { readonly tools?: "persistent" | "both" };

/**
 * Makes the tools.
 *
 * @param machine opens shells, terminals and executors on this machine
 * @throws {EvershellError} `BAD_OPTION`, naming the key, the rule and the value received
 */
export function createToolsOn(machine: Machine, config?: PersistentToolsConfig): PersistentTools;
export function createToolsOn(machine: Machine, config?: ToolsConfig): Tools;
export function createToolsOn(machine: Machine, config: ToolsConfig = {}): Tools {
  const resolved = resolveToolsConfig(config);
  const { tools: which, approve, preExecute } = resolved;
  const owners = new Owners(() => new OwnedTerminals());
  const backends = new Backends(machine, resolved.backends);
  const tasks = resolved.tasks ? new TaskRuntime() : null;
  const executor = which === "persistent" ? null : executorOf(machine, resolved);
  const policy = new Policy(preExecute, approve);
  const calls = new Owners(() => new OwnedCalls());
  const guard = <Value extends object>(tool: Tool<Value>): Tool<Value> =>
    withPolicy(withNotices(tool, tasks), policy);
  // It decides by itself, in the order of the calls.
  const bash =
    which === "one-shot"
      ? null
      : withNotices(new BashTool(owners, backends, resolved, policy), tasks);
  const { enableRunInBackground } = resolved;
  const besidePersistent = which === "both";
  const name = besidePersistent ? "bash_once" : "bash";
  const bashOnce =
    executor &&
    guard(bashOnceTool({ name, executor, calls, tasks, enableRunInBackground, besidePersistent }));
  const dispose = async (): Promise<void> => {
    // At once: each may take its grace. An executor that was given may serve others too.
    const own = resolved.executor === null ? executor : null;
    await Promise.all([owners.close(), calls.close(), tasks?.dispose(), own?.close()]);
  };
  return {
    bash,
    bashOnce,
    all: [
      ...[bash, bashOnce].filter((tool) => tool !== null),
      ...(bash === null ? [] : terminalTools(owners, backends, resolved).map(guard)),
      ...(tasks === null
        ? []
        : taskTools(tasks).map((tool) => withPolicy(withNotices(tool, tasks, "before"), policy))),
    ],
    tasks,
    promptSections: bashOnce === null ? [] : [oncePromptSection],
    disposeOwner: async (owner) => {
      await Promise.all([owners.dispose(owner), calls.dispose(owner), tasks?.disposeOwner(owner)]);
    },
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

function executorOf(machine: Machine, config: ResolvedToolsConfig): BashExecutor {
  if (config.executor !== null) return config.executor;
  return machine.openExecutor(executorOptionsOf(config.shell), config.sandbox);
}

/** What of the options of shells concerns commands on pipes too. */
export function executorOptionsOf(shell: HostOptions = {}): ExecutorOptions {
  const { env, scrub, graceMs, spillDir } = shell;
  return {
    ...(env !== undefined && { env }),
    ...(scrub !== undefined && { scrub }),
    ...(graceMs !== undefined && { graceMs }),
    ...(spillDir !== undefined && { spillDir }),
  };
}
