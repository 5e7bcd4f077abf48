/** Ways to the shell: what the tool and its MCP server add to a command. */

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Shell } from "evershell";
import { createTools, localExecutor } from "evershell/tools";
import { spawnToClose } from "../floors.ts";
import { interleave, medianOfBlock, timed } from "../measure.ts";
import { amountRow, type Benchmark, type Effort, ratioRow } from "../row.ts";
import { runWell, withShell } from "../shell.ts";

/** Commands that follow each other before the other contender's turn. */
const BLOCK = 50;
/** Commands before the first block, until the engine has compiled the path of one. */
const WARM_UP = 2_000;
const ONE_SHOT_WARM_UP = 100;
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

/** So many agents at once, each with so many commands that take a moment and print something. */
const OWNERS = 50;
const COMMANDS = 20;
const OWNER_ROUNDS: Readonly<Record<Effort, number>> = { quick: 1, full: 5 };

/** Many owners side by side, against as many bare bashes that do the same. */
export const manyOwners: Benchmark = {
  name: "owners",
  async measure(effort) {
    const { tools, bare } = await interleave(OWNER_ROUNDS[effort], {
      tools: { measure: () => timed(runOwners) },
      bare: { measure: () => timed(runBare) },
    });
    const what = `${OWNERS} × ${COMMANDS} commands`;
    return [ratioRow("owners", [what, tools], ["the same in bare bashes", bare], 1.5)];
  },
};

async function runOwners(): Promise<void> {
  const tools = createTools();
  const own = async (owner: number): Promise<void> => {
    for (let number = 0; number < COMMANDS; number++) {
      const { value } = await tools.bash.execute(
        { command: commandOf(owner, number) },
        { owner: `owner-${owner}` },
      );
      if (!value.run?.output.startsWith(`${owner}-${number}`)) throw new Error("a foreign output");
    }
  };
  try {
    await Promise.all(Array.from({ length: OWNERS }, (_, owner) => own(owner)));
  } finally {
    await tools.dispose();
  }
}

async function runBare(): Promise<void> {
  const scripts = Array.from({ length: OWNERS }, (_, owner) =>
    Array.from({ length: COMMANDS }, (_, number) => commandOf(owner, number)).join("\n"),
  );
  await Promise.all(scripts.map((script) => spawnToClose("bash", ["-c", script])));
}

/** Sleeps 0 to 49 ms and prints up to 100 lines. */
function commandOf(owner: number, number: number): string {
  const chance = (owner * 37 + number * 101) % 50;
  const sleep = `sleep 0.0${String(chance).padStart(2, "0")}`;
  return `echo ${owner}-${number}; ${sleep}; seq ${2 * chance}`;
}

/** A command that runs once, against a bare spawn of the same. */
export const oneShot: Benchmark = {
  name: "one-shot",
  async measure(effort) {
    const executor = localExecutor();
    const run = (): Promise<unknown> => executor.run(executor.resolve({ command: "true" }));
    const spawn = (): Promise<void> => spawnToClose("bash", ["-c", "true"]);
    try {
      for (let i = 0; i < ONE_SHOT_WARM_UP; i++) await run();
      const { through, bare } = await interleave(ROUNDS[effort], {
        through: { measure: () => medianOfBlock(BLOCK, run) },
        bare: { measure: () => medianOfBlock(BLOCK, spawn) },
      });
      return [
        ratioRow("one-shot", ["one-shot true", through], ["spawn of bash -c true", bare], 1.5),
      ];
    } finally {
      await executor.close();
    }
  },
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
