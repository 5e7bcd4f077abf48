/** What cannot be done is refused by code, with the reason in the message, and the shell goes on. */

import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openShell, type RunOptions, type ShellOptions } from "../../src/node.ts";
import { brief, folder, Listener, open, output, refusal, settled } from "../support.ts";

describe("commands that cannot be run", () => {
  test.each([
    ["nothing", ""],
    ["blanks", " \t\n "],
    ["a NUL", "echo a\0b"],
    ["a NUL at the end", "echo a\0"],
    ["a lone high surrogate", "echo \ud83d"],
    ["a lone low surrogate", "echo \udc4d x"],
    ["halves in the wrong order", "echo \udc4d\ud83d"],
  ])("%s is refused, and the shell goes on", async (_, command) => {
    const shell = await open();
    const pid = shell.pid;
    const error = await refusal(shell.run(command), "BAD_ARGUMENT");
    expect(error.message).toMatch(/command/);
    expect(error.name).toBe("EvershellError");
    expect(brief(await shell.run("echo ok"))).toEqual(["ok", 0]);
    expect(shell.pid).toBe(pid);
  });

  test.each([undefined, null, 5, {}, ["echo"], Symbol.iterator])(
    "%s is no command",
    async (command) => {
      const shell = await open();
      await refusal(shell.run(command as unknown as string), "BAD_ARGUMENT");
      expect(brief(await shell.run("echo ok"))).toEqual(["ok", 0]);
    },
  );

  test("the position of a NUL or a half pair is named", async () => {
    const shell = await open();
    expect((await refusal(shell.run("echo a\0b"), "BAD_ARGUMENT")).message).toMatch(/NUL.* 6\b/);
    expect((await refusal(shell.run("echo 👍\ud83d"), "BAD_ARGUMENT")).message).toMatch(
      /surrogate.* 7\b/,
    );
  });
});

const badRun: [string, unknown][] = [
  ["unknown", 1],
  ["timeout", 1000],
  ["timeoutMs", 0],
  ["timeoutMs", -1],
  ["timeoutMs", 1.5],
  ["timeoutMs", "1000"],
  ["timeoutMs", Number.NaN],
  ["timeoutMs", Number.POSITIVE_INFINITY],
  ["timeoutMs", 2 ** 31],
  ["waitMs", 0],
  ["waitMs", -5],
  ["waitMs", "5"],
  ["maxOutputChars", 0],
  ["maxOutputChars", 1.5],
  ["maxOutputChars", 1e12],
  ["keep", "middle"],
  ["keep", null],
  ["onTimeout", "kill"],
  ["onAbort", "interupt"],
  ["signal", {}],
  ["signal", null],
  ["onOutput", "log"],
  ["onOutput", null],
];

const badShell: [string, unknown][] = [
  ["unknown", 1],
  ["signal", new AbortController().signal],
  ["waitMs", 5],
  ["cwd", ""],
  ["cwd", 5],
  ["env", "A=1"],
  ["env", { A: 1 }],
  ["env", { A: null }],
  ["cols", 0],
  ["cols", 1001],
  ["cols", 80.5],
  ["rows", "40"],
  ["rc", "all"],
  ["bash", ""],
  ["onShellEnd", "restart"],
  ["spillDir", ""],
  ["startTimeoutMs", 0],
  ["graceMs", -1],
  ["timeoutMs", 0],
  ["keep", "middle"],
];

describe("options that break a rule", () => {
  test.each(badRun)("of run: %s %j", async (name, value) => {
    const shell = await open();
    const error = await refusal(
      shell.run("touch touched", { [name]: value } as RunOptions),
      "BAD_OPTION",
    );
    expect(error.message).toContain(name);
    expect(await output(shell, "ls; echo ok")).toBe("ok");
  });

  test.each([[null], ["fast"], [5], [["echo"]]])(
    "of run: %j in place of an object",
    async (options) => {
      const shell = await open();
      await refusal(shell.run("touch touched", options as unknown as RunOptions), "BAD_OPTION");
      expect(await output(shell, "ls; echo ok")).toBe("ok");
    },
  );

  test.each(badShell)("of openShell: %s %j", async (name, value) => {
    const error = await refusal(opened({ [name]: value } as ShellOptions), "BAD_OPTION");
    expect(error.message).toContain(name);
  });

  test.each([{ "A=B": "x" }, { "": "x" }, { A: "x\0y" }, { "A\0": "x" }])(
    "of openShell: a variable that no environment can hold, %j",
    async (env) => {
      await refusal(opened({ env }), "BAD_OPTION");
    },
  );

  test.each([
    [0, 40],
    [80, 0],
    [1001, 40],
    [80, Number.NaN],
    [1.5, 2],
  ])("of resize: %d × %d", async (cols, rows) => {
    const shell = await open({ cols: 90 });
    await refusal(
      attempt(() => shell.resize(cols, rows)),
      "BAD_OPTION",
    );
    expect(await output(shell, "stty size")).toBe("40 90");
  });

  test("of wait: unknown names and bad values", async () => {
    const shell = await open();
    await shell.run("sleep 0.2; echo a", { waitMs: 20 });
    await refusal(shell.wait({ waitMs: 0 }), "BAD_OPTION");
    await refusal(shell.wait({ timeoutMs: 5 } as object), "BAD_OPTION");
    expect(brief(await shell.wait())).toEqual(["a", 0]);
  });

  test("messages name the option, the rule and the value", async () => {
    const shell = await open();
    const error = await refusal(shell.run("true", { timeoutMs: -1 }), "BAD_OPTION");
    expect(error.message).toMatch(/timeoutMs .*at least 1.*-1/);
  });

  test("undefined means the default, as null means no limit", async () => {
    const shell = await open({ timeoutMs: undefined, cwd: undefined } as object);
    const run = await shell.run("echo ok", {
      timeoutMs: null,
      waitMs: null,
      keep: undefined,
      signal: undefined,
    } as object);
    expect(brief(run)).toEqual(["ok", 0]);
  });
});

describe("what a shell cannot be opened with", () => {
  test("a working directory that is missing, a file, or no path", async () => {
    const parent = folder();
    writeFileSync(join(parent, "file"), "");
    for (const cwd of [
      join(parent, "missing"),
      join(parent, "file"),
      join(parent, "file/x"),
      "a\0b",
      "x".repeat(5000),
    ]) {
      const error = await refusal(opened({ cwd }), "BAD_CWD");
      expect(error.message, cwd.slice(0, 50)).toMatch(/cwd/);
    }
  });

  test("a bash that is missing, a folder, or may not be executed", async () => {
    const parent = folder();
    writeFileSync(join(parent, "bash"), "#!/bin/sh\n");
    chmodSync(join(parent, "bash"), 0o644);
    for (const bash of ["no-such-bash", join(parent, "none"), join(parent, "bash"), parent])
      await refusal(opened({ bash }), "BASH_NOT_FOUND");
    await refusal(opened({ env: { PATH: parent } }), "BASH_NOT_FOUND");
    await refusal(opened({ env: { PATH: "" } }), "BASH_NOT_FOUND");
  });

  test("a program that is no bash", async () => {
    const parent = folder();
    writeFileSync(join(parent, "bash"), "#!/bin/sh\necho not a bash; exit 3\n");
    chmodSync(join(parent, "bash"), 0o755);
    const error = await refusal(opened({ bash: join(parent, "bash") }), "START_FAILED");
    expect(error.message).toMatch(/not a bash/);
    expect(error.message).toMatch(/code 3/);
    expect(error.message).not.toMatch(/evsh/);
    await refusal(opened({ bash: "sleep", startTimeoutMs: 300 }), "START_FAILED");
    await refusal(opened({ bash: "cat", startTimeoutMs: 300 }), "START_FAILED");
  });

  test("a folder for outputs that is missing or a file", async () => {
    const parent = folder();
    const file = join(parent, "file");
    writeFileSync(file, "");
    await refusal(opened({ spillDir: join(parent, "none") }), "SPILL_UNAVAILABLE");
    await refusal(opened({ spillDir: file }), "SPILL_UNAVAILABLE");
    chmodSync(file, 0o777);
    await refusal(opened({ spillDir: file }), "SPILL_UNAVAILABLE");
  });

  test("a refused opening leaves no process behind", async () => {
    const parent = folder();
    const script = join(parent, "bash");
    writeFileSync(script, `#!/bin/sh\necho $$ >${parent}/pid\nexec sleep 300\n`);
    chmodSync(script, 0o755);
    await refusal(opened({ bash: script, startTimeoutMs: 300 }), "START_FAILED");
    const shell = await open({ cwd: parent });
    await output(shell, "kill -0 $(cat pid) 2>/dev/null && grep -v ' Z ' /proc/$(cat pid)/stat", 1);
  });

  test("a relative working directory counts from the host's", async () => {
    const shell = await open({ cwd: "." });
    expect(await output(shell, "pwd -P")).toBe(process.cwd());
  });

  test("variables are set, removed, and win over the host's", async () => {
    vi.stubEnv("FROM_HOST", "1");
    vi.stubEnv("REMOVED", "1");
    onTestFinished(() => void vi.unstubAllEnvs());
    const shell = await open({ env: { REMOVED: undefined, ADDED: "a b\n$c", FROM_HOST: "2" } });
    expect(
      await output(shell, 'echo "$FROM_HOST|${REMOVED-gone}|$ADDED|$(env | grep -c ^ADDED)"'),
    ).toBe("2|gone|a b\n$c|1");
  });
});

describe("calls at the wrong time", () => {
  test("with no command in flight there is nothing to wait for, write to or signal", async () => {
    const shell = await open();
    for (let i = 0; i < 2; i++) {
      await refusal(shell.wait(), "NOT_RUNNING");
      await refusal(shell.write("x\n"), "NOT_RUNNING");
      await refusal(shell.write({ keys: ["Enter"] }), "NOT_RUNNING");
      await refusal(shell.signal("SIGINT"), "NOT_RUNNING");
      await shell.interrupt();
      expect(brief(await shell.run("echo ok"))).toEqual(["ok", 0]);
    }
  });

  test("a key that does not exist is refused by name, and nothing is typed", async () => {
    const shell = await open();
    const listener = new Listener();
    const running = shell.run("echo go; read -r x; echo [$x]", { onOutput: listener.onOutput });
    await listener.heard("go");
    for (const key of ["Entr", "C-", "C-é", "", "M-", "F13", "ctrl-c"]) {
      const error = await refusal(shell.write({ keys: ["a", key] }), "BAD_ARGUMENT");
      expect(error.message).toContain(JSON.stringify(key));
    }
    await shell.write("b\n");
    expect((await settled(shell, running)).output).toBe("gob[b]");
  });

  test("another command while one is left in flight: BUSY, and nothing is typed", async () => {
    const shell = await open();
    const first = await shell.run("cat", { waitMs: 100 });
    expect(first.end.kind).not.toBe("finished");
    const error = await refusal(shell.run("echo b"), "BUSY");
    expect(error.message).toMatch(/wait|interrupt/);
    await shell.write("typed\n");
    await shell.write({ keys: ["C-d"] });
    const run = await settled(shell, shell.wait());
    expect(run.output).toBe("typedtyped");
    expect(run.end).toEqual({ kind: "finished", exitCode: 0 });
    expect(brief(await shell.run("echo b"))).toEqual(["b", 0]);
  });

  test("a command that was queued behind one that is left in flight: BUSY", async () => {
    const shell = await open();
    const first = shell.run("sleep 0.3; echo a", { waitMs: 50 });
    const second = shell.run("echo b");
    expect(brief(await first)).toEqual(["", "running"]);
    await refusal(second, "BUSY");
    expect(brief(await shell.wait())).toEqual(["a", 0]);
  });

  test("after close everything is refused, and closing again is no error", async () => {
    const shell = await open();
    await Promise.all([shell.close(), shell.close()]);
    await shell.close();
    await refusal(shell.run("echo a"), "CLOSED");
    await refusal(
      attempt(() => shell.screen()),
      "CLOSED",
    );
    await refusal(shell.wait(), "NOT_RUNNING");
    await refusal(shell.write("x"), "NOT_RUNNING");
    await shell.interrupt();
    shell.resize(80, 24);
    expect(shell.pid).toBeNull();
  });

  test("closing while commands run and wait settles all of them", async () => {
    const shell = await open();
    const listener = new Listener();
    const running = shell.run("echo go; sleep 30", { onOutput: listener.onOutput });
    const queued = shell.run("touch touched");
    await listener.heard("go");
    await shell.close();
    const first = await running.then(
      (run) => run.end.kind,
      (error) => error.code,
    );
    expect(["shellExited", "CLOSED"]).toContain(first);
    await refusal(queued, "CLOSED");
  });

  test("closing while the shell is left running frees it", async () => {
    const shell = await open();
    await shell.run("sleep 30", { waitMs: 50 });
    await shell.close();
    await refusal(shell.run("echo a"), "CLOSED");
  });

  test("a listener that was taken off is not called", async () => {
    const shell = await open();
    let calls = 0;
    const off = shell.onExit(() => calls++);
    await shell.run("exit");
    off();
    off();
    await shell.run("exit");
    expect(calls).toBe(1);
  });
});

/** Opens a shell and, should it open after all, closes it. */
async function opened(options: ShellOptions): Promise<string> {
  const shell = await openShell(options);
  await shell.close();
  return "it opened";
}

/** A call that throws at once, as a promise. */
async function attempt(call: () => unknown): Promise<unknown> {
  return call();
}
