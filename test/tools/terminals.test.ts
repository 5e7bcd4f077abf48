/** The tools for interactive work: what they type, what they wait for, and what they read. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runningOf, settle } from "../processes-support.ts";
import { folder, lives, refusal, until } from "../support.ts";
import {
  type Agent,
  agent,
  finished,
  INTERRUPTED,
  makeTools,
  openTerminal,
  RUNNING,
  toolNamed,
  waiting,
} from "./support.ts";

const AT_PROMPT = "[wait: stdin_read] [the shell is at its prompt]";
const reads = (program: string, what = "input"): string =>
  `[wait: stdin_read] [${program} waits for ${what}]`;

/** An agent with a terminal, whose bash does not paint. */
async function withTerminal(shell: object = {}): Promise<{
  one: Agent;
  id: string;
  send: (args: object | string, signal?: AbortSignal) => Promise<string>;
}> {
  const inputrc = join(folder(), "inputrc");
  writeFileSync(inputrc, "set enable-bracketed-paste off\n");
  const one = agent({ shell: { ...shell, env: { INPUTRC: inputrc } } });
  const id = await openTerminal(one);
  const send = (args: object | string, signal?: AbortSignal): Promise<string> => {
    const input = typeof args === "string" ? { text: args } : args;
    return one.call("terminal_send", { terminal_id: id, ...input }, signal && { signal });
  };
  return { one, id, send };
}

/** Types into the command in flight of an agent's shell. */
function toShell(one: Agent, args: object, signal?: AbortSignal): Promise<string> {
  const all = { terminal_id: "shell", ...args };
  return one.call("terminal_send", all, signal && { signal });
}

interface PageText {
  readonly text: string;
  readonly first: number;
  readonly last: number;
  readonly total: number;
}

async function read(one: Agent, id: string, more: object = {}): Promise<PageText> {
  const text = await one.call("terminal_read", { terminal_id: id, ...more });
  const found = /^([\s\S]*?)\n?\[lines: (\d+)-(\d+) of (\d+)\]$/.exec(text);
  expect(found, text).not.toBeNull();
  const [, lines = "", first, last, total] = found ?? [];
  return { text: lines, first: Number(first), last: Number(last), total: Number(total) };
}

describe("opening", () => {
  test("answers the id and what was printed at the start", async () => {
    const one = agent({}, "a");
    expect(await one.call("terminal_open", {})).toMatch(
      /^\[terminal: terminal-1\]\nbash-[\d.]+[$#] ?$/,
    );
    expect(await one.call("terminal_open", {})).toMatch(/^\[terminal: terminal-2\]\n/);
  });

  test("takes a name, a directory and a backend", async () => {
    const one = agent({ backends: { python: { argv: ["python3", "-iqc", "print('hello')"] } } });
    const id = await openTerminal(one, { name: "mine", cwd: "/usr" });
    await one.call("terminal_send", { terminal_id: id, text: "echo in $PWD" });
    expect((await read(one, id)).text).toContain("\nin /usr\n");
    expect(await one.call("terminal_open", { type: "python" })).toMatch(
      /^\[terminal: terminal-2\]\nhello\n>>> ?$/,
    );
    expect(await one.call("terminal_list", {})).toBe(
      "terminal-1  shell  mine  open\nterminal-2  python  open",
    );
    await refusal(one.call("terminal_open", { cwd: "/nonexistent" }), "BAD_CWD");
    await refusal(one.call("terminal_open", { type: "nowhere" }), "NO_BACKEND");
  });

  test("starts in the owner's directory as it is then", async () => {
    const one = agent();
    const id = await openTerminal(one);
    const text = await one.call("terminal_send", { terminal_id: id, text: "echo in $PWD" });
    expect(text).toContain(`\nin ${one.context.cwd}\n`);
  });

  test("a program that ends at once shows what it printed", async () => {
    const one = agent({ backends: { brief: { argv: ["sh", "-c", "echo bye; exit 4"] } } });
    for (let i = 1; i <= 6; i++) {
      expect(await one.call("terminal_open", { type: "brief" })).toBe(
        `[terminal: terminal-${i}]\nbye`,
      );
    }
    await until(
      "all have ended",
      async () => !(await one.call("terminal_list", {})).includes("open"),
    );
    expect(await one.call("terminal_list", {})).toMatch(
      /^terminal-1 {2}brief {2}ended: exit code 4\n/,
    );
  });

  test("is limited to 16; one that has ended makes room", async () => {
    const one = agent();
    const ids = await Promise.all(Array.from({ length: 16 }, () => openTerminal(one)));
    expect(new Set(ids).size).toBe(16);
    const { message } = await refusal(one.call("terminal_open", {}), "BUSY");
    expect(message).toContain("16 terminals are open");
    await refusal(
      Promise.all([one.call("terminal_open", {}), one.call("terminal_open", {})]),
      "BUSY",
    );
    // The limit is each owner's own, and the shell does not count.
    await openTerminal(agent({}, "another", one.tools));
    expect(await one.bash("echo hi")).toBe(`hi\n${finished(0)}`);
    await one.call("terminal_send", { terminal_id: ids[5], text: "exit" });
    expect(await openTerminal(one)).toBe("terminal-17");
    await refusal(one.call("terminal_read", { terminal_id: ids[5] }), "NO_TERMINAL");
    await one.call("terminal_close", { terminal_id: ids[0] });
    expect(await openTerminal(one)).toBe("terminal-18");
  });

  test("that is cancelled leaves no terminal behind", async () => {
    const one = agent({ backends: { slow: { argv: ["sh", "-c", "echo $$; exec sleep 60"] } } });
    const signal = AbortSignal.timeout(100);
    const { message } = await refusal(
      one.call("terminal_open", { type: "slow" }, { signal }),
      "ABORTED",
    );
    expect(message).toBe("tool call aborted");
    await until(
      "no terminal is left",
      async () => (await one.call("terminal_list", {})) === "[no terminals]",
    );
  });
});

describe("sending", () => {
  test("presses Enter after a text, unless told otherwise", async () => {
    const { send, one, id } = await withTerminal();
    expect(await send("echo a")).toMatch(/^echo a\na\n\S+[$#] ?\n\[wait: stdin_read\]/);
    expect(await send({ text: "echo b", submit: false })).toBe(`echo b\n${AT_PROMPT}`);
    expect(await send({ submit: true })).toMatch(/^\n?b\n\S+[$#] ?\n\[wait/);
    expect(await send({ text: "", keys: ["#", "x", "Enter"] })).not.toMatch(/\nx\n/);
    await send({ text: "read -n 1 y", keys: ["Z"] });
    expect(await send("echo [$y]")).toContain("\n[Z]\n");
    expect((await read(one, id)).text).not.toMatch(/\n\S+[$#] ?\n\S+[$#]/);
  });

  test("only waits without text and keys", async () => {
    const { send } = await withTerminal();
    expect(await send({})).toBe(AT_PROMPT);
    expect(await send({ text: "sleep 1.5; echo over", waitMs: 200 })).toMatch(
      /\n\[wait: timeout\]$/,
    );
    expect(await send({ waitMs: 900 })).toBe("[wait: timeout]");
    expect(await send({})).toMatch(/^over\n\S+[$#] ?\n\[wait: stdin_read\]/);
  });

  test("presses keys by their names, in the form that the program asked for", async () => {
    const { send } = await withTerminal();
    await send("stty -echo -icanon; cat -v");
    const pressed = async (...keys: string[]): Promise<string> =>
      (await send({ keys: [...keys, "Enter"] })).split("\n")[0] ?? "";
    expect(await pressed("Up", "Down", "Left", "Right", "Home", "End")).toBe(
      "^[[A^[[B^[[D^[[C^[[H^[[F",
    );
    expect(await pressed("Escape", "F1", "F5", "F12", "PageUp", "PgDn", "Insert", "Delete")).toBe(
      "^[^[OP^[[15~^[[24~^[[5~^[[6~^[[2~^[[3~",
    );
    expect(
      await pressed("C-a", "C-A", "C-_", "M-x", "M-Up", "Backspace", "BTab", "Space", "x"),
    ).toBe("^A^A^_^[x^[^[[A^?^[[Z x");
    await send({ keys: ["C-c"] });
    await send("printf '\\e[?1h'; cat -v");
    expect(await pressed("Up", "M-Left", "F1")).toBe("^[OA^[^[OD^[OP");
  });

  test("of an unknown key types nothing of it all", async () => {
    const { send, one, id } = await withTerminal();
    await send("stty -echo; cat -v");
    for (const key of ["Entr", "", "C-", "C-é", "Ctrl-c", "F13", "ab"]) {
      await refusal(send({ text: "typed", keys: ["Up", key] }), "BAD_ARGUMENT");
    }
    await send("last");
    expect((await read(one, id)).text).toMatch(/cat -v\nlast\n?$/);
  });

  test("types any text as it is", async () => {
    const { send } = await withTerminal();
    await send("stty -echo; cat");
    const text = "a\tb  'c' \"d\" \\e $x !! 中文 👍 é";
    expect(await send(text)).toBe(`${text}\n${reads("cat", "a password")}`);
    expect(await send("one\ntwo\nthree")).toBe(`one\ntwo\nthree\n${reads("cat", "a password")}`);
  });

  test("brings all that appeared, or says that something is left out", async () => {
    const { send } = await withTerminal();
    expect(await send("seq 1 300")).toContain(
      `\n${Array.from({ length: 300 }, (_, i) => i + 1).join("\n")}\n`,
    );
    const text = await send({ text: "seq 1 40000", waitMs: 20_000 });
    expect(text).toContain("\n39999\n40000\n");
    expect(text.length).toBeLessThan(17_000);
    expect(text).toMatch(/left out/);
  });
});

describe("how a wait ends", () => {
  test("somebody waits for input, who is named", async () => {
    const { send } = await withTerminal();
    expect(await send("cat")).toBe(`cat\n${reads("cat")}`);
    expect(await send({ keys: ["C-d"] })).toMatch(
      /\n?\[wait: stdin_read\] \[the shell is at its prompt\]$/,
    );
    expect(await send("read -p 'name? ' x")).toMatch(/name\? ?\n\[wait: stdin_read\]/);
    await send("Ada");
    expect(await send("read -s -p 'Password: ' x")).toMatch(
      /Password: ?\n\[wait: stdin_read\] \[bash waits for a password\]$/,
    );
    await send("secret");
    expect(await send("sh -c 'read x'")).toContain(reads("sh"));
  });

  test("nothing comes, and nobody is proved to read", async () => {
    const commands = [
      "sleep 60",
      "sleep 60 | cat",
      "sleep 60 | wc -l",
      "cat <(sleep 60)",
      "mkfifo f; cat f",
      "python3 -c 'import time; time.sleep(60)'",
      "cat & sleep 60",
      // Each read is over before it can be seen twice.
      "for i in {1..60}; do timeout --foreground 0.03 cat; sleep 0.07; done",
    ];
    const waits = commands.map(async (command) => {
      const { send } = await withTerminal();
      return [command, (await send(command)).split("\n").at(-1)];
    });
    expect(await Promise.all(waits)).toEqual(
      commands.map((command) => [command, "[wait: inferred_idle]"]),
    );
  });

  test("the time is over", async () => {
    const { send } = await withTerminal();
    const begin = performance.now();
    const text = await send({ text: "while sleep 0.1; do echo tick; done", waitMs: 600 });
    expect(text).toMatch(/\ntick\n\[wait: timeout\]$/);
    expect(performance.now() - begin).toBeGreaterThan(590);
    expect(performance.now() - begin).toBeLessThan(2_000);
  });

  test("the program has ended", async () => {
    const { send, one, id } = await withTerminal();
    expect(await send("echo last; exit 3")).toMatch(/\nlast\nexit\n\[wait: session_exit\]$/);
    expect(await one.call("terminal_list", {})).toBe(`${id}  shell  ended: exit code 3`);
    const { message } = await refusal(send("echo more"), "CLOSED");
    expect(message).toContain("has ended");
    expect((await read(one, id)).text).toMatch(/\nlast\nexit\n?$/);
    expect(await one.call("terminal_signal", { terminal_id: id, signal: "INT" })).toContain(
      "could not be sent",
    );
    expect(await one.call("terminal_close", { terminal_id: id })).toBe(`[closed: ${id}]`);
    await refusal(one.call("terminal_read", { terminal_id: id }), "NO_TERMINAL");
  });

  test("the call is cancelled while nobody takes what is typed", async () => {
    const { send } = await withTerminal();
    // In raw mode nothing of it is thrown away.
    const command = "stty raw -echo; sleep 60";
    await send({ text: command, waitMs: 300 });
    const one = agent();
    await one.bash({ command, waitMs: 150 });
    const text = "x".repeat(300_000);
    const begin = performance.now();
    const refusals = await Promise.all([
      refusal(toShell(one, { text, waitMs: 4_000 }, AbortSignal.timeout(300)), "ABORTED"),
      refusal(send({ text, waitMs: 4_000 }, AbortSignal.timeout(300)), "ABORTED"),
    ]);
    expect(performance.now() - begin).toBeLessThan(2_000);
    for (const { message } of refusals) expect(message).toBe("tool call aborted");
  });

  test("a signal ended it", async () => {
    const { send, one, id } = await withTerminal();
    expect(await send("kill -9 $$")).toMatch(/\[wait: session_exit\]$/);
    expect(await one.call("terminal_list", {})).toBe(`${id}  shell  ended: SIGKILL`);
  });

  test("the call is cancelled: what was typed stays typed", async () => {
    const { send, one, id } = await withTerminal();
    const call = one.call(
      "terminal_send",
      { terminal_id: id, text: "echo typed; sleep 60" },
      { signal: AbortSignal.timeout(200) },
    );
    expect((await refusal(call, "ABORTED")).message).toBe("tool call aborted");
    expect(await send({ waitMs: 100 })).toBe("[wait: timeout]");
    expect((await read(one, id)).text).toMatch(/\ntyped\n?$/);
  });
});

describe("reading", () => {
  test("shows the screen, and pages of what scrolled off it, with right numbers", async () => {
    const { send, one, id } = await withTerminal({ rows: 10 });
    await send("seq 1 500");
    const { total } = await read(one, id, { count: 1 });
    const all = await read(one, id, { offset: 1, count: 2_000 });
    expect([all.first, all.last]).toEqual([1, total]);
    const lines = all.text.split("\n");
    const at = lines.indexOf("1");
    expect(lines.slice(at, at + 500)).toEqual(Array.from({ length: 500 }, (_, i) => `${i + 1}`));
    for (const [offset, count] of [
      [1, 1],
      [100, 7],
      [495, 2_000],
      [total, 5],
    ] as const) {
      const page = await read(one, id, { offset, count });
      expect(page.first).toBe(offset);
      expect(page.last).toBe(Math.min(total, offset + count - 1));
      expect(page.text).toBe(lines.slice(page.first - 1, page.last).join("\n"));
    }
    const end = await read(one, id, { count: 7 });
    expect([end.first, end.last, end.total]).toEqual([total - 6, total, total]);
    expect(end.text).toBe(lines.slice(-7).join("\n"));
    expect((await read(one, id, { offset: 3 })).last).toBe(202);
    expect(await one.call("terminal_read", { terminal_id: id, offset: total + 1 })).toBe(
      `[lines: none of ${total}]`,
    );
    const screen = await read(one, id);
    expect(screen.text.split("\n")).toEqual(lines.slice(-10));
    expect([screen.first, screen.last, screen.total]).toEqual([total - 9, total, total]);
  });

  test("knows the numbers after more lines than are kept", async () => {
    const { send, one, id } = await withTerminal();
    await send({ text: "seq 1 50000", waitMs: 20_000 });
    const end = await read(one, id, { count: 3 });
    const [a, b] = end.text.split("\n");
    expect([a, b]).toEqual(["49999", "50000"]);
    const shift = end.first - 49_999;
    expect(shift).toBeGreaterThan(0);
    expect(shift).toBeLessThan(10);
    const page = await read(one, id, { offset: 45_000 + shift, count: 3 });
    expect(page.text).toBe("45000\n45001\n45002");
    expect([page.first, page.last, page.total]).toEqual([
      45_000 + shift,
      45_002 + shift,
      50_001 + shift,
    ]);
    // The oldest are gone, which the numbers tell.
    const oldest = await read(one, id, { offset: 1, count: 2 });
    expect(oldest.first).toBeGreaterThan(30_000);
    expect(oldest.text.split("\n")[0]).toBe(`${oldest.first - shift}`);
  });

  test.each([
    ["a cursor below the last text", "cat", {}],
    ["a line that wraps", "printf '%s\\n' a b c; printf '%050d\\n' 1; echo d", { cols: 20 }],
    [
      "lines that wrap, and scrolled",
      "seq 1 30; printf '%050d\\n' 1 2; echo d",
      { cols: 20, rows: 12 },
    ],
    ["empty lines at its end", "printf 'a\\n\\n\\n'; cat", {}],
    ["a screen that was cleared", "seq 1 100; clear; echo x", {}],
  ])("has for the screen the numbers that the pages have: %s", async (_, command, size) => {
    const { send, one, id } = await withTerminal(size);
    await send(command);
    const screen = await read(one, id);
    const page = await read(one, id, {
      offset: screen.first,
      count: screen.last - screen.first + 1,
    });
    expect([page.first, page.last, page.total]).toEqual([screen.first, screen.last, screen.total]);
    // A row of the screen may be a part of a line.
    const joined = (text: string): string => text.replaceAll("\n", "");
    expect(joined(screen.text)).toBe(joined(page.text));
    expect(joined(screen.text)).not.toBe("");
  });

  test("shows a program's own screen, and the ordinary one after it", async () => {
    const { send, one, id } = await withTerminal({ rows: 10 });
    await send("echo before; printf '\\e[?1049h\\e[H\\e[2Jfull'; cat; printf '\\e[?1049l'");
    expect((await read(one, id)).text).toBe("full");
    await send({ keys: ["C-d"] });
    const { text } = await read(one, id);
    expect(text).toMatch(/\nbefore\n/);
    expect(text).not.toContain("full\n");
  });

  test.each([
    [{ offset: 0 }, "offset must be at least 1; received 0"],
    [{ offset: 1.5 }, "offset must be a whole number; received 1.5"],
    [{ count: "3" }, 'count must be a number of lines; received "3"'],
    [{ count: -1 }, "count must be at least 1; received -1"],
  ])("refuses %j", async (more, rule) => {
    const one = agent();
    const id = await openTerminal(one);
    const { message } = await refusal(
      one.call("terminal_read", { terminal_id: id, ...more }),
      "BAD_ARGUMENT",
    );
    expect(message).toBe(`terminal_read: ${rule}`);
  });
});

describe("signals", () => {
  test("reach the foreground process group", async () => {
    const signals = [
      ["INT", ""],
      ["SIGTERM", "Terminated"],
      ["KILL", "Killed"],
      ["SIGTSTP", "Stopped"],
      ["HUP", "Hangup"],
    ] as const;
    const each = signals.map(async ([signal, word]) => {
      const { send, one, id } = await withTerminal();
      await send({ text: "sleep 60 | sleep 61", waitMs: 200 });
      const name = signal.replace(/^SIG/, "");
      expect(await one.call("terminal_signal", { terminal_id: id, signal })).toBe(
        `[SIG${name} was sent to the foreground process group]`,
      );
      expect(await send({}), signal).toContain(AT_PROMPT);
      expect((await read(one, id)).text).toContain(word);
      expect(await send("jobs | wc -l"), signal).toContain(name === "TSTP" ? "\n1\n" : "\n0\n");
    });
    await Promise.all(each);
  });

  test("of other names are refused", async () => {
    const { one, id } = await withTerminal();
    for (const signal of ["USR1", "SIG", "9", "", "INTR", 9, undefined]) {
      const { message } = await refusal(
        one.call("terminal_signal", { terminal_id: id, signal }),
        "BAD_ARGUMENT",
      );
      expect(message).toContain("signal");
    }
  });

  test("are as the schema of the tool has them", () => {
    const { properties } = toolNamed(makeTools(), "terminal_signal").parameters;
    const { enum: names } = (properties as Record<string, { enum?: string[] }>).signal ?? {};
    // A host that holds the arguments against the schema refuses what it does not name.
    if (names !== undefined)
      expect(names).toEqual(expect.arrayContaining(["INT", "SIGINT", "SIGHUP"]));
  });
});

describe("closing", () => {
  test("leaves nothing behind", async () => {
    const { send, one, id } = await withTerminal();
    await send(
      "sleep 300 & echo $! >pids; setsid sh -c 'echo $$ >>pids; exec sleep 301' & echo $$ >>pids",
    );
    const pids = (): number[] =>
      readFileSync(join(one.context.cwd, "pids"), "utf8").trim().split("\n").map(Number);
    await until("all have begun", () => pids().length === 3);
    expect(runningOf(pids())).toEqual(pids());
    expect(await one.call("terminal_close", { terminal_id: id })).toBe(`[closed: ${id}]`);
    expect(runningOf(pids())).toEqual([]);
    expect(await one.call("terminal_list", {})).toBe("[no terminals]");
    await refusal(one.call("terminal_close", { terminal_id: id }), "NO_TERMINAL");
  });

  test("while a call waits for it ends that call", async () => {
    const { send, one, id } = await withTerminal();
    const waits = send({ text: "while sleep 0.1; do echo tick; done", waitMs: 20_000 });
    await until("it ticks", async () => (await read(one, id)).text.includes("\ntick"));
    await one.call("terminal_close", { terminal_id: id });
    expect(await waits).toMatch(/\[wait: session_exit\]$/);
  });
});

describe("whose terminals", () => {
  test("another owner's id is answered like one that nobody has", async () => {
    const tools = makeTools();
    const [a, b] = [agent({}, "a", tools), agent({}, {}, tools)];
    await openTerminal(a);
    const id = await openTerminal(a);
    await openTerminal(b);
    await a.bash({ command: "cat" });
    const calls: [string, object][] = [
      ["terminal_send", { text: "typed" }],
      ["terminal_read", {}],
      ["terminal_read", { offset: 1 }],
      ["terminal_signal", { signal: "KILL" }],
      ["terminal_close", {}],
    ];
    for (const [name, more] of calls) {
      for (const [known, unknown] of [
        [id, "terminal-9"],
        ["shell", "shall"],
      ] as const) {
        const answers = await Promise.all(
          [known, unknown].map((each) =>
            refusal(b.call(name, { terminal_id: each, ...more }), "NO_TERMINAL"),
          ),
        );
        const [first, second] = answers.map(({ message }) => message);
        expect(first?.replaceAll(known, unknown)).toBe(second);
      }
    }
    expect(await b.call("terminal_list", {})).toBe("terminal-1  shell  open");
    expect(await a.call("terminal_list", {})).toBe(
      "shell  shell  cat waits for input in: cat\nterminal-1  shell  open\nterminal-2  shell  open",
    );
    expect((await read(a, id)).text).not.toContain("typed");
    await a.call("terminal_send", { terminal_id: "shell", keys: ["C-d"] });
    expect(await a.bash({ wait: true })).toBe(finished(0));
  });
});

describe("the owner's shell", () => {
  test("can be typed into and read while a command runs", async () => {
    const one = agent();
    const send = (args: object): Promise<string> =>
      one.call("terminal_send", { terminal_id: "shell", ...args });
    await refusal(send({ text: "x" }), "NO_TERMINAL");
    expect(await one.bash("echo a; read x; echo got $x; read y; sleep 0.2; (exit 6)")).toBe(
      `a\n${waiting("bash")}`,
    );
    expect(await one.call("terminal_list", {})).toMatch(
      /^shell {2}shell {2}bash waits for input in: echo a; read x/,
    );
    expect(await send({ text: "one" })).toBe(`one\ngot one\n${reads("bash")}`);
    expect((await read(one, "shell")).text).toBe("a\none\ngot one");
    expect(await send({ text: "two" })).toBe(`two\n${AT_PROMPT}`);
    expect(await one.bash({ wait: true })).toBe(`one\ngot one\ntwo\n${finished(6)}`);
    await refusal(send({ text: "echo typed" }), "NOT_RUNNING");
    await refusal(
      one.call("terminal_signal", { terminal_id: "shell", signal: "INT" }),
      "NOT_RUNNING",
    );
    expect(await one.bash("echo b")).toBe(`b\n${finished(0)}`);
    expect(await one.call("terminal_list", {})).toBe("shell  shell  at its prompt");
  });

  test("answers while a call of bash waits for it", async () => {
    const one = agent();
    const call = one.bash("sleep 60; echo over");
    await until("it is listed", async () =>
      (await one.call("terminal_list", {})).includes("running: sleep"),
    );
    expect(await one.call("terminal_signal", { terminal_id: "shell", signal: "INT" })).toContain(
      "was sent",
    );
    expect(await call).toBe(INTERRUPTED);
  });

  test("tells each of two calls at once what appeared", async () => {
    const one = agent();
    const command = "for i in 1 2 3 4 5 6 7 8 9; do sleep 0.1; echo tick$i; done; sleep 60";
    await one.bash({ command, waitMs: 20 });
    const [long, short] = await Promise.all([
      toShell(one, { waitMs: 800 }),
      toShell(one, { waitMs: 250 }),
    ]);
    expect(short).toMatch(/^tick1\n(tick2\n)?\[wait: timeout\]$/);
    expect(long).toMatch(/^tick1\ntick2\ntick3\ntick4\n[\s\S]*\[wait: timeout\]$/);
  });

  test("each of the signals does to a command what it does", async () => {
    for (const [signal, status] of [
      ["TERM", 143],
      ["KILL", 137],
      ["HUP", 129],
    ] as const) {
      const one = agent();
      await one.bash({ command: "sleep 60", waitMs: 50 });
      await one.call("terminal_signal", { terminal_id: "shell", signal });
      expect(await one.bash({ wait: true })).toMatch(
        new RegExp(`\\[Command finished with exit code ${status}\\]$`),
      );
    }
  });

  test("has the right numbers of lines, also after many", async () => {
    const one = agent();
    await one.bash("seq 1 100000; read x");
    const end = await read(one, "shell", { offset: 99_998, count: 3 });
    expect(end.text).toBe("99998\n99999\n100000");
    expect([end.first, end.last]).toEqual([99_998, 100_000]);
    expect([100_000, 100_001]).toContain(end.total);
    const screen = await read(one, "shell");
    const top = Number(screen.text.split("\n")[0]);
    expect(top).toBe(screen.first);
  });

  test("is closed like a terminal, and opened anew by the next command", async () => {
    const one = agent();
    await one.bash("x=1; sleep 300 &");
    const pids = ((await one.bash("echo $! $$")).split("\n")[0] ?? "").split(" ").map(Number);
    expect(runningOf(pids)).toEqual(pids);
    await one.bash({ command: "sleep 60", waitMs: 30 });
    expect(await one.call("terminal_close", { terminal_id: "shell" })).toBe("[closed: shell]");
    expect(runningOf(pids)).toEqual([]);
    expect(await one.call("terminal_list", {})).toBe("[no terminals]");
    expect(await one.bash("echo [$x]")).toBe(`[]\n${finished(0)}`);
  });

  test("is no terminal that a waiting call keeps: it says still running meanwhile", async () => {
    const one = agent();
    expect(await one.bash({ command: "sleep 60", waitMs: 30 })).toBe(RUNNING);
    expect(await one.call("terminal_send", { terminal_id: "shell", waitMs: 100 })).toBe(
      "[wait: timeout]",
    );
    expect(await one.call("terminal_send", { terminal_id: "shell" })).toBe("[wait: inferred_idle]");
  });
});

describe("programs", () => {
  test("vim edits a file", async () => {
    const { send, one, id } = await withTerminal();
    const text = await send("vim -u NONE -N file");
    expect(text).toContain(reads("vim"));
    await send({ text: "ihello", submit: false });
    expect((await read(one, id)).text).toMatch(/^hello\n~/);
    await send({
      text: " world",
      submit: false,
      keys: ["Left", "Left", "Left", "Left", "Left", "X"],
    });
    await send({ keys: ["Escape"] });
    expect(await send(":wq")).toContain(AT_PROMPT);
    expect(readFileSync(join(one.context.cwd, "file"), "utf8")).toBe("hello Xworld\n");
    expect((await read(one, id)).text).not.toContain("~");
  });

  test("python keeps its state from line to line", async () => {
    const { send } = await withTerminal();
    expect(await send("PYTHON_BASIC_REPL=1 python3 -q")).toMatch(
      />>> ?\n\[wait: stdin_read\] \[python\S* waits for input\]$/,
    );
    await send("x = 6");
    expect(await send("x * 7")).toMatch(/^x \* 7\n42\n>>> ?\n\[wait: stdin_read\]/);
    expect(await send("raise SystemExit(3)")).toContain(AT_PROMPT);
    expect(await send("echo $?")).toContain("\n3\n");
  });

  test.each(["shell", "terminal"])(
    "the answer to a prompt for a password in a %s is nowhere in any result or card",
    async (where) => {
      const one = agent();
      const told: unknown[] = [];
      const secret = "hunter2-Geheim";
      const call = async (name: string, args: object): Promise<string> => {
        const tool = toolNamed(one.tools, name);
        told.push(tool.presentCall(args));
        const result = await tool.execute(args, one.context);
        told.push(result, tool.presentResult(args, result));
        return result.text;
      };
      const command =
        "python3 -c 'import getpass; print(\"got\", len(getpass.getpass()))'; echo over";
      let id = "shell";
      if (where === "shell") {
        expect(await call("bash", { command })).toMatch(
          /^Password: \n\[python\S* waits for a password: /,
        );
      } else {
        id = await openTerminal(one);
        expect(await call("terminal_send", { terminal_id: id, text: command })).toMatch(
          /Password: ?\n\[wait: stdin_read\] \[python\S* waits for a password\]$/,
        );
      }
      await call("terminal_list", {});
      await call("terminal_send", { terminal_id: id, text: secret });
      if (where === "shell")
        expect(await call("bash", { wait: true })).toContain(`got ${secret.length}\nover`);
      expect(await call("terminal_read", { terminal_id: id, count: 100 })).toContain(
        `got ${secret.length}`,
      );
      await call("terminal_read", { terminal_id: id });
      await call("terminal_list", {});
      await call("bash", { command: "echo next" });
      expect(JSON.stringify(told)).not.toContain("hunter2");
    },
  );

  test("a terminal and its processes end with the program", async () => {
    const { send, one, id } = await withTerminal();
    const text = await send("sleep 300 & echo pid $!");
    const pid = Number(/^pid (\d+)$/m.exec(text)?.[1]);
    expect(lives(pid)).toBe(true);
    await send("exit");
    expect(
      await settle(
        () => runningOf([pid]),
        (left) => left.length === 0,
      ),
    ).toEqual([]);
    expect(await one.call("terminal_list", {})).toContain(`${id}  shell  ended: exit code`);
  });
});
