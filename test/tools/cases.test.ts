/** Kinds of faults that shells for agents have had, as the caller of the tools meets them. */

import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runningOf } from "../processes-support.ts";
import { Chance, lives, refusal, until } from "../support.ts";
import {
  type Agent,
  agent,
  BACKGROUND,
  earlier,
  finished,
  INTERRUPTED,
  RESET,
  RUNNING,
  shellAtPrompt,
  TIMED_OUT,
  waiting,
} from "./support.ts";

/** Types into the command in flight of an agent's shell. */
function type(one: Agent, args: object | string): Promise<string> {
  const input = typeof args === "string" ? { text: args } : args;
  return one.call("terminal_send", { terminal_id: "shell", ...input });
}

describe("a command that reads from the terminal", () => {
  test.each([
    ["cat", "cat", "typed\ntyped"],
    ['read x; echo "[$x]"', "bash", "typed\n[typed]"],
    ['while read l; do echo "<$l>"; done', "bash", "typed\n<typed>"],
    ["head -1 | grep -c .; echo done", "head", "typed\n1\ndone"],
    ["sort", "sort", "typed\ntyped"],
  ])(
    "%s: never takes the next command, and ends with what is typed [STDIN-42]",
    async (command, program, text) => {
      const one = agent();
      expect(await one.bash(command)).toBe(waiting(program));
      await refusal(one.bash("echo ok"), "BUSY");
      await type(one, {
        text: "typed",
        keys: command.startsWith("read") || command.startsWith("head") ? [] : ["C-d"],
      });
      expect(await one.bash({ wait: true })).toMatch(
        new RegExp(`^${text.replaceAll("[", "\\[")}\\n\\[Command finished with exit code [01]\\]$`),
      );
      expect(await one.bash("echo ok")).toBe(`ok\n${finished(0)}`);
    },
  );

  test("under timeout(1) waits until that ends it [STDIN-43]", async () => {
    const one = agent();
    const command = "timeout --foreground 0.7 cat; echo $?";
    expect(await one.bash(command)).toBe(waiting("cat"));
    expect(await one.bash("sleep 0.8").catch((error: Error) => error.message)).toContain("(cat)");
    await shellAtPrompt(one);
    expect(await one.bash("echo ok")).toBe(
      `${earlier(command, "124", finished(0))}\nok\n${finished(0)}`,
    );
  });

  test("in the background is stopped, and holds nothing up [STDIN-44]", async () => {
    const one = agent();
    expect(await one.bash("cat & sleep 0.2; echo end")).toMatch(
      /^\[1\] \d+\n(\s*\[1\]\+ +Stopped +cat\n)?end\n\[Command finished with exit code 0\]/,
    );
    expect(await one.bash("jobs")).toMatch(/Stopped +cat/);
  });

  test("a history of 300 commits comes without a pager; one that is asked for waits [STDIN-45]", async () => {
    const one = agent();
    const script =
      "git init -q . && git config user.email a@b && git config user.name n && " +
      "t=$(git mktree </dev/null) && p= && for i in {1..300}; do p=$(git commit-tree $t ${p:+-p $p} -m c$i); done && git reset -q --hard $p";
    expect(await one.bash(script)).toBe(finished(0));
    const log = Array.from({ length: 300 }, (_, i) => `c${300 - i}\n`).join("");
    expect(await one.bash("git log --format=%s")).toBe(`${log}${finished(0)}`);
    expect(await one.bash("echo after")).toBe(`after\n${finished(0)}`);
    const paged = await one.bash("git log --format=%s | less");
    expect(paged.endsWith(`\n${waiting("less")}`)).toBe(true);
    expect(paged).toMatch(/^c300\nc299\n/);
    await type(one, { text: "q", submit: false });
    expect(await one.bash({ wait: true })).toMatch(/\[Command finished with exit code 0\]$/);
    expect(await one.bash("echo after")).toBe(`after\n${finished(0)}`);
  });

  test("a program gets what is typed and the end of input [STDIN-49]", async () => {
    const one = agent();
    expect(await one.bash("stty -echo; sort; stty echo")).toBe(waiting("sort", "a password"));
    await type(one, "b\na");
    await type(one, { keys: ["C-d"] });
    expect(await one.bash({ wait: true })).toBe(`a\nb\n${finished(0)}`);
  });

  test("interrupting what has ended is harmless [STDIN-50]", async () => {
    const one = agent();
    await one.bash({ command: "true", waitMs: 100 });
    await refusal(type(one, { keys: ["C-c"] }), "NOT_RUNNING");
    await one.bash({ command: "sleep 0.1; echo a", waitMs: 30 });
    await shellAtPrompt(one);
    await refusal(type(one, { keys: ["C-c"] }), "NOT_RUNNING");
    expect(await one.bash({ wait: true })).toBe(`a\n${finished(0)}`);
    expect(await one.bash("echo ok")).toBe(`ok\n${finished(0)}`);
  });

  test("an editor is driven by keys [STDIN-51]", async () => {
    const one = agent();
    const text = await one.bash("vim -u NONE -N x");
    expect(text.endsWith(`\n${waiting("vim")}`)).toBe(true);
    await type(one, { text: "ihello", submit: false, keys: ["Escape"] });
    expect(await one.call("terminal_read", { terminal_id: "shell" })).toMatch(/^hello\n~\n/);
    await type(one, ":wq");
    expect(await one.bash({ wait: true })).toMatch(/\[Command finished with exit code 0\]$/);
    expect(readFileSync(join(one.context.cwd, "x"), "utf8")).toBe("hello\n");
    expect(await one.bash("echo next")).toBe(`next\n${finished(0)}`);
  });

  test("changes are shown as text, on a terminal of a known kind [STDIN-52]", async () => {
    const one = agent();
    await one.bash(
      "git init -q . && seq 1 9 >f && git add f && git -c user.email=a@b -c user.name=n commit -qm c && seq 1 7 >f",
    );
    expect(await one.bash("git diff --stat; echo $TERM")).toBe(
      ` f | 2 --\n 1 file changed, 2 deletions(-)\nxterm-256color\n${finished(0)}`,
    );
  });

  test("its question is shown, and its answer taken [STDIN-53]", async () => {
    const one = agent();
    const begin = performance.now();
    expect(await one.bash("read -p 'Enter a value: ' v; echo \"got $v\"")).toBe(
      `Enter a value: \n${waiting("bash")}`,
    );
    expect(performance.now() - begin).toBeLessThan(3_000);
    await type(one, "42");
    expect(await one.bash({ wait: true })).toBe(`42\ngot 42\n${finished(0)}`);
  });
});

describe("a claim that somebody waits", () => {
  test("is not made of a text that looks like a question, nor of a read of something else [WAIT-188]", async () => {
    const commands = [
      "(printf '[sudo] password for u: ' >&2; sleep 0.7; echo ok)",
      "printf 'Continue? [y/N] '; sleep 0.7; echo ok",
      "printf '>>> '; sleep 0.7; echo ok",
      "stty -echo; printf 'Password: '; sleep 0.7; stty echo; echo ok",
      "cat /dev/null; sleep 0.7 | cat; echo ok",
      "for i in {1..8}; do timeout --foreground 0.03 cat; sleep 0.07; done; echo ok",
      "mkfifo p; exec 4<>p; read -t 0.7 x <&4; echo ok",
      "tail -f /dev/null --pid=$$ & sleep 0.7; kill %1; echo ok",
    ];
    const texts = await Promise.all(commands.map((command) => agent().bash(command)));
    for (const [index, text] of texts.entries()) {
      expect(text, commands[index]).toMatch(/ok\n\[Command finished with exit code 0\]$/);
    }
  });

  test("is not made of a command that fails [WAIT-189]", async () => {
    const text = await agent().bash("rmdir /proc && echo DONE");
    expect(text).toMatch(/^rmdir: .*\/proc.*\n\[Command finished with exit code 1\]$/);
  });
});

describe("processes", () => {
  test("started in the background all go with the owner [PROC-54]", async () => {
    const one = agent();
    const text = await one.bash("for i in 1 2 3; do yes >/dev/null & echo $!; done");
    const pids = [...text.matchAll(/^(\d+)$/gm)].map(([, pid]) => Number(pid));
    expect(pids).toHaveLength(3);
    expect(runningOf(pids)).toEqual(pids);
    await one.tools.disposeOwner("agent");
    expect(runningOf(pids)).toEqual([]);
  });

  test("of a command that timed out are gone, and this one lives [PROC-59]", async () => {
    const one = agent();
    expect(await one.bash({ command: "sleep 100", timeoutMs: 300 })).toBe(`${TIMED_OUT}\n${RESET}`);
    expect(await one.bash("echo alive")).toBe(`alive\n${finished(0)}`);
  });

  test.each([
    [true, true],
    [false, false],
  ])(
    "under nohup outlive their shell with keepDetached %s: %s [PROC-60]",
    async (keepDetached, stays) => {
      const one = agent({ shell: { keepDetached } });
      const text = await one.bash("nohup sleep 300 >/dev/null 2>&1 & disown; echo $!");
      const pid = Number(text.split("\n").at(-2));
      // It ignores SIGHUP from the time on that it is sleep.
      await until("it has begun", () =>
        readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("sleep"),
      );
      await one.tools.disposeOwner("agent");
      expect(lives(pid)).toBe(stays);
      if (stays) process.kill(pid, "SIGKILL");
    },
  );

  test("a server in the background serves the next command [PROC-62]", async () => {
    const port = await freePort();
    const one = agent();
    await one.bash(`python3 -m http.server --bind 127.0.0.1 ${port} >/dev/null 2>&1 &`);
    const url = `http://127.0.0.1:${port}/`;
    expect(
      await one.bash({
        command: `until curl -sfo /dev/null ${url}; do sleep 0.05; done; curl -so /dev/null -w '%{http_code}' ${url}`,
        timeoutMs: 15_000,
      }),
    ).toBe(`200\n${finished(0)}`);
  });

  test("killed about when they end have ended or were killed (seed 63) [PROC-63]", async () => {
    const chance = new Chance(63);
    const one = agent();
    await one.bash("set +m");
    for (let i = 0; i < 25; i++) {
      const text = await one.bash(
        `sleep 0.05 & p=$!; sleep 0.0${45 + chance.int(11)}; kill $p 2>/dev/null; wait $p 2>/dev/null; (exit $?)`,
      );
      expect(text, `time ${i}`).toMatch(/\[Command finished with exit code (0|143)\]$/);
    }
  });

  test("interrupted leave their shell alone [PROC-64]", async () => {
    const one = agent();
    const pid = await one.bash("echo $$");
    await one.bash({ command: "sleep 30", waitMs: 100 });
    await one.call("terminal_signal", { terminal_id: "shell", signal: "INT" });
    expect(await one.bash({ wait: true })).toBe(INTERRUPTED);
    expect(await one.bash("echo $$")).toBe(pid);
  });

  async function freePort(): Promise<number> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
});

describe("what happens while nobody calls", () => {
  test("the end of a job is told once, with the next result [NOTE-182]", async () => {
    const one = agent();
    await one.bash("(sleep 0.2 && echo done; touch over) &");
    await until("it is over", () => existsSync(join(one.context.cwd, "over")));
    const texts = [await one.bash("echo a"), await one.bash("echo b"), await one.bash("echo c")];
    expect(texts[0]).toContain(`\n${BACKGROUND}\ndone`);
    expect(texts.join("\n").match(/^done$/gm)).toHaveLength(1);
    expect(texts.join("\n").match(/Done +\(/g)).toHaveLength(1);
  });

  test("what still runs is listed [NOTE-183]", async () => {
    const one = agent();
    await one.bash("sleep 300 & sleep 301 &");
    expect(await one.bash("jobs")).toMatch(
      /^\[1\].*Running +sleep 300 &\n\[2\].*Running +sleep 301 &\n/,
    );
    await one.bash({ command: "sleep 302", waitMs: 50 });
    expect(await one.call("terminal_list", {})).toBe("shell  shell  running: sleep 302");
  });

  test("a wait whose time is over says so, the next brings the end; without a command it is an error [NOTE-184]", async () => {
    const one = agent();
    await one.bash({ command: "sleep 0.6; echo over", waitMs: 50 });
    expect(await one.bash({ wait: true, waitMs: 100 })).toBe(RUNNING);
    expect(await one.bash({ wait: true, waitMs: 5_000 })).toBe(`over\n${finished(0)}`);
    expect((await refusal(one.bash({ wait: true }), "NOT_RUNNING")).message).toContain(
      "no command in flight",
    );
  });

  test("a long wait is one call [NOTE-185]", async () => {
    const one = agent();
    await one.bash({ command: "for i in 1 2 3 4; do sleep 0.3; echo $i; done", waitMs: 50 });
    expect(await one.bash({ wait: true, waitMs: 20_000 })).toBe(`1\n2\n3\n4\n${finished(0)}`);
  });
});

describe("the screen", () => {
  test("takes lines of any width, whatever the size becomes meanwhile [EMU-72]", async () => {
    const one = agent({ maxOutputChars: 100_000 });
    const text = await one.bash(
      'for i in $(seq 2000); do echo "line $i xxxxxxxxxxxxxxxxxxxx"; ((i % 200)) || stty cols $((40 + i / 200 % 2 * 40)); done',
    );
    const lines = Array.from({ length: 2000 }, (_, i) => `line ${i + 1} ${"x".repeat(20)}\n`).join(
      "",
    );
    expect(text).toBe(lines + finished(0));
  });

  test.each([
    "中文 abc 日本",
    `${"0".repeat(78)}👨‍👩‍👧👍🏽❤️1️⃣ end`,
    `${"0".repeat(79)}中y`,
    `${"0".repeat(119)}中y`,
    `${"中".repeat(60)}e\u0301x`,
    "a\u200bb\u00a0c\u3000d",
  ])("is no detour for plain text: %s [EMU-74]", async (text) => {
    const one = agent();
    expect(await one.bash(`echo '${text}'`)).toBe(`${text}\n${finished(0)}`);
    // Nor when it comes in parts, and with a result between them.
    const half = Math.floor([...text].length / 2);
    const [a, b] = [[...text].slice(0, half).join(""), [...text].slice(half).join("")];
    const first = await one.bash({ command: `printf '${a}'; sleep 0.3; echo '${b}'`, waitMs: 150 });
    expect(first).toBe(`${a}\n${RUNNING}`);
    expect(await one.bash({ wait: true })).toBe(`${b}\n${finished(0)}`);
  });

  test("of a read shows it as it is [EMU-73]", async () => {
    const one = agent();
    await one.bash("echo '中文 abc 日本'; cat");
    expect(await one.call("terminal_read", { terminal_id: "shell" })).toMatch(/^中文 abc 日本\n/);
  });

  test("in raw mode makes no stairs [EMU-77]", async () => {
    const one = agent();
    expect(await one.bash("stty raw; echo hi; echo ho")).toBe(`hi\nho\n${finished(0)}`);
    expect(await one.bash("echo there; echo here")).toBe(`there\nhere\n${finished(0)}`);
  });

  test("left in any mode does not change the next result", async () => {
    const one = agent();
    for (const mode of [
      "?1049h",
      "?1h",
      "?25l",
      "?6h",
      "3;5r",
      "?2004h",
      "?7l",
      "?5h",
      "7m",
      "20h",
      "4h",
    ]) {
      await one.bash(`printf '\\e[${mode}'`);
      expect(await one.bash("printf 'a\\nb\\n\\tc\\n'"), mode).toBe(`a\nb\n\tc\n${finished(0)}`);
    }
  });
});

describe("calls at once", () => {
  test("twenty get their own lines, in order [PAR-190]", async () => {
    const { bash } = agent();
    const texts = await Promise.all(
      Array.from({ length: 20 }, (_, i) => bash(`echo a${i}; sleep 0.05; echo b${i}`)),
    );
    expect(texts).toEqual(texts.map((_, i) => `a${i}\nb${i}\n${finished(0)}`));
  });

  test("work on one state [PAR-191]", async () => {
    const { bash } = agent();
    await Promise.all([bash("export A=1"), bash("export B=2")]);
    expect(await bash("echo $A$B")).toBe(`12\n${finished(0)}`);
  });

  test("behind one that is left in flight are refused, each of them [PAR-190]", async () => {
    const { bash } = agent();
    const [first, ...others] = await Promise.allSettled([
      bash({ command: "sleep 60", waitMs: 50 }),
      ...Array.from({ length: 5 }, (_, i) => bash(`echo ${i}`)),
    ]);
    expect(first).toMatchObject({ value: RUNNING });
    expect(
      others.map((each) => each.status === "rejected" && (each.reason as { code: string }).code),
    ).toEqual(others.map(() => "BUSY"));
  });
});

describe("a timeout", () => {
  test.each([
    ["echo CRITICAL; sleep 30", "CRITICAL"],
    ["echo a; echo b; sleep 30", "a\nb"],
    ["i=0; while :; do echo tick $i; i=$((i+1)); sleep 0.25; done", "tick 0\ntick 1\ntick 2"],
  ])("keeps what was printed, and the next command runs: %s [TMO-175]", async (command, text) => {
    const policies = ["reset", "interrupt"] as const;
    const each = policies.map(async (onTimeout) => {
      const one = agent({ onTimeout });
      const got = await one.bash({ command, timeoutMs: 640 });
      expect(got.startsWith(`${text}\n`), got).toBe(true);
      expect(got).toContain(
        `\n${TIMED_OUT}\n[The shell was ${onTimeout === "reset" ? "reset" : "kept"}`,
      );
      expect(await one.bash("echo ok")).toBe(`ok\n${finished(0)}`);
    });
    await Promise.all(each);
  });
});

describe("the death of a shell", () => {
  test("by its own options is told, and the next command runs [DEATH-150]", async () => {
    const one = agent();
    expect(await one.bash("set -euo pipefail")).toBe(finished(0));
    expect(await one.bash("echo a")).toBe(`a\n${finished(0)}`);
    const text = await one.bash("echo $nope");
    expect(text).toMatch(/nope: unbound variable\n\[/);
    expect(text).not.toContain("exit code 0");
    expect(await one.bash("echo b")).toMatch(/^b\n\[Command finished with exit code 0\]$/);
    const death = await one.bash("set -e; false; echo not reached");
    expect(death).toBe(`[shell exited: code 1]\n${RESET}`);
    expect(await one.bash("echo c")).toBe(`c\n${finished(0)}`);
  });

  test("by exit is told with its status [DEATH-153]", async () => {
    const one = agent();
    expect(await one.bash("exit 42 || true")).toBe(`[shell exited: code 42]\n${RESET}`);
    expect(await one.bash("echo hi")).toBe(`hi\n${finished(0)}`);
  });

  test("is not that of a job [DEATH-154]", async () => {
    const one = agent();
    const text = await one.bash("x=1; sleep 300 & kill $!; wait $!; echo $?");
    expect(text).toMatch(/\n143\n\[Command finished with exit code 0\]$/);
    expect(await one.bash("echo hi $x")).toMatch(/^hi 1\n\[Command finished with exit code 0\]$/);
  });

  test.each([
    "PROMPT_COMMAND=; unset PS1; readonly PS1 PS2 PROMPT_COMMAND",
    "readonly PS1='x> ' PS2='y> ' PROMPT_COMMAND='printf pc'",
    "trap 'echo trapped' EXIT DEBUG ERR RETURN; trap - EXIT DEBUG ERR RETURN",
    "unalias -a; unset -f cd; enable -n echo; hash -r",
    "stty raw -echo; stty sane",
  ])("is not caused by settings: %s [DEATH-155]", async (setting) => {
    const one = agent();
    await one.bash(setting);
    for (let i = 0; i < 3; i++) expect(await one.bash("echo hi")).toBe(`hi\n${finished(0)}`);
  });
});
