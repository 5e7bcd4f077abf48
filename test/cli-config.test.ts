/** The file that `--config` names, for both commands that take one. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { folder } from "./support.ts";

const CLI = join(import.meta.dirname, "../dist/cli.js");

/** Another bash of this machine, as if it were far away. */
const FAR = { argv: ["env", "FAR=yes", "bash", "--norc", "--noprofile"] };

/** A file with this text, or with a value as JSON. */
function configFile(content: unknown): string {
  const file = join(folder(), "config.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

function evershell(...args: string[]): { status: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    encoding: "utf8",
    timeout: 20_000,
  });
  return { status, out: stdout, err: stderr };
}

test("the file sets the options of the shell", () => {
  const file = configFile({
    maxOutputChars: 4,
    keep: "tail",
    shell: { env: { GREETING: "hello" }, cols: 50 },
  });
  const { out, status } = evershell("run", "--json", "--config", file, "echo $GREETING; tput cols");
  expect(status).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ output: "o\n50", clip: { shownChars: 4 } });
});

test("what the file leaves out has the default of the shell, not that of the tools", () => {
  const { out } = evershell("run", "--json", "--config", configFile({}), "seq 10000");
  expect(JSON.parse(out)).toMatchObject({ clip: null });
});

test("the command line wins over the file", () => {
  const file = configFile({
    timeoutMs: 60_000,
    onTimeout: "interrupt",
    backendType: "far",
    backends: { far: FAR },
  });
  const timedOut = evershell("run", "--config", file, "--timeout", "300", "sleep 30");
  expect(timedOut).toMatchObject({
    status: 124,
    err: "evershell: timed out; the shell was kept\n",
  });
  expect(evershell("run", "--config", file, "echo ${FAR-no}").out).toBe("yes\n");
  expect(evershell("run", "--config", file, "--backend", "shell", "echo ${FAR-no}").out).toBe(
    "no\n",
  );
});

test("--backend names one of the file", () => {
  const file = configFile({ backends: { far: FAR } });
  expect(evershell("run", "--config", file, "echo ${FAR-no}").out).toBe("no\n");
  const far = evershell("run", "--config", file, "--backend", "far", "echo ${FAR-no}", "exit 3");
  expect(far).toMatchObject({ status: 3, out: "yes\n" });
});

test.each([[[]], [["--config", "FILE"]]])(
  "a backend that nobody has named is wrong usage (%j)",
  (args) => {
    const file = configFile({ backends: { far: FAR } });
    const config = args.map((arg) => arg.replace("FILE", file));
    expect(evershell("run", ...config, "--backend", "moon", "true")).toEqual({
      status: 2,
      out: "",
      err: 'evershell: no PTY backend registered for "moon"\n',
    });
  },
);

test.each([
  ["{", "JSON"],
  ["", "JSON"],
  ["[1]", "must hold an object of options; received [1]"],
  [{ timeoutms: 5 }, "timeoutms is no option"],
  [{ timeoutMs: "soon" }, 'timeoutMs must be a number of milliseconds; received "soon"'],
  [{ keep: "middle" }, 'keep must be "head" or "tail" or "both"; received "middle"'],
  [{ shell: { colour: 1 } }, "shell: colour is no option"],
  [{ shell: { cols: 0 } }, "shell: cols must be 1 to 1000 cells; received 0"],
  [{ backends: { far: { argv: [] } } }, "backends.far must be "],
  [{ backends: { far: { argv: "ssh host" } } }, "backends.far must be "],
  [{ backends: { far: { args: ["ssh"] } } }, "backends.far must be "],
  [{ backendType: "moon" }, 'no PTY backend registered for "moon"'],
])("a file that holds %j is refused, and why is told", (content, why) => {
  const file = configFile(content);
  for (const command of [
    ["run", "--config", file, "true"],
    ["mcp", "--config", file],
  ]) {
    const { status, out, err } = evershell(...command);
    expect({ status, out }).toEqual({ status: 2, out: "" });
    expect(err).toContain(why);
    expect(err).toMatch(/^evershell: [^\n]+\n$/);
    if (!why.startsWith("no PTY")) expect(err).toContain(`config file ${JSON.stringify(file)}: `);
  }
});

test("a file that cannot be read is told by its name", () => {
  const file = join(folder(), "missing.json");
  const { status, err } = evershell("run", "--config", file, "true");
  expect(status).toBe(2);
  expect(err).toContain(`config file ${JSON.stringify(file)}: ENOENT`);
});

test("the MCP server has what the file says", async () => {
  const file = configFile({
    description: "Runs a command on the build machine.",
    maxOutputChars: 10,
    backendType: "far",
    backends: { far: FAR },
    shell: { cols: 44 },
  });
  const client = new Client({ name: "test", version: "1" });
  const args = [CLI, "mcp", "--config", file];
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
  onTestFinished(() => client.close());
  const { tools } = await client.listTools();
  expect(tools[0]?.description).toBe("Runs a command on the build machine.");
  const { structuredContent } = await client.callTool({
    name: "bash",
    arguments: { command: "echo $FAR; tput cols; seq 100" },
  });
  expect(structuredContent).toMatchObject({ run: { output: "yes\n44\n1\n2" } });
});

test("a directory that is missing ends the MCP server before it begins", () => {
  const { status, out, err } = evershell("mcp", "--cwd", "/nowhere");
  expect({ status, out }).toEqual({ status: 125, out: "" });
  expect(err).toContain('"/nowhere"');
});
