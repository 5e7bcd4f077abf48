/** What the tests of the tools share: an agent that calls them, and the lines that it reads. */

import { onTestFinished } from "vitest";
import {
  createTools,
  type PersistentTools,
  type PersistentToolsConfig,
  type Tool,
  type ToolContext,
  type Tools,
} from "../../src/node-tools.ts";
import { folder, until } from "../support.ts";

/** Somebody who calls tools, and reads the texts that they answer. */
export interface Agent {
  readonly tools: PersistentTools;
  readonly context: ToolContext & { readonly cwd: string };
  /** Calls `bash`; a text is the command. */
  bash(args: string | object, more?: Partial<ToolContext>): Promise<string>;
  call(name: string, args: object, more?: Partial<ToolContext>): Promise<string>;
}

/** Tools that are disposed of after the test. */
export function makeTools(config: PersistentToolsConfig = {}): PersistentTools {
  const tools = createTools(config);
  onTestFinished(() => tools.dispose());
  return tools;
}

/** An agent with tools of its own, or with those of others; it starts in an empty folder. */
export function agent(
  config: PersistentToolsConfig = {},
  owner: string | object = "agent",
  tools: PersistentTools = makeTools(config),
): Agent {
  const context = { owner, cwd: folder() };
  return {
    tools,
    context,
    bash: (args, more) =>
      call(tools, "bash", typeof args === "string" ? { command: args } : args, {
        ...context,
        ...more,
      }),
    call: (name, args, more) => call(tools, name, args, { ...context, ...more }),
  };
}

/** The text that a call answers. */
export async function call(
  tools: Tools,
  name: string,
  args: unknown,
  context: ToolContext,
): Promise<string> {
  return (await toolNamed(tools, name).execute(args, context)).text;
}

export function toolNamed(tools: Tools, name: string): Tool {
  const found = tools.all.find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`there is no tool ${name}`);
  return found;
}

/** Waits until the command that an agent has left in flight is over. */
export async function shellAtPrompt({ call: toCall }: Agent): Promise<void> {
  await until("the shell is at its prompt", async () =>
    /^shell {2}\S+ {2}at its prompt$/m.test(await toCall("terminal_list", {})),
  );
}

/** Opens a terminal. Returns its id. */
export async function openTerminal(opener: Agent, args: object = {}): Promise<string> {
  const text = await opener.call("terminal_open", args);
  const id = /^\[terminal: (.+)\]$/m.exec(text)?.[1];
  if (id === undefined) throw new Error(`no id in ${JSON.stringify(text)}`);
  return id;
}

export const finished = (exitCode: number): string =>
  `[Command finished with exit code ${exitCode}]`;

const GO_ON =
  'terminal_send (terminal_id "shell"), stop it with terminal_signal, or reset the shell with restart: true';

export const RUNNING: string = `[Command still running: go on waiting with wait: true, type into it with ${GO_ON}]`;

export const waiting = (program: string, what = "input"): string =>
  `[${program} waits for ${what}: answer with ${GO_ON}]`;

export const INTERRUPTED =
  "[Command interrupted (exit code 130): the shell is back at its prompt and was kept]";

export const RESET =
  "[The shell was reset: the next call starts in the workspace with fresh directory and environment]";

export const TIMED_OUT = "[Command timed out or OOM]";
export const KEPT = "[The shell was kept, with its directory, variables and jobs]";
export const RESTARTED = "[The shell was restarted, with fresh directory and environment]";
export const BACKGROUND = "[Printed by background jobs since the last call:]";

/** The result of a command that an earlier call left in flight. */
export const earlier = (command: string, ...lines: string[]): string =>
  [`[Earlier command, which has ended: ${command}]`, ...lines, "[End of the earlier command]"].join(
    "\n",
  );

/** The refusal of a command while another is in flight. */
export const refused = (command: string, state: string): string =>
  `the command was not run, since an earlier one (${command}) ${state} (terminal_id "shell"), ` +
  "stop it with terminal_signal, or reset the shell with restart: true";
