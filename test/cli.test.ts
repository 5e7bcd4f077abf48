import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const CLI = join(import.meta.dirname, "../dist/cli.js");

interface Outcome {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

function start(...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [CLI, ...args]);
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return child;
}

function outcome(child: ChildProcess): Promise<Outcome> {
  let out = "";
  let err = "";
  child.stdout?.on("data", (data) => {
    out += data;
  });
  child.stderr?.on("data", (data) => {
    err += data;
  });
  return new Promise((resolve) => child.on("close", (status) => resolve({ status, out, err })));
}

function evershell(...args: string[]): Promise<Outcome> {
  const child = start(...args);
  child.stdin?.end();
  return outcome(child);
}

async function requests(...lines: readonly unknown[]): Promise<Record<string, unknown>[]> {
  const child = start("run", "--json");
  child.stdin?.end(
    lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""),
  );
  const { out } = await outcome(child);
  return out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Resolves when the output of a program contains a text. */
function shows(child: ChildProcess, text: string): Promise<string> {
  let out = "";
  return new Promise((resolve, reject) => {
    child.stdout?.on("data", (data) => {
      out += data;
      if (out.includes(text)) resolve(out);
    });
    child.on("close", () => reject(new Error(`ended before it showed ${text}: ${out}`)));
  });
}

/** Whether a process runs; one that nobody has waited for yet does not. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "state=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.startsWith("Z");
}

test("commands run in order in one shell, and their output is all there is on stdout", async () => {
  const result = await evershell(
    "run",
    "cd /tmp",
    "export A=1",
    "echo $PWD $A",
    "printf 'no newline'",
  );
  expect(result).toEqual({ status: 0, out: "/tmp 1\nno newline", err: "" });
});

test("stderr of a command and a failing command do not stop the next", async () => {
  const { status, out } = await evershell("run", "false", "echo oops >&2", "(exit 5)");
  expect({ status, out }).toEqual({ status: 5, out: "oops\n" });
});

test.each([
  [["run", "exit 3", "echo never"], 3, ""],
  [["run", "kill -9 $$", "echo never"], 137, ""],
  [["run", "--timeout", "200", "echo so far; sleep 30", "echo never"], 124, "so far\n"],
  [["run", "read -p 'name? ' name", "echo never"], 123, "name? "],
  [["run", "--cwd", "/nowhere", "echo never"], 125, ""],
  [["run", ""], 125, ""],
  [["run", "--timeout", "soon", "true"], 2, ""],
  [["run", "--backend", "moon", "true"], 2, ""],
  [["run", "--bogus"], 2, ""],
  [["bogus"], 2, ""],
])("%j ends with status %i", async (args, status, out) => {
  const result = await evershell(...args);
  expect(result).toMatchObject({ status, out });
  expect(result.err === "").toBe(status === 0);
});

test("--keep-going runs the next command in a fresh shell", async () => {
  const { status, out } = await evershell("run", "--keep-going", "A=1; exit 3", "echo fresh $A");
  expect({ status, out }).toEqual({ status: 0, out: "fresh\n" });
});

test.each([
  ["read -p 'name? ' name", 0],
  ["A=1; trap '' INT; sh -c 'read name'; false", 0],
  ["trap '' INT; read name", 3],
  ["A=1; (read name)", 123],
])("--keep-going ends what waits for input (%j)", async (waits, last) => {
  const commands = last === 123 ? [waits] : [waits, `echo next $A; (exit ${last})`];
  const { status, out, err } = await evershell("run", "--json", "--keep-going", ...commands);
  const results = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(results[0]).toMatchObject({ end: { kind: "waiting" } });
  expect(results).toHaveLength(commands.length);
  if (last !== 123) expect(results[1]).toMatchObject({ end: { kind: "finished", exitCode: last } });
  expect({ status, err }).toEqual({ status: last, err: "" });
});

test("--cwd is where the shell starts", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "cli-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  expect((await evershell("run", "--cwd", folder, "pwd")).out).toBe(`${folder}\n`);
});

test("--version and --help are data", async () => {
  expect((await evershell("--version")).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  const help = await evershell("run", "--help");
  expect(help).toMatchObject({ status: 0, err: "" });
  expect(help.out).toContain("--keep-going");
});

test("--json prints one result a line", async () => {
  const { out } = await evershell("run", "--json", "cd /tmp", "seq 3; exit 4");
  const [first, second] = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(first).toMatchObject({ output: "", end: { kind: "finished", exitCode: 0 }, cwd: "/tmp" });
  expect(second).toMatchObject({
    output: "1\n2\n3",
    end: { kind: "shellExited", exitCode: 4, signal: null },
  });
});

test("requests are answered in order, with their id, and a bad one ends nothing", async () => {
  const answers = await requests(
    JSON.stringify("cd /tmp"),
    { id: 7, command: "pwd" },
    "{not json",
    { id: "x", comand: "pwd" },
    { id: 8 },
    { id: 9, command: "echo a\0b" },
    { id: 10, command: "echo still here" },
  );
  expect(answers).toMatchObject([
    { output: "" },
    { id: 7, output: "/tmp" },
    { error: { code: "BAD_ARGUMENT" } },
    { id: "x", error: { code: "BAD_ARGUMENT" } },
    { id: 8, error: { code: "BAD_ARGUMENT" } },
    { id: 9, error: { code: "BAD_ARGUMENT" } },
    { id: 10, output: "still here" },
  ]);
  expect(JSON.stringify(answers[3])).toContain("comand");
});

test("a request can leave a command running, answer it, and wait for it", async () => {
  const answers = await requests(
    { command: "echo so far; sleep 0.5; read -p 'name? ' name; echo hello $name", waitMs: 100 },
    { wait: true },
    { command: "echo refused" },
    { id: "answer", input: "Ada\n" },
    { wait: true },
  );
  expect(answers).toMatchObject([
    { output: "so far", end: { kind: "running" } },
    { output: "name? ", end: { kind: "waiting", program: "bash", password: false } },
    { error: { code: "BUSY" } },
    { id: "answer", output: "Ada\nhello Ada", end: { kind: "finished", exitCode: 0 } },
    { error: { code: "NOT_RUNNING" } },
  ]);
});

test("output streams while a command runs", async () => {
  const child = start("run", "echo first; sleep 30");
  await shows(child, "first");
  expect(child.exitCode).toBeNull();
});

test("SIGINT interrupts the command, and the program ends with its status", async () => {
  const child = start("run", "echo started; sleep 30", "echo never");
  const ended = outcome(child);
  await shows(child, "started");
  child.kill("SIGINT");
  const { status, out } = await ended;
  expect(status).toBe(130);
  expect(out).not.toContain("never");
});

test.each([["SIGINT"], ["SIGTERM"], ["SIGHUP"]] as const)(
  "after one SIGINT, %s ends the program and leaves nothing behind",
  async (signal) => {
    const child = start(
      "run",
      "trap '' INT; sleep 300 & echo pids $$ $!; while :; do sleep 300; done",
    );
    const ended = outcome(child);
    const out = await shows(child, "pids");
    const pids = [...out.matchAll(/\d{2,}/g)].map(Number);
    child.kill("SIGINT");
    // Two signals of a kind may arrive as one, so it is sent until it has been heard.
    const again = setInterval(() => child.kill(signal), 100);
    const { status } = await ended;
    clearInterval(again);
    expect(status).toBe(128 + constants.signals[signal]);
    expect(pids.filter(isAlive)).toEqual([]);
  },
);

test("a reader that goes away ends the program quietly", async () => {
  const child = start("run", "yes");
  const ended = outcome(child);
  await shows(child, "y\n");
  child.stdout?.destroy();
  expect(await ended).toMatchObject({ status: 141, err: "" });
});

test("the tour shows each of its stops", async () => {
  const { status, out, err } = await evershell("tour");
  expect({ status, err }).toEqual({ status: 0, err: "" });
  expect(out.match(/^# /gm)).toHaveLength(7);
  expect(out).toContain("hello from /tmp");
  expect(out).toContain("Hello, Ada");
  expect(out).not.toContain("__evsh");
});
