/** What stands before every call: listeners that allow it, deny it, or have a person asked. */

import { orAborted } from "../core/abort.ts";
import { EvershellError } from "../core/index.ts";
import { cancelled, type Tool, type ToolContext, toolParts } from "./tool.ts";

/** A call that is about to be carried out, frozen: a listener decides, and changes nothing. */
export interface PendingCall {
  readonly tool: string;
  /** As the model gave them. */
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

/** Decides on calls. What goes wrong with deciding is a denial. */
export class Policy {
  readonly #listeners: readonly PreExecuteListener[];
  readonly #approve: ApprovalFunction | null;

  /**
   * @param listeners each sees every call, in this order, until one denies it; without any all is allowed
   * @param approve without it, what is to be asked is denied
   */
  constructor(listeners: readonly PreExecuteListener[], approve: ApprovalFunction | null) {
    this.#listeners = listeners;
    this.#approve = approve;
  }

  get allowsAll(): boolean {
    return this.#listeners.length === 0;
  }

  /**
   * The arguments as they are decided on, and as they are to run: nobody can change them any more.
   * @throws {EvershellError} `BAD_ARGUMENT` for what is no data
   */
  freeze(tool: string, args: unknown): unknown {
    if (this.allowsAll) return args;
    try {
      return deepFreeze(structuredClone(args));
    } catch (cause) {
      throw new EvershellError("BAD_ARGUMENT", `${tool}: the arguments are no data of JSON`, {
        cause,
      });
    }
  }

  /** @throws {EvershellError} `DENIED`; `ABORTED` if the call is cancelled meanwhile */
  async decide(tool: string, args: unknown, { owner, cwd, signal }: ToolContext): Promise<void> {
    if (this.allowsAll) return;
    const call = Object.freeze({ tool, args, owner, ...(cwd !== undefined && { cwd }) });
    await orAborted(this.#decide(call, signal), signal ?? null);
  }

  async #decide(call: PendingCall, signal: AbortSignal | undefined): Promise<void> {
    const questions: string[] = [];
    for (const listener of this.#listeners) {
      const decision = await orDenied("a listener failed", async () => listener(call));
      if (decision?.kind === "deny") throw denied(decision.reason);
      if (decision?.kind === "ask") questions.push(decision.question);
      else if (decision !== undefined && decision?.kind !== "allow") {
        throw denied("a listener answered something that is no decision");
      }
    }
    for (const question of questions) await this.#ask(call, question, signal);
  }

  async #ask(call: PendingCall, question: string, signal: AbortSignal | undefined): Promise<void> {
    const approve = this.#approve;
    if (approve === null) throw denied(`${question} (there is nobody to approve it)`);
    const why = `not approved, since asking failed: ${question}`;
    if ((await orDenied(why, async () => approve(call, question, signal))) === true) return;
    throw denied(`not approved: ${question}`);
  }
}

/** The tool under a policy. */
export function withPolicy<Value extends object>(tool: Tool<Value>, policy: Policy): Tool<Value> {
  if (policy.allowsAll) return tool;
  return {
    ...toolParts(tool),
    async execute(args, context) {
      const frozen = policy.freeze(tool.name, args);
      try {
        await policy.decide(tool.name, frozen, context);
      } catch (error) {
        if (context.signal?.aborted) throw cancelled(context.signal);
        throw error;
      }
      return tool.execute(frozen, context);
    },
  };
}

/** @throws {EvershellError} `DENIED` */
async function orDenied<T>(reason: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    throw denied(reason, cause);
  }
}

function denied(reason: string, cause?: unknown): EvershellError {
  return new EvershellError("DENIED", reason, { cause });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value)) {
    for (const part of Object.values(value)) deepFreeze(part);
    Object.freeze(value);
  }
  return value;
}
