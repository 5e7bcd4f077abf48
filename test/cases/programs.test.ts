/** Programs that are shells or terminals themselves, run from the shell. */

import { afterAll, describe, expect, test } from "vitest";
import { brief, folder, open, output } from "../support.ts";

const socket = `evershell-test-${process.pid}`;

describe("shells and terminals inside of the shell", () => {
  test.each([
    ["script -qc 'echo in' /dev/null", /^in$/m],
    ["bash -i <<<'echo in'", /^in$/m],
    ["bash --norc -i <<<'echo in'", /^in$/m],
    ["su -c 'echo in'", /^in$/m],
    ["python3 -ic 'print(1)' </dev/null", /^1$/m],
    ["sh -c 'echo in'", /^in$/m],
    ["env -i bash -c 'echo in'", /^in$/m],
    ["bash -c 'set -x; echo in' 2>/dev/null", /^in$/m],
    ["echo 'echo in' | bash", /^in$/m],
    ["bash -s <<'E'\nPS1='x> '\necho in\nE", /^in$/m],
    ["(exec -a other bash -c 'echo in')", /^in$/m],
    ['python3 -c \'import pty; pty.spawn(["echo", "in"])\'', /in/],
  ])("%s prints what it prints and ends with its status [D14]", async (command, expected) => {
    const shell = await open();
    const run = await shell.run(command, { timeoutMs: 10_000 });
    expect(run.output).toMatch(expected);
    expect(run.output).not.toMatch(/evsh|8133/);
    expect(run.end).toEqual({ kind: "finished", exitCode: 0 });
    expect(brief(await shell.run("echo next"))).toEqual(["next", 0]);
  });

  test.each([
    "script -eqc 'exit 7' /dev/null",
    "su -c 'exit 7'",
    "bash -c 'exit 7'",
    "bash -i <<<'exit 7' 2>/dev/null",
  ])("the status of %s is the inner one [D14]", async (command) => {
    const shell = await open();
    expect((await shell.run(command, { timeoutMs: 10_000 })).end).toEqual({
      kind: "finished",
      exitCode: 7,
    });
    expect(brief(await shell.run("echo next"))).toEqual(["next", 0]);
  });

  test("a tmux server is started and listed [D14]", async () => {
    const shell = await open();
    const command = `tmux -L ${socket} -f /dev/null new -d 'sleep 1'; tmux -L ${socket} ls`;
    expect(await output(shell, command)).toMatch(/^0: 1 windows/m);
    expect(brief(await shell.run("echo next"))).toEqual(["next", 0]);
  });

  test("a shell inside, with our exported variables and prompt, ends nothing [D14]", async () => {
    const shell = await open();
    await output(shell, "export PS1; set -a");
    for (const inner of [
      "bash --norc -i <<<'echo in'",
      "bash -c 'echo in'",
      "bash --norc -i <<'E'\necho in\nfalse\ntrue\nE\n:",
    ]) {
      const run = await shell.run(`${inner}; echo outer`);
      expect(run.end).toEqual({ kind: "finished", exitCode: 0 });
      expect(run.output).toMatch(/in[\s\S]*outer$/);
    }
  });

  test("a session inside of a session is one of our commands like any other [D14]", async () => {
    const shell = await open();
    await output(shell, "git init -q . && git config user.email a@b && git config user.name n");
    await output(shell, 'for i in 1 2 3; do git commit -q --allow-empty -m "c$i"; done');
    expect(await output(shell, "git log --format=%s")).toBe("c3\nc2\nc1");
    expect(await output(shell, "git log --oneline | wc -l | tr -d ' '")).toBe("3");
    expect(await output(shell, "echo after")).toBe("after");
  });

  test("a command that the shell is replaced by is its last, and says so [D14]", async () => {
    const cwd = folder();
    const shell = await open({ cwd });
    const run = await shell.run("exec script -qc 'echo in' /dev/null", { timeoutMs: 10_000 });
    expect(run.output).toContain("in");
    expect(run.end).toEqual({ kind: "shellExited", exitCode: 0, signal: null });
    expect(await output(shell, "pwd")).toBe(cwd);
  });
});

afterAll(async () => {
  const { spawnSync } = await import("node:child_process");
  spawnSync("tmux", ["-L", socket, "kill-server"]);
});
