/** The MCP server on stdin and stdout. */

import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { createMcpServer, type McpServerOptions } from "../integrations/mcp.ts";
import type { Tools } from "../tools/index.ts";
import { onEndingSignal } from "./signals.ts";
import { signalStatus } from "./status.ts";

/** Longest message of a client; a longer one ends the connection. Commands of 8 MB are fine for bash. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Longest problem that is told: it may quote what the client sent, of any size. */
const MAX_PROBLEM_CHARS = 200;

/**
 * Serves one client until it closes its end or a signal comes, and ends all that was started for it.
 *
 * @param complain gets problems of the connection, which end nothing
 * @returns the status to exit with
 */
export function serveMcp(
  tools: Tools,
  options: McpServerOptions,
  complain: (problem: string) => void,
): Promise<number> {
  const transport = new StdioServerTransport(process.stdin, process.stdout, {
    maxBufferSize: MAX_MESSAGE_BYTES,
  });
  serveStdio(() => createMcpServer(tools, options), {
    transport,
    onerror: (error) => complain(problemOf(error)),
  });
  return new Promise((resolve, reject) => {
    let ending = false;
    const end = (status: number): void => {
      if (!ending) tools.dispose().then(() => resolve(status), reject);
      ending = true;
    };
    const closed = transport.onclose;
    transport.onclose = () => {
      // Before the server hears of it and ends its part, for which nobody would wait.
      end(0);
      closed?.();
    };
    onEndingSignal((signal) => end(signalStatus(signal)));
  });
}

/** The SDK words a line that is no message as a tree of failed schemas. */
function problemOf({ name, message }: Error): string {
  if (name.endsWith("ZodError")) return "a line from the client was ignored: it is no message";
  return message.slice(0, MAX_PROBLEM_CHARS);
}
