/** The tools as an MCP server: one server is one connection, and one owner. */

import {
  type CallToolResult,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type ToolAnnotations,
} from "@modelcontextprotocol/server";
import { EvershellError } from "../core/index.ts";
import type { Tool, ToolContext, Tools } from "../tools/index.ts";
import { Progress } from "./mcp-progress.ts";

/** Options of a server. */
export interface McpServerOptions {
  /** What the server calls itself besides its name: the version of the program that it is part of. */
  readonly version: string;
  /** The directory that the shell and the terminals of the connection start in. Default: that of the process. */
  readonly cwd?: string;
}

/** What a client may show of a tool, and ask a person about. */
interface Hints {
  readonly title: string;
  /** It may change or end something that is there. */
  readonly destructive?: boolean;
  /** It reaches whatever a command can: files, processes, the network. */
  readonly openWorld?: boolean;
}

const HINTS: Readonly<Record<string, Hints>> = {
  bash: { title: "Run a command", destructive: true, openWorld: true },
  bash_once: { title: "Run a command in a fresh bash", destructive: true, openWorld: true },
  terminal_open: { title: "Open a terminal", openWorld: true },
  terminal_send: { title: "Type into a terminal", destructive: true, openWorld: true },
  terminal_read: { title: "Read a terminal" },
  terminal_signal: { title: "Signal what runs in a terminal", destructive: true },
  terminal_close: { title: "Close a terminal", destructive: true },
  terminal_list: { title: "List the terminals" },
  task_output: { title: "Read a background task" },
  task_list: { title: "List the background tasks" },
  task_kill: { title: "End a background task", destructive: true },
};

/** What a client may tell the model of the tools as a whole. */
function instructionsOf({ bash, bashOnce, promptSections }: Tools): string {
  const persistent =
    "bash runs commands in one shell that stays for the whole connection: use it for everything that ends by itself. " +
    "Use the terminal_* tools for programs that are talked to: they answer what waits for input in that shell " +
    '(terminal_id "shell"), and open more terminals.';
  const once =
    "bash_once runs a command in a fresh bash that changes nothing of that shell, and can leave it running as a task.";
  return [
    ...(bash === null ? [] : [persistent]),
    ...(bash === null || bashOnce === null ? [] : [once]),
    ...promptSections.map(({ text }) => text),
  ].join(" ");
}

/**
 * Makes the server of one connection; connect it to a transport. All that its calls have started ends when the
 * connection closes, so its `onclose` is taken. The tools may serve any number of connections: dispose of them after
 * the last.
 *
 * @example
 * ```ts
 * const tools = createTools();
 * await createMcpServer(tools, { version: "1.0.0" }).connect(transport);
 * ```
 */
export function createMcpServer(tools: Tools, { version, cwd }: McpServerOptions): Server {
  // The low-level class: the one above it makes schemas of its own, checks arguments by them and words the errors.
  const server = new Server(
    { name: "evershell", version },
    { capabilities: { tools: {} }, instructions: instructionsOf(tools) },
  );
  const list: ListToolsResult = { tools: tools.all.map(describe) };
  const byName = new Map(tools.all.map((tool) => [tool.name, tool]));
  const caller: Caller = { owner: server, ...(cwd !== undefined && { cwd }) };
  server.setRequestHandler("tools/list", () => list);
  server.setRequestHandler("tools/call", ({ params }, { mcpReq }) => {
    const tool = byName.get(params.name);
    if (tool !== undefined) return call(tool, params.arguments, caller, mcpReq);
    const name = JSON.stringify(params.name);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${name}`);
  });
  server.onclose = () => void tools.disposeOwner(server);
  return server;
}

type Caller = Pick<ToolContext, "owner" | "cwd">;

function describe(tool: Tool): ListToolsResult["tools"][number] {
  const { title = tool.name } = HINTS[tool.name] ?? {};
  return {
    name: tool.name,
    title,
    description: tool.description,
    // The type knows values of JSON, and ours are; the schemas travel as they are.
    inputSchema: tool.parameters as ListToolsResult["tools"][number]["inputSchema"],
    outputSchema: tool.result as ListToolsResult["tools"][number]["inputSchema"],
    annotations: annotationsOf(tool),
  };
}

/** Of a tool that nothing is known of, a client is to think the worst. */
function annotationsOf({ name, readOnly }: Tool): ToolAnnotations {
  const { destructive = false, openWorld = false } = HINTS[name] ?? {
    destructive: !readOnly,
    openWorld: true,
  };
  return {
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    idempotentHint: readOnly,
    openWorldHint: openWorld,
  };
}

async function call(
  tool: Tool,
  args: unknown,
  caller: Caller,
  { signal, notify, _meta }: ServerContext["mcpReq"],
): Promise<CallToolResult> {
  const token = _meta?.progressToken;
  const progress =
    token === undefined
      ? null
      : new Progress((part) =>
          notify({ method: "notifications/progress", params: { progressToken: token, ...part } }),
        );
  try {
    const { text, value } = await tool.execute(args, {
      ...caller,
      signal,
      ...(progress !== null && { onOutput: (text) => progress.add(text) }),
    });
    return { content: [{ type: "text", text }], structuredContent: { ...value } };
  } catch (error) {
    if (error instanceof EvershellError) return failure(error);
    throw error;
  } finally {
    progress?.stop();
  }
}

/**
 * The text is all that clients show; programs find the code in `_meta`. There is no structured content, so nothing
 * that the schema of a result would have to allow.
 */
function failure({ message, code }: EvershellError): CallToolResult {
  return {
    content: [{ type: "text", text: `Error: ${message}` }],
    isError: true,
    _meta: { code },
  };
}
