/** What stands before every call: listeners that allow it, deny it, or have a person asked. */

import { EvershellError } from "../core/index.ts";
import { type Tool, type ToolContext, toolParts } from "./tool.ts";

/** A call that is about to be carried out. */
export interface PendingCall {
  readonly tool: string;
  /** As the model gave them, and frozen: a listener decides, and changes nothing. */
  readonly args: unknown;
  readonly owner: ToolContext["owner"];
  readonly cwd?: string;
}

export type Decision =
  | { readonly kind: "allow" }
  /** The model is told the reason. */
  | { readonly kind: "deny"; readonly reason: string }
  /** The host's approval function decides. */
  | { readonly kind: "ask"; readonly question: string };

/** Looks at a call; undefined leaves the decision to the next listener. */
export type PreExecuteListener = (
  call: PendingCall,
) => Decision | undefined | Promise<Decision | undefined>;

/** Asks a person; only `true` lets the call go on. */
export type ApprovalFunction = (
  call: PendingCall,
  question: string,
  signal: AbortSignal | undefined,
) => boolean | Promise<boolean>;

export interface Policy {
  /** Each sees every call, in this order, until one denies it. By default all is allowed. */
  readonly preExecute?: readonly PreExecuteListener[];
  /** Without one, what is to be asked is denied. */
  readonly approve?: ApprovalFunction;
}

/** The tool under a policy. */
export function withPolicy<Value extends object>(tool: Tool<Value>, policy: Policy): Tool<Value> {
  const { preExecute: listeners = [], approve } = policy;
  if (listeners.length === 0) return tool;
  return {
    ...toolParts(tool),
    async execute(args, context) {
      const frozen = deepFreeze(structuredClone(args));
      const { owner, cwd, signal } = context;
      const call = { tool: tool.name, args: frozen, owner, ...(cwd !== undefined && { cwd }) };
      for (const question of await questionsOn(call, listeners)) {
        if (approve === undefined) throw denied(`${question} (there is nobody to approve it)`);
        await requireApproval(approve, call, question, signal);
      }
      // What was decided on is what runs.
      return tool.execute(frozen, context);
    },
  };
}

/** @throws {EvershellError} `DENIED`, also if nobody could be asked */
async function requireApproval(
  approve: ApprovalFunction,
  call: PendingCall,
  question: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  let answer: boolean;
  try {
    answer = await approve(call, question, signal);
  } catch (cause) {
    throw denied(`not approved, since asking failed: ${question}`, cause);
  }
  if (answer !== true) throw denied(`not approved: ${question}`);
}

/** @throws {EvershellError} `DENIED` */
async function questionsOn(
  call: PendingCall,
  listeners: readonly PreExecuteListener[],
): Promise<string[]> {
  const questions: string[] = [];
  for (const listener of listeners) {
    const decision = await listener(call);
    if (decision?.kind === "deny") throw denied(decision.reason);
    if (decision?.kind === "ask") questions.push(decision.question);
  }
  return questions;
}

function denied(reason: string, cause?: unknown): EvershellError {
  return new EvershellError("DENIED", reason, { cause });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    for (const part of Object.values(value)) deepFreeze(part);
    Object.freeze(value);
  }
  return value;
}
