/** `evershell exec`: one command in a fresh bash; and the one-shot tools over MCP, as the official client sees them. */

import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { type CallToolResult, Client, type Progress } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTools } from "../src/node-tools.ts";
import { pidsIn } from "./executor-support.ts";
import { runningOf } from "./processes-support.ts";
import { folder, lives, until } from "./support.ts";

const CLI = join(import.meta.dirname, "../dist/cli.js");

interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** The program, started; what it has written so far, and what came of it. */
class Program {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  out = "";
  err = "";

  constructor(args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
    this.child = spawn(process.execPath, [CLI, ...args], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => {
      this.child.kill("SIGKILL");
    });
    this.child.stdout?.setEncoding("utf8").on("data", (text) => {
      this.out += text;
    });
    this.child.stderr?.setEncoding("utf8").on("data", (text) => {
      this.err += text;
    });
    this.ended = new Promise((resolve) =>
      this.child.on("close", (status) => resolve({ status, out: this.out, err: this.err })),
    );
  }
}

function exec(...args: string[]): Promise<Ended> {
  return new Program(["exec", ...args]).ended;
}

function configFile(content: unknown): string {
  const file = join(folder(), "config.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

describe("evershell exec", () => {
  test.each<[string[], Ended]>([
    [["echo out; echo err >&2; exit 3"], { status: 3, out: "out\n", err: "err\n" }],
    [["printf 'no newline'"], { status: 0, out: "no newline", err: "" }],
    [["exit 255"], { status: 255, out: "", err: "" }],
    [["kill -9 $$"], { status: 137, out: "", err: "evershell: killed by SIGKILL\n" }],
    [["kill -TERM $$"], { status: 143, out: "", err: "evershell: killed by SIGTERM\n" }],
    [
      ["--timeout", "300", "echo so far; sleep 30"],
      { status: 124, out: "so far\n", err: "evershell: timed out after 300 ms\n" },
    ],
    [
      ["--timeout", "300", "trap 'exit 0' TERM; sleep 30 & wait"],
      { status: 124, out: "", err: "evershell: timed out after 300 ms\n" },
    ],
    [["cat; echo $?"], { status: 0, out: "0\n", err: "" }],
    [["sleep 300 & echo ok"], { status: 0, out: "ok\n", err: "" }],
  ])("%j ends as the command did, with its streams apart", async (args, ended) => {
    expect(await exec(...args)).toEqual(ended);
  });

  test("streams the output while the command runs", async () => {
    const program = new Program(["exec", "echo first; echo oops >&2; sleep 30"]);
    await until("both came", () => program.out === "first\n" && program.err === "oops\n");
    expect(program.child.exitCode).toBeNull();
  });

  test("passes on long output whole, and slowly if it is read slowly", async () => {
    const { status, out } = await exec("seq 1 300000");
    expect(status).toBe(0);
    expect(out.length).toBe(1_988_895);
    expect(out.endsWith("\n300000\n")).toBe(true);
  });

  test.each<[string[], object]>([
    [
      ["echo out; echo err >&2; exit 3"],
      {
        exitCode: 3,
        signal: null,
        timedOutMs: null,
        stdout: { text: "out\n" },
        stderr: { text: "err\n" },
      },
    ],
    [["--timeout", "200", "sleep 30"], { timedOutMs: 200, signal: "SIGTERM", exitCode: null }],
    [["kill -9 $$"], { signal: "SIGKILL", exitCode: null, denials: [] }],
  ])("--json %j prints the outcome, and nothing else", async (args, outcome) => {
    const { out, err } = await exec("--json", ...args);
    expect(err).toBe("");
    expect(out).toMatch(/^[^\n]*\n$/);
    expect(JSON.parse(out)).toMatchObject(outcome);
  });

  test("--cwd is where the command runs", async () => {
    const cwd = folder();
    expect((await exec("--cwd", cwd, "pwd")).out).toBe(`${cwd}\n`);
    expect((await exec("pwd")).out).toBe(`${realpathSync(process.cwd())}\n`);
    const missing = await exec("--cwd", join(cwd, "missing"), "touch made");
    expect(missing).toMatchObject({ status: 125, out: "" });
    expect(missing.err).toContain("BAD_CWD");
    expect(readdirSync(cwd)).toEqual([]);
  });

  test.each<[string[], number, RegExp]>([
    [[], 2, /missing required argument/],
    [["true", "false"], 2, /too many arguments/],
    [["--timeout", "0", "true"], 2, /whole number/],
    [["--timeout", "x", "true"], 2, /whole number/],
    [["--unknown", "true"], 2, /unknown option/],
    [["--config", "/nonexistent", "true"], 2, /config file/],
    [[""], 125, /BAD_ARGUMENT/],
  ])("%j is wrong usage, or an error of ours", async (args, status, said) => {
    const ended = await exec(...args);
    expect([ended.status, ended.out]).toEqual([status, ""]);
    expect(ended.err).toMatch(said);
  });

  test("--json tells an error as data", async () => {
    const { status, out, err } = await exec("--json", "--cwd", "/nonexistent", "true");
    expect([status, err]).toEqual([125, ""]);
    expect(JSON.parse(out)).toMatchObject({ error: { code: "BAD_CWD" } });
  });

  test("--config sets the environment, and has secrets of the host left out or let through", async () => {
    const env = { ...process.env, FOO_API_KEY: "hidden", MONKEY: "shown" };
    const seen = async (config: object): Promise<string> => {
      const file = configFile(config);
      const args = ["exec", "--config", file, "echo ${FOO_API_KEY-none} ${MONKEY-none} ${A-none}"];
      return (await new Program(args, env).ended).out;
    };
    expect(await seen({})).toBe("none shown none\n");
    expect(await seen({ shell: { env: { A: "set" }, scrub: false } })).toBe("hidden shown set\n");
    const scrub = { allow: ["FOO_*"], deny: ["MONKEY"] };
    expect(await seen({ shell: { scrub } })).toBe("hidden none none\n");
    const bad = await exec("--config", configFile({ shell: { scrub: 1 } }), "true");
    expect(bad).toMatchObject({ status: 2, out: "" });
    expect(bad.err).toContain("scrub");
  });

  test("--sandbox, or the config, lets it write to its directory alone, and tells what was denied", async () => {
    const [workspace, outside] = [folder(), folder()];
    const command = `echo in >f; cat f; touch ${outside}/made`;
    const denied = {
      status: 1,
      out: "in\n",
      err: expect.stringMatching(/Read-only file system\nevershell: sandbox: .*\n$/),
    };
    expect(await exec("--sandbox", "--cwd", workspace, command)).toEqual(denied);
    const config = configFile({ sandbox: true });
    expect(await exec("--config", config, "--cwd", workspace, command)).toEqual(denied);
    const named = configFile({ sandbox: { workspace } });
    expect(await exec("--config", named, "--cwd", workspace, command)).toEqual(denied);
    const json = await exec("--sandbox", "--json", "--cwd", workspace, command);
    expect(JSON.parse(json.out)).toMatchObject({ exitCode: 1, denials: [expect.any(String)] });
    expect(readdirSync(outside)).toEqual([]);
    expect(await exec("--cwd", workspace, command)).toMatchObject({ status: 0, err: "" });
    expect(readdirSync(outside)).toEqual(["made"]);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "%s ends it with everything that it started",
    async (signal) => {
      const program = new Program([
        "exec",
        "(setsid sleep 300 & echo $!); sleep 300 & echo $!; echo $$; sleep 300",
      ]);
      await until("all run", () => pidsIn(program.out).length === 3);
      program.child.kill(signal);
      const { status } = await program.ended;
      expect(status).toBe(128 + constants.signals[signal]);
      expect(runningOf(pidsIn(program.out))).toEqual([]);
    },
  );

  test("what it leaves in the background ends with it", async () => {
    const { out } = await exec("sleep 300 & echo $!; setsid sleep 300 & echo $!");
    expect(pidsIn(out)).toHaveLength(2);
    expect(runningOf(pidsIn(out))).toEqual([]);
  });

  test("a reader that goes away ends it quietly", async () => {
    const program = new Program(["exec", "echo $$; yes"]);
    await until("it runs", () => program.out.includes("y\n"));
    const pid = Number.parseInt(program.out, 10);
    program.child.stdout?.destroy();
    expect(await program.ended).toMatchObject({ status: 141, err: "" });
    await until("the command is gone", () => !lives(pid));
  });

  test("--help tells what the statuses mean", async () => {
    const { status, out, err } = await exec("--help");
    expect([status, err]).toEqual([0, ""]);
    expect(out).toMatch(/--sandbox[\s\S]*124 timed out/);
  });
});

/** A client of a server of its own. */
async function connect(...args: string[]) {
  const cwd = folder();
  const client = new Client({ name: "test", version: "1" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI, "mcp", ...args],
    cwd,
    stderr: "ignore",
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  // From here on the client holds each result against its schema.
  const { tools } = await client.listTools();
  const call = (name: string, given: object = {}): Promise<CallToolResult> =>
    client.callTool({ name, arguments: { description: "Test the tool", ...given } });
  return {
    client,
    cwd,
    tools,
    call,
    names: tools.map(({ name }) => name),
    text: async (name: string, given: object = {}) => textOf(await call(name, given)),
  };
}

function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === "text" ? part.text : `<${part.type}>`)).join("");
}

describe("evershell mcp", () => {
  test.each(["one-shot", "both", "persistent"] as const)(
    "--tools %s lists those tools, with titles and hints of their own",
    async (which) => {
      const { tools, names, client } = await connect("--tools", which);
      const own = createTools({ tools: which }).all;
      expect(names).toEqual(own.map(({ name }) => name));
      for (const [index, { parameters, result, description, readOnly }] of own.entries()) {
        expect(tools[index]).toMatchObject({
          description,
          annotations: { readOnlyHint: readOnly },
        });
        expect(tools[index]?.title).not.toBe(names[index]);
        expect(tools[index]?.inputSchema).toEqual(parameters);
        expect(tools[index]?.outputSchema).toEqual(result);
      }
      const instructions = client.getInstructions() ?? "";
      expect(instructions.includes("[exit code: N]")).toBe(which !== "persistent");
      expect(instructions.includes("terminal_*")).toBe(which !== "one-shot");
      expect(instructions.includes("bash_once")).toBe(which === "both");
    },
  );

  test("the config file can say so, and the command line wins", async () => {
    const file = configFile({ tools: "one-shot", enableRunInBackground: false });
    const { tools, names } = await connect("--config", file);
    expect(names).toContain("task_output");
    expect(names).not.toContain("terminal_open");
    expect(JSON.stringify(tools[0]?.inputSchema)).not.toContain("run_in_background");
    expect((await connect("--config", file, "--tools", "both")).names).toContain("terminal_open");
    const wrong = await new Program(["mcp", "--tools", "some"]).ended;
    expect(wrong).toMatchObject({ status: 2, out: "" });
    expect(wrong.err).toContain("persistent");
  });

  test("a command runs once, in the server's directory, and nothing persists", async () => {
    const { call, text, cwd } = await connect("--tools", "one-shot");
    expect(await text("bash", { command: "A=1; pwd; cd /; echo err >&2; exit 3" })).toBe(
      `${cwd}\n[stderr]\nerr\n[exit code: 3]`,
    );
    const again = await call("bash", { command: "echo ${A-none} $PWD" });
    expect(textOf(again)).toBe(`none ${cwd}`);
    expect(again.isError).toBeUndefined();
    expect(again.structuredContent).toMatchObject({
      outcome: { exitCode: 0, stdout: { text: `none ${cwd}\n` } },
      task_id: null,
    });
    mkdirSync(join(cwd, "sub"));
    expect(await text("bash", { command: "pwd", workdir: "sub" })).toBe(join(cwd, "sub"));
  });

  test("errors have their code", async () => {
    const { call } = await connect("--tools", "one-shot");
    for (const [given, code] of [
      [{ command: "" }, "BAD_ARGUMENT"],
      [{ command: "ls", description: "" }, "BAD_ARGUMENT"],
      [{ command: "ls", workdir: "missing" }, "BAD_CWD"],
    ] as const) {
      const result = await call("bash", given);
      expect(result).toMatchObject({ isError: true, _meta: { code } });
      expect(textOf(result)).toMatch(/^Error: /);
    }
    expect(await call("task_output", { task_id: "bash-1" })).toMatchObject({
      isError: true,
      _meta: { code: "NO_TASK" },
    });
  });

  test("with both, each keeps to itself", async () => {
    const { text, cwd } = await connect("--tools", "both");
    await text("bash", { command: "cd /; A=1" });
    expect(await text("bash_once", { command: "echo ${A-none} $PWD" })).toBe(`none ${cwd}`);
    expect(await text("bash", { command: "echo $A $PWD" })).toBe(
      "1 /\n[Command finished with exit code 0]",
    );
  });

  test("a task is started, read, listed, ended, and its end told once", async () => {
    const { call, text, cwd } = await connect("--tools", "both");
    const start = async (command: string): Promise<string> => {
      const given = { command, run_in_background: true };
      return (await text("bash_once", given)).replace(/^started background task (\S+).*$/s, "$1");
    };
    const id = await start("echo begun; until [ -e go ]; do sleep 0.01; done; echo over");
    expect(id).toBe("bash-1");
    let so = "";
    await until("it has begun", async () => {
      so += await text("task_output", { task_id: id });
      return so.includes("begun\n[status: running]");
    });
    expect(await text("task_list")).toMatch(/^bash-1 {2}\[running\] {2}echo begun; /);
    writeFileSync(join(cwd, "go"), "");
    expect(await text("task_output", { task_id: id, wait: true, timeout_ms: 10_000 })).toBe(
      "over\n[status: completed, exit code: 0]",
    );

    const other = await start("echo $$ >pid; sleep 300; true");
    await until("it runs", () => existsSync(join(cwd, "pid")));
    const killed = await call("task_kill", { task_id: other, reason: "enough" });
    expect(textOf(killed)).toBe("[status: killed, signal: SIGTERM, reason: enough]");
    expect(killed.structuredContent).toMatchObject({
      task: { id: other, end: { status: "killed", signal: "SIGTERM", reason: "enough" } },
    });

    await start("exit 4");
    let told = "";
    await until("its end is told", async () => {
      told = await text("bash", { command: "true" });
      return told.includes("background task");
    });
    expect(told).toMatch(
      /^\[Command finished with exit code 0\]\n\[background task bash-3 \(exit 4\) has ended after .* s: completed, exit code: 4; .*\]$/,
    );
    expect(await text("bash", { command: "true" })).toBe("[Command finished with exit code 0]");
  });

  test("progress comes while a command runs, of both streams", async () => {
    const { client } = await connect("--tools", "one-shot");
    const parts: Progress[] = [];
    const command = "for i in 1 2 3; do echo $i; echo err $i >&2; sleep 0.3; done";
    const result = await client.callTool(
      { name: "bash", arguments: { command, description: "Count" } },
      { onprogress: (part) => parts.push(part) },
    );
    expect(textOf(result)).toBe("1\n2\n3\n[stderr]\nerr 1\nerr 2\nerr 3");
    expect(parts.length).toBeGreaterThanOrEqual(2);
    const all = parts.map(({ message }) => message).join("");
    expect(all.split("\n").filter(Boolean).sort()).toEqual([
      "1",
      "2",
      "3",
      "err 1",
      "err 2",
      "err 3",
    ]);
  });

  test("a call that is cancelled ends what it runs", async () => {
    const { client, cwd, text } = await connect("--tools", "one-shot");
    const stop = new AbortController();
    const call = client.callTool(
      {
        name: "bash",
        arguments: { command: "echo $$ >pid; sleep 300; true", description: "Sleep" },
      },
      { signal: stop.signal },
    );
    const refused = expect(call).rejects.toThrow();
    const pid = (): number => Number(readFileSync(join(cwd, "pid"), "utf8"));
    await until("it runs", () => existsSync(join(cwd, "pid")) && pid() > 0);
    stop.abort("enough");
    await refused;
    await until("it is gone", () => !lives(pid()));
    expect(await text("bash", { command: "echo on" })).toBe("on");
  });

  test("all tasks and leftovers end with the connection", async () => {
    const { client, cwd, text } = await connect("--tools", "one-shot");
    const command =
      "bash -c 'trap \"\" TERM; echo $$ >>pids; sleep 300; true' & setsid bash -c 'echo $$ >>pids; sleep 300; true' &";
    await text("bash", { command });
    await text("bash", { command: `${command} echo $$ >>pids; wait`, run_in_background: true });
    const file = join(cwd, "pids");
    const pids = (): number[] => (existsSync(file) ? pidsIn(readFileSync(file, "utf8")) : []);
    await until("all run", () => pids().length === 5);
    expect(runningOf(pids())).toHaveLength(5);
    await client.close();
    await until("all are gone", () => runningOf(pids()).length === 0, 8_000);
  });

  test("commands can be confined by the config", async () => {
    const outside = folder();
    const { text } = await connect("--config", configFile({ tools: "one-shot", sandbox: true }));
    expect(await text("bash", { command: "echo in >f && cat f" })).toBe("in");
    expect(await text("bash", { command: `touch ${outside}/made` })).toMatch(/\n\[sandbox: .*\]$/);
    expect(readdirSync(outside)).toEqual([]);
  });
});
