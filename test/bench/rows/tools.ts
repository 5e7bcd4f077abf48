/** Ways to the shell: what the tool and its MCP server add to a command. */

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Shell } from "evershell";
import { createTools } from "evershell/tools";
import { interleave, medianOfBlock } from "../measure.ts";
import { amountRow, type Benchmark, type Effort, ratioRow } from "../row.ts";
import { runWell, withShell } from "../shell.ts";

/** Commands that follow each other before the other contender's turn. */
const BLOCK = 50;
/** Commands before the first block, until the engine has compiled the path of one. */
const WARM_UP = 2_000;
const ROUNDS: Readonly<Record<Effort, number>> = { quick: 10, full: 30 };

/** The tool, against the shell itself. */
export const tool: Benchmark = {
  name: "tool",
  measure: (effort) =>
    withShell(async (shell) => {
      const tools = createTools();
      const call = (): Promise<unknown> =>
        tools.bash.execute({ command: "true" }, { owner: "bench" });
      try {
        const { through, direct } = await compare(shell, call, effort);
        return [ratioRow("tool", ["true through the tool", through], ["shell.run", direct], 1.5)];
      } finally {
        await tools.dispose();
      }
    }),
};

/** The MCP server on stdio, with the official client, beside the shell itself. */
export const mcp: Benchmark = {
  name: "mcp",
  measure: (effort) =>
    withShell(async (shell) => {
      const client = new Client({ name: "bench", version: "1" });
      const args = ["dist/cli.js", "mcp"];
      await client.connect(new StdioClientTransport({ command: process.execPath, args }));
      const call = (): Promise<unknown> =>
        client.callTool({ name: "bash", arguments: { command: "true" } });
      try {
        const { through, direct } = await compare(shell, call, effort);
        return [
          amountRow("mcp", "what MCP over stdio adds to true", through - direct, "ms", 3, [
            { label: "shell.run", value: direct, unit: "ms" },
            { label: "through MCP", value: through, unit: "ms" },
          ]),
        ];
      } finally {
        await client.close();
      }
    }),
};

async function compare(
  shell: Shell,
  call: () => Promise<unknown>,
  effort: Effort,
): Promise<Record<"through" | "direct", number>> {
  const direct = (): Promise<unknown> => runWell(shell, "true");
  for (let i = 0; i < WARM_UP; i++) await direct();
  for (let i = 0; i < WARM_UP; i++) await call();
  return interleave(ROUNDS[effort], {
    through: { measure: () => medianOfBlock(BLOCK, call) },
    direct: { measure: () => medianOfBlock(BLOCK, direct) },
  });
}
