/** What the tests of the one-shot bash and of background tasks share: who calls, and an executor that keeps a record. */

import { onTestFinished } from "vitest";
import type {
  BashExecutor,
  BashOutcome,
  BashProcess,
  BashRequest,
  BashRunOptions,
  BashSpec,
} from "../../src/core/executor.ts";
import {
  createTools,
  type ToolContext,
  type Tools,
  type ToolsConfig,
} from "../../src/node-tools.ts";
import { makeExecutor } from "../executor-support.ts";
import { folder } from "../support.ts";
import { call } from "./support.ts";

/** Somebody who calls tools, and reads the texts that they answer. */
export interface Caller {
  readonly tools: Tools;
  readonly context: ToolContext & { readonly cwd: string };
  /** Runs a command once; a text is the command. */
  bash(args: string | object, more?: Partial<ToolContext>): Promise<string>;
  /** Leaves a command running. Returns the id of the task. */
  start(command: string, more?: Partial<ToolContext>): Promise<string>;
  call(name: string, args?: object, more?: Partial<ToolContext>): Promise<string>;
  /** What is new of a task, after its end. */
  end(id: string): Promise<string>;
}

/** Tools with a one-shot bash that are disposed of after the test. */
export function makeOnceTools(config: ToolsConfig = {}): Tools {
  const tools = createTools({ tools: "one-shot", shell: { graceMs: 500 }, ...config });
  onTestFinished(() => tools.dispose());
  return tools;
}

/** A caller with tools of its own, or with those of others; it has an empty folder. */
export function caller(
  config: ToolsConfig = {},
  owner: string | object = "agent",
  tools: Tools = makeOnceTools(config),
): Caller {
  const context = { owner, cwd: folder() };
  const name = tools.bashOnce?.name ?? "bash";
  const toCall: Caller["call"] = (tool, args = {}, more = {}) =>
    call(tools, tool, args, { ...context, ...more });
  return {
    tools,
    context,
    bash: (args, more) => toCall(name, argsOf(args), more),
    start: async (command, more) => {
      const text = await toCall(name, argsOf({ command, run_in_background: true }), more);
      const id = /^started background task (\S+)$/m.exec(text)?.[1];
      if (id === undefined) throw new Error(`no id in ${JSON.stringify(text)}`);
      return id;
    },
    call: toCall,
    end: (id) => toCall("task_output", { task_id: id, wait: true, timeout_ms: 10_000 }),
  };
}

function argsOf(args: string | object): object {
  return { description: "Test the tool", ...(typeof args === "string" ? { command: args } : args) };
}

/** Another implementation of the seam: it has this machine do the work, and records what it was asked for. */
export class Recorder implements BashExecutor {
  readonly requests: BashRequest[] = [];
  readonly runs: BashSpec[] = [];
  readonly starts: BashSpec[] = [];
  readonly pids: number[] = [];
  closed = false;
  readonly #local = makeExecutor();

  resolve(request: BashRequest): BashSpec {
    this.requests.push(request);
    return this.#local.resolve(request);
  }

  run(spec: BashSpec, options?: BashRunOptions): Promise<BashOutcome> {
    this.runs.push(spec);
    return this.#local.run(spec, options);
  }

  async start(spec: BashSpec): Promise<BashProcess> {
    this.starts.push(spec);
    const process = await this.#local.start(spec);
    this.pids.push(process.pid);
    return process;
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.#local.close();
  }
}
