/** How commands end, and what becomes of the shell then. */

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { EvershellError, PtyExit } from "../../src/node.ts";
import {
  brief,
  Chance,
  folder,
  Listener,
  lives,
  open,
  output,
  outputs,
  refusal,
  settled,
  until,
} from "../support.ts";

describe("every result is whole", () => {
  test("three short lines, two hundred times [LOST-34]", async () => {
    const shell = await open();
    for (let i = 0; i < 200; i++) {
      expect(brief(await shell.run(`echo l1-${i}; echo l2; echo l3`)), `time ${i}`).toEqual([
        `l1-${i}\nl2\nl3`,
        0,
      ]);
    }
  });

  test("an unknown command, a path, and silence [LOST-35]", async () => {
    const cwd = folder();
    const shell = await open({ cwd });
    expect(await output(shell, "nosuchcmd", 127)).toMatch(/nosuchcmd: command not found$/);
    expect(brief(await shell.run("pwd"))).toEqual([cwd, 0]);
    expect(brief(await shell.run("true"))).toEqual(["", 0]);
  });

  test("a hundred dates, none of them empty [LOST-36]", async () => {
    const shell = await open();
    for (let i = 0; i < 100; i++)
      expect(await output(shell, "date +%s.%N"), `time ${i}`).toMatch(/^\d+\.\d+$/);
  });

  test.each([31, 32, 33])(
    "lines of any number, length and ending, from any mix of programs (seed %i) [LOST-34]",
    async (seed) => {
      const chance = new Chance(seed);
      const shell = await open();
      const programs: ((text: string) => string)[] = [
        (text) => `printf '%s' '${text}'`,
        (text) => `/usr/bin/printf '%s' '${text}'`,
        (text) => `printf '%s' '${text}' | cat`,
        (text) => `cat <<'END' | head -c -1\n${text}\nEND`,
        (text) => `printf '%s' '${text}' >&2`,
        (text) => `(printf '%s' '${text}')`,
        (text) => `x='${text}'; printf '%s' "$x"`,
      ];
      for (let round = 0; round < 40; round++) {
        const text = chance.text(chance.int(chance.pick([3, 60, 5000])), [
          ..."abc 019",
          "\n",
          "\t",
          "é",
          "中",
        ]);
        const run = await shell.run(chance.pick(programs)(text));
        expect(run.output, `round ${round} of seed ${seed}`).toBe(text.replace(/\n$/, ""));
        expect(run.clip).toBeNull();
      }
    },
  );

  test("output without a newline at its end comes back as it is, and only one is removed [MARK-142]", async () => {
    const shell = await open();
    expect(
      await outputs(
        shell,
        "printf abc",
        "echo -n",
        "printf 'a\\nb'",
        "printf 'a\\n\\n'",
        "echo",
        "printf '\\n\\n'",
        "printf ' '",
      ),
    ).toEqual(["abc", "", "a\nb", "a\n", "", "\n", " "]);
  });

  test("echo turned on does not end a command early [MARK-143]", async () => {
    const shell = await open();
    await shell.run("stty echo");
    const run = await shell.run("sleep 0.4; echo real");
    expect(brief(run)).toEqual(["real", 0]);
    expect(run.durationMs).toBeGreaterThanOrEqual(400);
  });

  test("a command stopped in the middle of a line leaves nothing for the next [MARK-146]", async () => {
    for (const onTimeout of ["reset", "interrupt"] as const) {
      const shell = await open();
      const run = await shell.run("printf 'half a li'; sleep 30", { timeoutMs: 300, onTimeout });
      expect(run.output).toBe("half a li");
      expect(await outputs(shell, "echo x")).toEqual(["x"]);
    }
  });

  test.each([
    "\\e",
    "\\e[",
    "\\e[3",
    "\\e[?",
    "\\e]",
    "\\e]0;title",
    "\\eP",
    "\\ePq#0",
    "\\e_G",
    "\\e^",
    "\\eX",
    "\\e(",
    "\\e#",
    "\\e[38;5",
    "\\e]8;;http://x",
    "\\r",
    "\\xe2",
    "\\xe2\\x80",
    "\\xf0\\x9f\\x91",
    "\\x9d",
    "\\x9b",
    "\\x90",
    "\\x18",
    "\\x18\\e",
    "\\x18\\e]",
    "\\x18\\e]8133;",
    "\\x18\\e]8133;0123456789abcdef0123456789abcdef;E;x;0;b;\\a",
  ])("an unfinished sequence does not hide the end [MARK-142] %s", async (sequence) => {
    const shell = await open();
    const run = await shell.run(`echo before; printf '${sequence}'`, { timeoutMs: 5_000 });
    expect(run.end).toEqual({ kind: "finished", exitCode: 0 });
    expect(run.output.split("\n")[0]).toBe("before");
    expect(brief(await shell.run("echo x"))).toEqual(["x", 0]);
  });

  test("a command that prints our own prompt, functions and variables ends nothing [MARK-142]", async () => {
    const shell = await open();
    for (const command of [
      'echo "$PS1"',
      "declare -f",
      "set",
      "declare -p",
      'printf "%s" "$PS1" | cat -v',
    ]) {
      const run = await shell.run(`${command}; echo last`, { timeoutMs: 5_000 });
      expect(run.end).toEqual({ kind: "finished", exitCode: 0 });
      expect(run.output).toMatch(/last$/);
    }
    expect(brief(await shell.run("echo x"))).toEqual(["x", 0]);
  });
});

describe("statuses", () => {
  test("pipefail set in one command holds in the next [CODE-160]", async () => {
    const shell = await open();
    await output(shell, "(exit 3) | tail -1", 0);
    await output(shell, "set -o pipefail");
    await output(shell, "(exit 3) | tail -1", 3);
  });

  test("the last command of a list counts [CODE-161]", async () => {
    await output(await open(), "A=(); false", 1);
  });

  test("a job's own status is there for the next command [CODE-163]", async () => {
    const shell = await open();
    expect(await output(shell, "false & true")).toMatch(/^\[1\] \d+$/);
    expect(await output(shell, "wait $!; echo $?")).toMatch(/(^|\n)1$/);
  });

  test("all 256 statuses come back, and each is `$?` of the next command [CODE-161]", async () => {
    const shell = await open();
    for (let status = 0; status < 256; status++) {
      const run = await shell.run(`echo "$?"; (exit ${status})`);
      expect(brief(run)).toEqual([`${Math.max(0, status - 1)}`, status]);
    }
  });

  test("death by a signal is 128 and its number, as in bash [CODE-162]", async () => {
    const shell = await open();
    for (const [signal, number] of [
      ["KILL", 9],
      ["TERM", 15],
      ["HUP", 1],
      ["SEGV", 11],
    ] as const) {
      const run = await shell.run(`sh -c 'kill -${signal} $$'`);
      expect(run.end).toEqual({ kind: "finished", exitCode: 128 + number });
    }
  });
});

describe("the shell ends", () => {
  test("set -euo pipefail does what bash does, and the next command runs [DEATH-150]", async () => {
    const shell = await open();
    expect(await outputs(shell, "set -euo pipefail", "echo a")).toEqual(["", "a"]);
    const run = await shell.run("echo $nope");
    expect(run.output).toMatch(/nope: unbound variable/);
    expect(run.output).not.toMatch(/exit$/);
    if (
      run.end.kind === "finished" ||
      run.end.kind === "interrupted" ||
      run.end.kind === "shellExited"
    )
      expect(run.end.exitCode).not.toBe(0);
    else expect(run.end.kind).toBe("finished");
    expect(brief(await shell.run("echo b"))).toEqual(["b", 0]);
  });

  test.each([0, 1, 42, 255])(
    "exit %i is said, and the next command gets a fresh shell [DEATH-153]",
    async (code) => {
      const cwd = folder();
      const shell = await open({ cwd });
      await output(shell, "cd /; mine=1");
      const pid = shell.pid;
      const run = await shell.run(`echo last; exit ${code} || true`);
      expect(run.output).toBe("last");
      expect(run.end).toEqual({ kind: "shellExited", exitCode: code, signal: null });
      expect(await output(shell, "echo hi [$mine] $PWD")).toBe(`hi [] ${cwd}`);
      expect(shell.pid).not.toBe(pid);
    },
  );

  test.each([
    ["kill -9 $$", null, "SIGKILL"],
    ["echo a; kill -TERM $$; kill -HUP $$; sleep 5", null, "SIGHUP"],
    ["exec true", 0, null],
    ["exec sh -c 'exit 7'", 7, null],
    ["exec bash -c 'exit 8'", 8, null],
    ["logout 2>/dev/null; exit", 1, null],
  ])("%s is said with its code or signal [DEATH-153]", async (command, exitCode, signal) => {
    const shell = await open();
    const exits: PtyExit[] = [];
    shell.onExit((exit) => exits.push(exit));
    const run = await shell.run(command, { timeoutMs: 10_000 });
    expect(run.end).toEqual({ kind: "shellExited", exitCode, signal });
    expect(exits).toEqual([{ exitCode, signal }]);
    expect(brief(await shell.run("echo hi"))).toEqual(["hi", 0]);
  });

  test("the last bytes before an exit are there, every time [DEATH-153]", async () => {
    const shell = await open();
    for (let i = 0; i < 15; i++) {
      const run = await shell.run("seq 1 3000; printf END; exit 3");
      expect(run.end).toEqual({ kind: "shellExited", exitCode: 3, signal: null });
      expect(
        run.output.replace(/\n?exit$/, "").endsWith("2999\n3000\nEND"),
        `time ${i}: ${run.output.slice(-30)}`,
      ).toBe(true);
      expect(run.output).not.toMatch(/exit/);
    }
  });

  test("an output that is the word exit is kept [DEATH-153]", async () => {
    const shell = await open();
    expect((await shell.run("echo exit; exit 3")).output).toBe("exit");
    expect((await shell.run("echo exit")).output).toBe("exit");
    expect((await shell.run("echo a; echo exit; kill -9 $$")).output).toBe("a\nexit");
    expect((await shell.run("echo exit; exec true")).output).toBe("exit");
  });

  test.each([
    "exec bash --norc --noprofile",
    "exec bash --norc --noprofile -i",
    "PS1='mine> '; exec bash --norc",
    "exec -a other bash --norc",
  ])(
    "after %s the shell is made ours again, or the loss is said and the next is fresh [DEATH-153]",
    async (command) => {
      const shell = await open({ startTimeoutMs: 1_000, graceMs: 500 });
      const pid = shell.pid;
      const run = await settled(
        shell,
        shell.run(command, { timeoutMs: 400, onTimeout: "interrupt" }),
      );
      expect(run.output).not.toMatch(/evsh|8133/);
      const next = await shell.run("echo hi; (exit 3)");
      expect(brief(next)).toEqual(["hi", 3]);
      expect(next.background).not.toMatch(/evsh|8133/);
      expect(brief(await shell.run("echo $?"))).toEqual(["3", 0]);
      if (run.end.kind === "timedOut") expect(shell.pid === pid).toBe(run.end.shellKept);
    },
  );

  test("an inner shell is a program like any other; its end is the command's [DEATH-153]", async () => {
    const shell = await open();
    const listener = new Listener();
    const running = shell.run("PS1='in> ' bash --norc --noprofile --noediting; echo back", {
      onOutput: listener.onOutput,
    });
    await listener.heard("in> ");
    await shell.write("echo $((6 * 7))\n");
    await listener.heard("42");
    await shell.write("exit 5\n");
    const run = await settled(shell, running);
    expect(run.output).toMatch(/42.*back$/);
    expect(run.end).toEqual({ kind: "finished", exitCode: 0 });
  });

  test("a job that is killed harms nothing [DEATH-154]", async () => {
    const shell = await open();
    await shell.run("sleep 100 & kill $!; wait $! 2>/dev/null");
    expect(await output(shell, "echo hi")).toMatch(/(^|\n)hi$/);
  });

  test("a bash that is killed while idle is replaced by a fresh one [DEATH-153]", async () => {
    const shell = await open();
    const pid = shell.pid as number;
    let exits = 0;
    shell.onExit(() => exits++);
    process.kill(pid, "SIGKILL");
    await until("the exit is known", () => exits === 1);
    expect(brief(await shell.run("echo hi"))).toEqual(["hi", 0]);
    expect(shell.pid).not.toBe(pid);
  });

  test("with onShellEnd close, an ended shell stays ended [DEATH-153]", async () => {
    const shell = await open({ onShellEnd: "close" });
    expect((await shell.run("exit 4")).end.kind).toBe("shellExited");
    await refusal(shell.run("echo hi"), "CLOSED");
  });

  test("a shell that stops itself is continued [DEATH-153]", async () => {
    const shell = await open();
    const run = await shell.run("kill -STOP $$; echo back", { timeoutMs: 5_000 });
    expect(brief(run)).toEqual(["back", 0]);
    expect(brief(await shell.run("suspend -f; echo again", { timeoutMs: 5_000 }))).toEqual([
      "again",
      0,
    ]);
  });

  test("a shell that was stopped from outside while idle takes the next command [DEATH-153]", async () => {
    const shell = await open({ startTimeoutMs: 400 });
    const pid = shell.pid as number;
    process.kill(pid, "SIGSTOP");
    await until("it is stopped", () => / T /.test(readFileSync(`/proc/${pid}/stat`, "utf8")));
    expect(brief(await shell.run("echo hi"))).toEqual(["hi", 0]);
    expect(shell.pid).toBe(pid);
  });

  test("closing ends what the shell started [PROC]", async () => {
    const shell = await open();
    const pid = Number((await output(shell, "sleep 300 & echo $!")).split("\n").at(-1));
    expect(lives(pid)).toBe(true);
    await shell.close();
    await until("the job is gone", () => !lives(pid));
  });

  test("a folder that is gone when a fresh bash is needed is said by name [CWD-199]", async () => {
    const cwd = folder();
    const shell = await open({ cwd });
    await shell.run("exit");
    rmSync(cwd, { recursive: true });
    await refusal(shell.run("echo hi"), "BAD_CWD");
  });
});

describe("time limits", () => {
  test.each(["reset", "interrupt"] as const)(
    "what was printed before is there (%s) [TMO-175] [TMO-177] [TMO-178]",
    async (onTimeout) => {
      const shell = await open();
      const kept = onTimeout === "interrupt";
      await output(shell, "mine=1");
      const pid = shell.pid;
      const run = await shell.run("echo CRITICAL; echo b; sleep 30", { timeoutMs: 300, onTimeout });
      // Bash itself ends the line of a program that is interrupted.
      expect(run.output.replace(/\n$/, "")).toBe("CRITICAL\nb");
      expect(run.end).toEqual({ kind: "timedOut", shellKept: kept });
      expect(run.durationMs).toBeGreaterThanOrEqual(299);
      expect(run.durationMs).toBeLessThan(5_000);
      expect(await output(shell, "echo ok [$mine]")).toBe(kept ? "ok [1]" : "ok []");
      expect(shell.pid === pid).toBe(kept);
    },
  );

  test("ticks up to the limit are there [TMO-176]", async () => {
    const shell = await open();
    const command = "i=0; while :; do echo tick $i; i=$((i+1)); sleep 0.1; done";
    const run = await shell.run(command, { timeoutMs: 550 });
    const ticks = run.output.split("\n");
    expect(ticks.length).toBeGreaterThanOrEqual(3);
    expect(ticks).toEqual(ticks.map((_, i) => `tick ${i}`));
    expect(run.end).toEqual({ kind: "timedOut", shellKept: false });
  });

  test.each([
    ["a builtin loop", "while :; do :; done", true],
    ["a program", "sleep 30", true],
    ["a program that ignores the interrupt", `sh -c 'trap "" INT; sleep 30'`, true],
    ["a pipeline", "yes | sleep 30", true],
    ["a reader of the terminal", "cat", true],
    ["a loop of programs", "while :; do sleep 0.01; done", true],
    ["a substitution", "x=$(sleep 30)", true],
    ["a shell that ignores the interrupt", "trap '' INT; while :; do :; done", false],
  ])(
    "interrupt: %s is stopped, and the shell kept only if it is back [TMO-175]",
    async (_, command, kept) => {
      const shell = await open({ graceMs: 300 });
      const pid = shell.pid as number;
      const run = await settled(
        shell,
        shell.run(`echo a; ${command}`, { timeoutMs: 250, onTimeout: "interrupt" }),
      );
      expect(run.end).toEqual({ kind: "timedOut", shellKept: kept });
      // Bash itself reports a program that was killed.
      expect(run.output).toMatch(/^a(Killed.*)?$/);
      expect(brief(await shell.run("echo next"))).toEqual(["next", 0]);
      expect(shell.pid === pid).toBe(kept);
      expect(lives(pid)).toBe(kept);
    },
  );

  test("reset ends the jobs of the shell too [TMO-175]", async () => {
    const shell = await open();
    const run = await shell.run("sleep 300 & echo $!; sleep 300", { timeoutMs: 300 });
    const pid = Number(run.output.split("\n").at(-1));
    expect(pid).toBeGreaterThan(1);
    await until("the job is gone", () => !lives(pid));
  });

  test("the limit goes on while nobody waits [TMO-175]", async () => {
    const shell = await open();
    const first = await shell.run("echo a; sleep 30", { waitMs: 100, timeoutMs: 400 });
    expect(brief(first)).toEqual(["a", "running"]);
    const second = await shell.wait();
    expect(second.end).toEqual({ kind: "timedOut", shellKept: false });
    expect(second.output).toBe("");
    expect(brief(await shell.run("echo ok"))).toEqual(["ok", 0]);
  });

  test("a limit of the shell holds for its commands, and null lifts it [TMO-175]", async () => {
    const shell = await open({ timeoutMs: 200 });
    expect((await shell.run("sleep 30")).end.kind).toBe("timedOut");
    expect(brief(await shell.run("sleep 0.4; echo a", { timeoutMs: null }))).toEqual(["a", 0]);
  });

  test("the time in the queue does not count [TMO-175]", async () => {
    const shell = await open();
    const [, second] = await Promise.all([
      shell.run("sleep 0.8"),
      shell.run("sleep 0.1; echo b", { timeoutMs: 700 }),
    ]);
    expect(brief(second)).toEqual(["b", 0]);
    expect(second.durationMs).toBeLessThan(700);
  });
});

describe("waiting", () => {
  test("a command outlives the waiting, and its end is told later [LOST-39]", async () => {
    const shell = await open();
    const first = await shell.run("sleep 0.4; echo done", { waitMs: 100 });
    expect(brief(first)).toEqual(["", "running"]);
    expect(brief(await shell.wait())).toEqual(["done", 0]);
  });

  test("a silent command is running until it ends [LOST-40]", async () => {
    const shell = await open();
    const results = [await shell.run("sleep 0.5", { waitMs: 50 })];
    while (results.at(-1)?.end.kind === "running") results.push(await shell.wait({ waitMs: 50 }));
    expect(results.length).toBeGreaterThan(3);
    expect(results.map((each) => each.output).join("")).toBe("");
    expect(results.at(-1)?.end).toEqual({ kind: "finished", exitCode: 0 });
  });

  test.each([41, 42, 43])(
    "waits of any length bring each line once (seed %i) [LOST-39]",
    async (seed) => {
      const chance = new Chance(seed);
      const shell = await open();
      const command =
        "for i in $(seq 60); do echo line $i; printf part$i; sleep 0.005; echo; done; (exit 9)";
      const results = [await shell.run(command, { waitMs: 1 + chance.int(20) })];
      while (results.at(-1)?.end.kind === "running")
        results.push(await shell.wait({ waitMs: 1 + chance.int(60) }));
      const lines = results.flatMap((each) => each.output.match(/line \d+|part\d+/g) ?? []);
      const all = Array.from({ length: 60 }, (_, i) => [`line ${i + 1}`, `part${i + 1}`]).flat();
      expect(lines, `seed ${seed}`).toEqual(all);
      expect(results.at(-1)?.end).toEqual({ kind: "finished", exitCode: 9 });
    },
  );

  test("a command left in flight is waited for before the next [LOST-39]", async () => {
    const shell = await open();
    await shell.run("sleep 0.3; echo a", { waitMs: 50 });
    await refusal(shell.run("echo b"), "BUSY");
    expect(brief(await shell.wait())).toEqual(["a", 0]);
    expect(brief(await shell.run("echo b"))).toEqual(["b", 0]);
    await refusal(shell.wait(), "NOT_RUNNING");
  });

  test("a command that has ended meanwhile still has its result fetched first [LOST-39]", async () => {
    const shell = await open();
    await shell.run("sleep 0.1; echo a >mark; echo a", { waitMs: 20 });
    await until("it has ended", () =>
      refusalMessage(shell.run("echo b")).then((text) => /has ended/.test(text)),
    );
    expect(brief(await shell.wait())).toEqual(["a", 0]);
    expect(brief(await shell.run("echo b"))).toEqual(["b", 0]);
  });

  test("a command that was left can be interrupted, and its shell is kept [TMO]", async () => {
    const shell = await open();
    const pid = shell.pid;
    await shell.run("sleep 30", { waitMs: 100 });
    await shell.interrupt();
    const run = await shell.wait();
    expect(["interrupted", "finished"]).toContain(run.end.kind);
    expect(run.end).toHaveProperty("exitCode", 130);
    expect(await output(shell, "echo alive $$")).toBe(`alive ${pid}`);
  });

  test("input goes to the command in flight [IN-15]", async () => {
    const shell = await open();
    const listener = new Listener();
    const running = shell.run('read -p "name? " x; echo "got [$x]"', {
      onOutput: listener.onOutput,
    });
    await listener.heard("name? ");
    await shell.write("a\\b c\n");
    const run = await settled(shell, running);
    expect(run.output).toBe("name? a\\b cgot [ab c]");
    expect(run.end).toEqual({ kind: "finished", exitCode: 0 });
  });

  test("input that a command leaves unread is not taken for a command [MARK-146]", async () => {
    const cwd = folder();
    const shell = await open({ cwd });
    const listener = new Listener();
    const running = shell.run("stty -echo; echo go; sleep 0.3; stty echo", {
      onOutput: listener.onOutput,
    });
    await listener.heard("go");
    await shell.write("touch typed; half a line");
    expect(brief(await running)).toEqual(["go", 0]);
    const run = await shell.run("echo hi");
    expect(run.output).toBe("hi");
    expect(await output(shell, "ls")).toBe("");
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGKILL", 137],
    ["SIGINT", 130],
    ["SIGQUIT", 131],
    ["SIGHUP", 129],
  ] as const)(
    "%s goes to the program in the foreground, and the shell stays [TMO]",
    async (signal, exitCode) => {
      const shell = await open();
      const pid = shell.pid;
      const listener = new Listener();
      const running = shell.run("sh -c 'echo go; exec sleep 30'", { onOutput: listener.onOutput });
      await listener.heard("go");
      expect(await shell.signal(signal)).toBe(true);
      expect((await running).end).toHaveProperty("exitCode", exitCode);
      expect(brief(await shell.run("echo next"))).toEqual(["next", 0]);
      expect(shell.pid).toBe(pid);
    },
  );

  test("a program that is stopped becomes a job, and the shell is back [TMO]", async () => {
    const shell = await open();
    const listener = new Listener();
    const running = shell.run("sh -c 'echo go; exec sleep 30'", { onOutput: listener.onOutput });
    await listener.heard("go");
    await shell.write({ keys: ["C-z"] });
    expect((await running).end).toHaveProperty("exitCode", 148);
    expect(await output(shell, "jobs")).toMatch(/^\[1\]\+ +Stopped/);
    await shell.run("kill -9 %1; wait");
    expect((await shell.run("echo next")).output).toMatch(/next$/);
  });

  test("keys interrupt a program [TMO]", async () => {
    const shell = await open();
    const listener = new Listener();
    const running = shell.run("echo go; cat", { onOutput: listener.onOutput });
    await listener.heard("go");
    await shell.write({ keys: ["C-c"] });
    const run = await settled(shell, running);
    expect(run.end).toHaveProperty("exitCode", 130);
    expect(brief(await shell.run("echo next"))).toEqual(["next", 0]);
  });
});

describe("cancelling", () => {
  test("a running command: ABORTED, and a fresh shell after [TMO]", async () => {
    const shell = await open();
    const pid = shell.pid as number;
    const listener = new Listener();
    const abort = new AbortController();
    const run = shell.run("mine=1; echo go; sleep 30", {
      signal: abort.signal,
      onOutput: listener.onOutput,
    });
    await listener.heard("go");
    abort.abort(new Error("the reason stays private"));
    const error = await refusal(run, "ABORTED");
    expect(error.message).not.toContain("private");
    expect(error.cause).toBe(abort.signal.reason);
    expect(await output(shell, "echo [$mine]")).toBe("[]");
    expect(shell.pid).not.toBe(pid);
    expect(lives(pid)).toBe(false);
  });

  test("a running command, with interrupt: the shell is kept [TMO]", async () => {
    const shell = await open();
    const pid = shell.pid;
    const listener = new Listener();
    const abort = new AbortController();
    const run = shell.run("mine=1; echo go; sleep 30", {
      signal: abort.signal,
      onAbort: "interrupt",
      onOutput: listener.onOutput,
    });
    await listener.heard("go");
    abort.abort();
    await refusal(run, "ABORTED");
    expect(await output(shell, "echo [$mine]")).toBe("[1]");
    expect(shell.pid).toBe(pid);
  });

  test("a queued command sends nothing, and the others go on [TMO]", async () => {
    const shell = await open();
    const pid = shell.pid;
    const abort = new AbortController();
    const first = shell.run("sleep 0.2; echo a");
    const second = shell.run("touch touched", { signal: abort.signal });
    const third = shell.run("ls; echo c");
    abort.abort();
    await refusal(second, "ABORTED");
    expect(brief(await first)).toEqual(["a", 0]);
    expect(brief(await third)).toEqual(["c", 0]);
    expect(shell.pid).toBe(pid);
  });

  test("a signal aborted before the call sends nothing [TMO]", async () => {
    const shell = await open();
    const pid = shell.pid;
    await refusal(shell.run("touch touched", { signal: AbortSignal.abort() }), "ABORTED");
    expect(await output(shell, "ls")).toBe("");
    expect(shell.pid).toBe(pid);
  });

  test("at any moment: ABORTED or a result, and the next command is right [TMO]", async () => {
    const shell = await open();
    const chance = new Chance(51);
    for (let round = 0; round < 20; round++) {
      const abort = new AbortController();
      const onAbort = chance.pick(["reset", "interrupt"] as const);
      const run = shell.run("echo a; sleep 0.01; echo b", { signal: abort.signal, onAbort });
      setTimeout(() => abort.abort(), chance.int(25));
      const outcome = await run.then(brief, (error) => error.code);
      if (outcome !== "ABORTED") expect(outcome).toEqual(["a\nb", 0]);
      expect(brief(await shell.run(`echo next ${round}`)), `round ${round} of seed 51`).toEqual([
        `next ${round}`,
        0,
      ]);
    }
  });

  test("a wait that is cancelled stops the command that was left [TMO]", async () => {
    const shell = await open();
    const pid = shell.pid;
    await shell.run("sleep 30", { waitMs: 50 });
    const abort = new AbortController();
    const wait = shell.wait({ signal: abort.signal });
    abort.abort();
    await refusal(wait, "ABORTED");
    expect(brief(await shell.run("echo hi"))).toEqual(["hi", 0]);
    expect(shell.pid).not.toBe(pid);
  });
});

function refusalMessage(run: Promise<unknown>): Promise<string> {
  return run.then(
    () => "",
    (error: Error) => error.message,
  );
}

test("files written by a command that was stopped stay as they were [TMO]", async () => {
  const cwd = folder();
  const shell = await open({ cwd });
  await shell.run("echo kept >file; sleep 30", { timeoutMs: 250 });
  expect(readFileSync(join(cwd, "file"), "utf8")).toBe("kept\n");
});

test("input that a command leaves unread is dropped, and never run [STDIN-42]", async () => {
  const cwd = folder();
  const shell = await open({ cwd });
  await shell.run('read x; echo "[$x]"', { waitMs: 100 });
  await shell.write("1\ntouch run\ntouch run\n");
  expect((await settled(shell, shell.wait())).output).toContain("[1]");
  expect(brief(await shell.run("echo next; ls"))).toEqual(["next", 0]);
});

test("input that comes before the shell has taken a command waits for it [STDIN-42]", async () => {
  const cwd = folder();
  const shell = await open({ cwd });
  await shell.run("stty size");
  const run = shell.run('read x; echo "[$x]"');
  await new Promise(setImmediate);
  await shell.write("touch run\n");
  expect((await run).output).toContain("[touch run]");
  expect(await output(shell, "ls")).toBe("");
});

test("much input that a program does not read is dropped with it [IN-15]", async () => {
  const cwd = folder();
  const shell = await open({ cwd });
  const run = shell.run("sleep 0.5; echo done");
  await new Promise(setImmediate);
  // It is taken and dropped by the shell, or dropped before; it is never run.
  await shell.write("touch run\n".repeat(60_000)).catch((error: EvershellError) => {
    expect(error.code).toBe("NOT_RUNNING");
  });
  expect((await run).end).toEqual({ kind: "finished", exitCode: 0 });
  expect(brief(await shell.run("echo next; ls"))).toEqual(["next", 0]);
});

test.each(["PS1='$ '", "unset PS1", "PROMPT_COMMAND='PS1=\"> \"'"])(
  "with a prompt of the user's (%s), an interrupt ends the command and keeps prompt and state [PROC-64]",
  async (setting) => {
    const shell = await open();
    await shell.run(`${setting}; KEPT=1`);
    const pid = shell.pid;
    const run = shell.run("echo on; sleep 30", { timeoutMs: 10_000, waitMs: 100 });
    await run;
    await shell.write({ keys: ["C-c"] });
    expect((await shell.wait()).end).toEqual({ kind: "interrupted", exitCode: 130 });
    expect(brief(await shell.run('echo "$? $KEPT ${PS1-none}"'))[0]).toMatch(
      /^130 1 (\$|>|none) ?$/,
    );
    expect(shell.pid).toBe(pid);
  },
);

test("an interrupt is no answer to a program that reads [PROC-64]", async () => {
  const shell = await open();
  const run = shell.run("trap 'echo no' INT; read x; echo \"got $x\"", { timeoutMs: 10_000 });
  await until("the shell reads", async () => {
    await shell.interrupt();
    return shell.screen().lines.includes("no");
  });
  await shell.write("abc\n");
  expect((await run).output).toContain("got abc");
});

test.each(["erase A", "iuclc", "kill B", "istrip"])(
  "a terminal set oddly by a function (stty %s) changes no command [EMU-77]",
  async (setting) => {
    const shell = await open({ startTimeoutMs: 1_000 });
    await shell.run(`f() { stty ${setting}; }`);
    await shell.run("f");
    const { output, background } = await shell.run("echo XABAC");
    expect([output, background]).toEqual(["XABAC", ""]);
  },
);
