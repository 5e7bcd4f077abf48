/** The MCP server as clients see it: through the official client, or line by line. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type CallToolResult, Client, type Progress } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { createMcpServer } from "../src/integrations/mcp.ts";
import { Progress as ProgressReport } from "../src/integrations/mcp-progress.ts";
import { createTools } from "../src/node-tools.ts";
import { folder, lives, until } from "./support.ts";

const CLI = join(import.meta.dirname, "../dist/cli.js");

/** A client of a server of its own. */
async function connect({ args = [] as string[], cwd = folder(), modern = false } = {}) {
  const client = new Client(
    { name: "test", version: "1" },
    modern ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {},
  );
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI, "mcp", ...args],
    cwd,
    stderr: "ignore",
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const bash = (args: string | Record<string, unknown>): Promise<CallToolResult> =>
    client.callTool({
      name: "bash",
      arguments: typeof args === "string" ? { command: args } : args,
    });
  return { client, bash, cwd, pid: transport.pid as number };
}

/** The text of a result: all that a model sees. */
function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === "text" ? part.text : `<${part.type}>`)).join("");
}

/** A server that is spoken to line by line. */
function startRaw(): { child: ChildProcess; send(message: unknown): void; ended: Promise<number> } {
  const child = spawn(process.execPath, [CLI, "mcp"], { cwd: folder() });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return {
    child,
    send: (message) =>
      child.stdin?.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`),
    ended: once(child, "exit").then(([code, signal]) => code ?? signal),
  };
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};

function callOf(command: string, id: number, progressToken?: number): object {
  const meta = progressToken === undefined ? {} : { _meta: { progressToken } };
  const params = { name: "bash", arguments: { command }, ...meta };
  return { jsonrpc: "2.0", id, method: "tools/call", params };
}

/**
 * A command that leaves processes behind, of its session and of another, that mind no gentle signal; and waits until
 * their ids are in files.
 */
function leaveBehind(where: string): { command: string; pids(): Promise<number[]> } {
  const files = ["shell", "job", "far"].map((name) => join(where, name));
  const [shell, job, far] = files;
  const sleep = (file: string | undefined) =>
    `bash -c 'trap "" HUP TERM; echo $$ >${file}; exec sleep 300' &`;
  return {
    command: `echo $$ >${shell}; ${sleep(job)} setsid ${sleep(far)}`,
    async pids() {
      await until("all have told their ids", () => files.every(isWritten));
      return files.map((file) => Number(readFileSync(file, "utf8")));
    },
  };
}

function isWritten(file: string): boolean {
  return existsSync(file) && readFileSync(file, "utf8").endsWith("\n");
}

function gone(pids: readonly number[], limitMs = 10_000): Promise<void> {
  return until(`${pids} are gone`, () => !pids.some(lives), limitMs);
}

test("the tools are listed with our own schemas, titles and hints", async () => {
  const { client } = await connect();
  const { tools } = await client.listTools();
  const own = createTools().all;
  expect(tools.map(({ name }) => name)).toEqual(own.map(({ name }) => name));
  for (const [index, { description, parameters, result, readOnly }] of own.entries()) {
    expect(tools[index]).toMatchObject({
      title: expect.any(String),
      description,
      annotations: {
        readOnlyHint: readOnly,
        destructiveHint: expect.any(Boolean),
        idempotentHint: readOnly,
        openWorldHint: expect.any(Boolean),
      },
    });
    expect(tools[index]?.inputSchema).toEqual(parameters);
    expect(tools[index]?.outputSchema).toEqual(result);
  }
  expect(tools[0]?.annotations).toMatchObject({ destructiveHint: true, openWorldHint: true });
});

test("the server says who it is, and what the tools are for", async () => {
  const { client } = await connect();
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  expect(client.getServerVersion()).toMatchObject({ name: "evershell", version });
  expect(client.getInstructions()).toContain("terminal_*");
});

test.each([[false], [true]])(
  "state stays from call to call (modern protocol: %s)",
  async (modern) => {
    const { bash, cwd } = await connect({ modern });
    const activate = "PS1='(venv) '; export VENV=$PWD; deactivate() { unset VENV; }\n";
    writeFileSync(join(cwd, "activate"), activate);
    expect(textOf(await bash("pwd"))).toBe(`${cwd}\n[Command finished with exit code 0]`);
    await bash("cd / && export A=1 && greet() { echo hello $1; }");
    expect(textOf(await bash("echo $PWD $A; greet you"))).toContain("/ 1\nhello you\n");
    await bash(`cd ${cwd} && . ./activate`);
    expect(textOf(await bash("echo $VENV"))).toBe(`${cwd}\n[Command finished with exit code 0]`);
    expect(textOf(await bash("deactivate; echo ${VENV-none}"))).toContain("none\n");
  },
);

test("--cwd is where shell and terminals start", async () => {
  const start = folder();
  const { client, bash } = await connect({ args: ["--cwd", start] });
  expect(textOf(await bash("pwd"))).toContain(`${start}\n`);
  const opened = await client.callTool({ name: "terminal_open", arguments: {} });
  const { terminal_id } = opened.structuredContent as { terminal_id: string };
  const sent = await client.callTool({
    name: "terminal_send",
    arguments: { terminal_id, text: "pwd" },
  });
  expect(textOf(sent)).toContain(`${start}\n`);
});

test("200 calls in a row are answered, each with its own output", async () => {
  const { bash } = await connect();
  for (let i = 0; i < 200; i++) {
    expect(textOf(await bash(`echo ${i} $((n++))`))).toBe(
      `${i} ${i}\n[Command finished with exit code 0]`,
    );
  }
});

test("calls at the same time are carried out one after another", async () => {
  const { bash } = await connect();
  const calls = [0, 1, 2, 3].map((i) => bash(`echo ${i} $((n++))`));
  const texts = (await Promise.all(calls)).map(textOf);
  expect(texts.map((text) => text.split("\n")[0])).toEqual(["0 0", "1 1", "2 2", "3 3"]);
});

test("two clients are isolated from each other", async () => {
  const [one, two] = await Promise.all([connect(), connect()]);
  await one.bash("MINE=1; cd /");
  expect(textOf(await two.bash("echo ${MINE-none} $PWD"))).toContain(`none ${two.cwd}\n`);
  expect(textOf(await one.bash("echo $MINE $PWD"))).toContain("1 /\n");
});

test("two connections to the same tools are two owners, and closing one leaves the other", async () => {
  const tools = createTools();
  onTestFinished(() => tools.dispose());
  const { InMemoryTransport } = await import("@modelcontextprotocol/server");
  const open = async (): Promise<Client> => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    await createMcpServer(tools, { version: "1", cwd: folder() }).connect(far);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(near);
    return client;
  };
  const bash = async (client: Client, command: string): Promise<string> =>
    textOf(await client.callTool({ name: "bash", arguments: { command } }));
  const [one, two] = [await open(), await open()];
  await bash(one, "N=1");
  await bash(two, "N=2");
  const pid = Number((await bash(one, "echo $$ $N")).match(/^(\d+) 1\n/)?.[1]);
  await one.close();
  await gone([pid]);
  expect(await bash(two, "echo $N")).toContain("2\n");
  await two.close();
});

test.each([[false], [true]])(
  "a call that is cancelled ends at once, with what it runs; the next has a fresh shell (modern: %s)",
  async (modern) => {
    const { client, bash, cwd } = await connect({ modern });
    await bash("A=1");
    const file = join(cwd, "pid");
    const stop = new AbortController();
    const call = client.callTool(
      { name: "bash", arguments: { command: `sh -c 'echo $$ >${file}; exec sleep 30'` } },
      { signal: stop.signal },
    );
    const refused = expect(call).rejects.toThrow();
    await until("the command runs", () => isWritten(file));
    const start = performance.now();
    stop.abort("enough");
    await refused;
    const next = textOf(await bash("echo ${A-fresh}"));
    expect(performance.now() - start).toBeLessThan(1_000);
    expect(next).toBe("fresh\n[Command finished with exit code 0]");
    await gone([Number(readFileSync(file, "utf8"))], 1_000);
  },
);

test.each([[false], [true]])(
  "progress comes while a command runs, and all of its text (modern: %s)",
  async (modern) => {
    const { client } = await connect({ modern });
    const parts: Progress[] = [];
    const command = "for i in 1 2 3; do echo $i; sleep 0.3; done";
    const result = await client.callTool(
      { name: "bash", arguments: { command } },
      { onprogress: (part) => parts.push(part) },
    );
    expect(textOf(result)).toBe("1\n2\n3\n[Command finished with exit code 0]");
    expect(parts.length).toBeGreaterThanOrEqual(2);
    expect(parts.map(({ message }) => message).join("")).toMatch(/^1\n2\n3\n$/);
    const counts = parts.map(({ progress }) => progress);
    expect(counts).toEqual([...new Set(counts)].sort((one, other) => one - other));
    expect(counts.at(-1)).toBe(6);
  },
);

test("a flood of output makes few progress messages, each of them short", async () => {
  const { client } = await connect();
  const parts: Progress[] = [];
  const start = performance.now();
  const result = await client.callTool(
    { name: "bash", arguments: { command: "seq 1 300000; sleep 0.5" } },
    { onprogress: (part) => parts.push(part) },
  );
  const most = (performance.now() - start) / 50;
  expect(textOf(result)).toContain("[Command finished with exit code 0]");
  expect(parts.length).toBeGreaterThan(0);
  expect(parts.length).toBeLessThan(most);
  expect(Math.max(...parts.map(({ message = "" }) => message.length))).toBeLessThanOrEqual(4_001);
  expect(parts.at(-1)?.message?.slice(-20)).toMatch(/300000\n$/);
});

test("progress sends one message at a time, and what a slow receiver missed is the beginning", async () => {
  const sent: string[] = [];
  let taken = (): void => {};
  const report = new ProgressReport(({ message }) => {
    sent.push(message);
    return new Promise((resolve) => {
      taken = resolve;
    });
  });
  report.add("first, ");
  report.add("second");
  await until("something is sent", () => sent.length > 0);
  for (let i = 0; i < 10_000; i++) report.add(`${i}\u{1F600}\n`);
  expect(sent).toEqual(["first, second"]);
  taken();
  await until("the rest is sent", () => sent.length > 1);
  report.add("too late");
  report.stop();
  taken();
  expect(sent).toHaveLength(2);
  expect(sent[1]).toMatch(/^…[^\uDC00-\uDFFF]/);
  expect(sent[1]?.endsWith("9999\u{1F600}\n")).toBe(true);
  expect(sent[1]?.length).toBeLessThanOrEqual(4_001);
});

test("without a progress token nothing is sent but the result", async () => {
  const { child, send } = startRaw();
  send(INITIALIZE);
  send(callOf("for i in 1 2 3; do echo $i; sleep 0.1; done", 1));
  const ids: unknown[] = [];
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    ids.push(JSON.parse(line).id);
    if (ids.length === 2) break;
  }
  expect(ids).toEqual([0, 1]);
});

test("what is not finished and what fails is told as such", async () => {
  const { client, bash } = await connect();
  await client.listTools(); // From here on the client holds each result against its schema.
  const waiting = await bash("read -p 'name? ' name; echo hello $name");
  expect(textOf(waiting)).toMatch(/^name\? \n\[bash waits for input/);
  expect(waiting.isError).toBeUndefined();

  const busy = await bash("echo too early");
  expect(busy).toMatchObject({ isError: true, _meta: { code: "BUSY" } });
  expect(busy.structuredContent).toBeUndefined();
  expect(textOf(busy)).toMatch(/^Error: the command was not run, .*terminal_send/);

  const sent = await client.callTool({
    name: "terminal_send",
    arguments: { terminal_id: "shell", text: "Ada" },
  });
  expect(textOf(sent)).toContain("hello Ada");
  const next = await bash("echo $name");
  expect(textOf(next)).toContain("[Earlier command, which has ended:");
  expect(textOf(next)).toContain("Ada\n[Command finished with exit code 0]");

  const bad = await bash({ command: 7 });
  expect(bad).toMatchObject({ isError: true, _meta: { code: "BAD_ARGUMENT" } });
  expect(await bash({})).toMatchObject({ isError: true, _meta: { code: "BAD_ARGUMENT" } });
  const unknown = await client.callTool({
    name: "terminal_read",
    arguments: { terminal_id: "terminal-9" },
  });
  expect(unknown).toMatchObject({ isError: true, _meta: { code: "NO_TERMINAL" } });
  expect(textOf(unknown)).toContain("terminal_list");
});

test("a tool that does not exist is an error of the protocol, and ends nothing", async () => {
  const { client, bash } = await connect();
  await expect(client.callTool({ name: "zsh", arguments: {} })).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining('there is no tool "zsh"'),
  });
  expect(textOf(await bash("echo here"))).toContain("here\n");
});

test("the structured content of each tool matches its schema", async () => {
  const { client, bash } = await connect();
  await client.listTools(); // From here on the client holds each result against its schema.
  const call = (name: string, args = {}): Promise<CallToolResult> =>
    client.callTool({ name, arguments: args });
  expect((await bash("(exit 3)")).structuredContent).toMatchObject({
    earlier: null,
    restarted: false,
    run: { command: "(exit 3)", output: "", end: { kind: "finished", exitCode: 3 } },
  });
  expect((await bash("seq 1 30000")).structuredContent).toMatchObject({
    run: { clip: { totalChars: expect.any(Number) } },
  });
  const { structuredContent: opened } = await call("terminal_open", { name: "second" });
  const { terminal_id } = opened as { terminal_id: string };
  for (const [name, args] of Object.entries({
    terminal_send: { terminal_id, text: "echo there" },
    terminal_read: { terminal_id },
    terminal_signal: { terminal_id, signal: "INT" },
    terminal_list: {},
    terminal_close: { terminal_id },
  })) {
    expect((await call(name, args)).structuredContent, name).toBeDefined();
  }
  expect((await bash({ restart: true })).structuredContent).toMatchObject({
    restarted: true,
    run: null,
  });
});

test("stdout carries the protocol alone, and what is no message ends nothing", async () => {
  const { child, send, ended } = startRaw();
  let problems = "";
  child.stderr?.on("data", (text) => {
    problems += text;
  });
  const answers: { id?: number; result?: { content?: { text: string }[] } }[] = [];
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
    answers.push(JSON.parse(line));
  });
  send("no JSON at all");
  send('{"neither": "request nor answer"}');
  send("[1, 2");
  send("");
  send("\u0000\u001b[31m");
  send(INITIALIZE);
  send({ jsonrpc: "2.0", method: "notifications/initialized" });
  send({ jsonrpc: "2.0", id: 7, result: {} });
  send("null");
  send({ jsonrpc: "2.0", id: 1, method: "no/such/method" });
  send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: 5 } });
  send(callOf("printf 'a\\nb\\0\\033[31mc\\n' | tee /dev/tty /dev/stderr >/dev/null", 3, 1));
  await until("the last call is answered", () => answers.some(({ id }) => id === 3));
  const done = answers.find(({ id }) => id === 3);
  expect(done?.result?.content?.[0]?.text).toContain("[Command finished with exit code 0]");
  expect(answers.find(({ id }) => id === 1)).toMatchObject({ error: { code: -32601 } });
  expect(answers.find(({ id }) => id === 2)).toMatchObject({ error: {} });
  child.stdin?.end();
  expect(await ended).toBe(0);
  expect(problems).toMatch(/^(evershell: [^\n]{1,250}\n)+$/);
});

test.each([["EOF"], ["SIGTERM"], ["SIGINT"], ["SIGHUP"]] as const)(
  "%s ends the server and all that was started, in the middle of a call",
  async (how) => {
    const where = folder();
    const { child, send, ended } = startRaw();
    child.stdout?.resume();
    const left = leaveBehind(where);
    send(INITIALIZE);
    send({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "terminal_open", arguments: {} },
    });
    send(callOf(`${left.command} while :; do sleep 300; done`, 2));
    const pids = await left.pids();
    if (how === "EOF") child.stdin?.end();
    else child.kill(how);
    expect(await ended).toBe(how === "EOF" ? 0 : 128 + constants.signals[how]);
    expect(pids.filter(lives)).toEqual([]);
  },
);

test("a client that reads nothing cannot keep the server from ending", async () => {
  const where = folder();
  const { child, send, ended } = startRaw();
  const left = leaveBehind(where);
  send(INITIALIZE);
  // Some megabytes of answers, which no pipe holds.
  for (let id = 1; id <= 300; id++) send({ jsonrpc: "2.0", id, method: "tools/list" });
  send(callOf(`${left.command} yes`, 301, 1));
  const pids = await left.pids();
  child.kill("SIGTERM");
  expect(await ended).toBe(128 + constants.signals.SIGTERM);
  expect(pids.filter(lives)).toEqual([]);
});

test("a client that is killed takes the server and all that was started with it", async () => {
  const where = folder();
  const left = leaveBehind(where);
  const lines = [INITIALIZE, callOf(`${left.command} yes`, 1, 1)].map((each) =>
    JSON.stringify(each),
  );
  const source = `
    const { spawn } = require("node:child_process");
    const server = spawn(process.execPath, [${JSON.stringify(CLI)}, "mcp"]);
    server.stdout.resume();
    server.stdin.write(${JSON.stringify(`${lines.join("\n")}\n`)});
    console.log(server.pid);`;
  const client = spawn(process.execPath, ["-e", source]);
  const [server] = await once(client.stdout, "data");
  onTestFinished(() => {
    if (lives(Number(server))) process.kill(Number(server), "SIGKILL");
  });
  const pids = await left.pids();
  client.kill("SIGKILL");
  await gone([Number(server), ...pids]);
});
