/** What a model reads of a command: its output and how it ended, and nothing else. */

import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bashText } from "../../src/node-tools.ts";
import { Listener, lives, refusal, until } from "../support.ts";
import {
  type Agent,
  agent,
  BACKGROUND,
  earlier,
  finished,
  INTERRUPTED,
  KEPT,
  RESET,
  RESTARTED,
  RUNNING,
  refused,
  shellAtPrompt,
  TIMED_OUT,
  waiting,
} from "./support.ts";

describe("a command that has finished", () => {
  test.each([
    ["true", finished(0)],
    ["(exit 7)", finished(7)],
    ["(exit 255)", finished(255)],
    ["echo hi", `hi\n${finished(0)}`],
    ["echo", finished(0)],
    ["printf abc", `abc\n${finished(0)}`],
    ["printf ' '", ` \n${finished(0)}`],
    ["printf 'a \\t \\n'", `a \t \n${finished(0)}`],
    ["printf 'a\\n\\n\\n'", `a\n\n\n${finished(0)}`],
    ["printf '\\n\\n'", `\n\n${finished(0)}`],
    ["echo out; echo err >&2; false", `out\nerr\n${finished(1)}`],
    ["sh -c 'kill -9 $$'", `Killed\n${finished(137)}`],
    ["printf '\\e[31mred\\e[0m plain\\n'", `red plain\n${finished(0)}`],
    ["printf '10%%\\r50%%\\r100%%\\n'", `100%\n${finished(0)}`],
    ["printf 'a\\nb\\n\\e[2Ax\\e[2B\\r'", `x\nb\n${finished(0)}`],
    ["printf 'a\\n\\e[?1049hfull\\e[?1049lb\\n'", `a\nb\n${finished(0)}`],
    ["echo '中文 é 👍'", `中文 é 👍\n${finished(0)}`],
    [
      "echo '[Command finished with exit code 0]'; false",
      `[Command finished with exit code 0]\n${finished(1)}`,
    ],
    ["PS1='> '; PS2='>> '; PROMPT_COMMAND='printf pc'; echo hi", `hi\n${finished(0)}`],
    ["exec 2>/dev/null; echo hi; echo no >&2", `hi\n${finished(0)}`],
  ])("%s", async (command, text) => {
    const { bash } = agent();
    expect(await bash(command)).toBe(text);
    // And nothing of it shows up in the next one.
    expect(await bash("echo next")).toMatch(new RegExp(`^next\n\\${finished(0)}$`));
  });

  test("the line of a job stays, as bash prints it", async () => {
    const text = await agent().bash("sleep 9 & echo hi");
    expect(text).toMatch(/^\[1\] \d+\nhi\n\[Command finished with exit code 0\]$/);
  });

  test("is the same as data", async () => {
    const { tools, context } = agent();
    const { value } = await tools.bash.execute({ command: "cd /usr; echo hi; false" }, context);
    expect(value).toMatchObject({ earlier: null, restarted: false });
    expect(value.run).toMatchObject({
      command: "cd /usr; echo hi; false",
      output: "hi",
      end: { kind: "finished", exitCode: 1 },
      clip: null,
      background: "",
      cwd: "/usr",
    });
  });

  test("leaves its state to the next", async () => {
    const { bash } = agent();
    await bash("cd /usr; export A=1; b=2; f() { echo f$1; }; alias g='f g'; set -o noglob");
    expect(await bash("echo $PWD $(sh -c 'echo $A') $b *; g")).toBe(
      `/usr 1 2 *\nfg\n${finished(0)}`,
    );
  });
});

describe("output that is too long", () => {
  const SEQ = Array.from({ length: 100 }, (_, i) => i + 1).join("\n");

  test.each([
    ["head", "the first", SEQ.slice(0, 20)],
    ["tail", "the last", SEQ.slice(-20)],
    [
      "both",
      "the first and last",
      `${SEQ.slice(0, 10)}\n[… ${SEQ.length - 20} characters left out …]\n${SEQ.slice(-10)}`,
    ],
  ] as const)("with its %s kept, and a file with all of it", async (keep, part, shown) => {
    const { bash } = agent({ maxOutputChars: 20, keep });
    const text = await bash("seq 1 100; false");
    const path = /complete output: (\/.*)\]$/m.exec(text)?.[1] ?? "";
    const note = `[Output clipped: ${part} 20 of ${SEQ.length} characters are shown; complete output: ${path}]`;
    expect(text).toBe(`${shown}\n${note}\n${finished(1)}`);
    expect(readFileSync(path, "utf8")).toBe(`${SEQ}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test.each([
    ["head", "the first", ""],
    ["tail", "the last", "[The beginning of this output is lost; its last 20 characters:]\n"],
  ] as const)("of which only the %s is left: that is said", async (keep, part, lost) => {
    const { bash } = agent({ maxOutputChars: 20, keep });
    const bytes = 65 * 1024 * 1024;
    const text = await bash(`printf BEGIN; head -c ${bytes} /dev/zero | tr '\\0' x; printf END`);
    const shown = keep === "head" ? `BEGIN${"x".repeat(15)}` : `${"x".repeat(17)}END`;
    const note = `[Output clipped: ${part} 20 of ${bytes + 8} characters are shown; complete output: (unavailable)]`;
    expect(text).toBe(`${lost}${shown}\n${note}\n${finished(0)}`);
  });

  test("and the middle is lost: no file is promised", async () => {
    const { bash } = agent({ maxOutputChars: 20, keep: "both" });
    const bytes = 65 * 1024 * 1024;
    expect(await bash(`printf BEGIN; head -c ${bytes} /dev/zero | tr '\\0' x; printf END`)).toBe(
      `BEGINxxxxx\n[… ${bytes - 12} characters left out …]\nxxxxxxxEND\n` +
        `[Output clipped: the first and last 20 of ${bytes + 8} characters are shown; ` +
        `complete output: (unavailable)]\n${finished(0)}`,
    );
  });

  test("is not that which just fits", async () => {
    const { bash } = agent({ maxOutputChars: 20 });
    expect(await bash("printf '%020d\\n' 1")).toBe(`${"0".repeat(19)}1\n${finished(0)}`);
    expect(await bash("printf '%021d\\n' 1")).toContain("the first 20 of 21 characters");
  });

  test("is cut at 16 000 characters unless told otherwise, never inside of a character", async () => {
    const text = await agent().bash("printf x; printf '👍%.0s' {1..9000}");
    expect(text).toContain("the first 15999 of 18001 characters are shown");
    expect(text.split("\n")[0]).toBe(`x${"👍".repeat(7999)}`);
  });

  test("counts in each result what is new there", async () => {
    const one = agent({ maxOutputChars: 20 });
    const first = await one.bash("seq 1 100; read x; echo $x");
    expect(first).toContain(`[Output clipped: the first 20 of ${SEQ.length} characters`);
    expect(first).toMatch(/\n\[bash waits for input: /);
    await one.call("terminal_send", { terminal_id: "shell", text: "typed" });
    expect(await one.bash({ wait: true })).toBe(`typed\ntyped\n${finished(0)}`);
  });
});

describe("output of background jobs", () => {
  const whenItPrinted = async (one: Agent, print: string): Promise<void> => {
    await one.bash(`(until [ -e go ]; do sleep 0.01; done; ${print}; touch done) & disown`);
    writeFileSync(join(one.context.cwd, "go"), "");
    await until("it has printed", () => existsSync(join(one.context.cwd, "done")));
  };

  test("comes with the next result, apart, and once", async () => {
    const one = agent();
    await whenItPrinted(one, "echo late; echo later");
    expect(await one.bash("echo own; false")).toBe(
      `own\n${finished(1)}\n${BACKGROUND}\nlate\nlater`,
    );
    expect(await one.bash("echo own")).toBe(`own\n${finished(0)}`);
  });

  test("is bounded, and says how much is gone", async () => {
    const one = agent();
    await whenItPrinted(one, "seq 1 20000");
    const text = await one.bash("echo own");
    expect(text.startsWith(`own\n${finished(0)}\n${BACKGROUND}\n[… `)).toBe(true);
    expect(text).toMatch(/\n19999\n20000$/);
    expect(text.length).toBeLessThan(17_000);
  });
});

describe("a command left in flight", () => {
  test("is kept after waitMs; wait brings only what is new, and then the status", async () => {
    const one = agent();
    const { cwd } = one.context;
    expect(
      await one.bash({
        command:
          "echo a; until [ -e b ]; do sleep 0.01; done; echo b; until [ -e c ]; do sleep 0.01; done; echo c; (exit 4)",
        waitMs: 150,
      }),
    ).toBe(`a\n${RUNNING}`);
    expect(await one.bash({ wait: true, waitMs: 30 })).toBe(RUNNING);
    writeFileSync(join(cwd, "b"), "");
    expect(await one.bash({ wait: true, waitMs: 300 })).toBe(`b\n${RUNNING}`);
    writeFileSync(join(cwd, "c"), "");
    expect(await one.bash({ wait: true })).toBe(`c\n${finished(4)}`);
    await refusal(one.bash({ wait: true }), "NOT_RUNNING");
    expect(await one.bash("echo d")).toBe(`d\n${finished(0)}`);
  });

  test("and over by the next call: its rest comes first, marked, and once", async () => {
    const one = agent();
    const command = "echo a; sleep 0.3; echo rest; (exit 5)";
    expect(await one.bash({ command, waitMs: 100 })).toBe(`a\n${RUNNING}`);
    await shellAtPrompt(one);
    expect(await one.bash("echo own")).toBe(
      `${earlier(command, "rest", finished(5))}\nown\n${finished(0)}`,
    );
    expect(await one.bash("echo own")).toBe(`own\n${finished(0)}`);
  });

  test("and over without anything new: its status is told all the same", async () => {
    const one = agent();
    await one.bash({ command: "sleep 0.2\nfalse", waitMs: 30 });
    await shellAtPrompt(one);
    expect(await one.bash("true")).toBe(`${earlier("sleep 0.2…", finished(1))}\n${finished(0)}`);
  });

  test("that has ended the shell meanwhile says so, and the next runs in a fresh one", async () => {
    const one = agent();
    await one.bash("x=1; cd /");
    await one.bash({ command: "sleep 0.2; exit 3", waitMs: 30 });
    await shellAtPrompt(one);
    expect(await one.bash("echo [$x] $PWD")).toBe(
      `${earlier("sleep 0.2; exit 3", "[shell exited: code 3]", RESET)}\n[] ${one.context.cwd}\n${finished(0)}`,
    );
  });

  test("that has timed out meanwhile says so", async () => {
    const one = agent();
    await one.bash({ command: "echo a; sleep 60", waitMs: 100, timeoutMs: 200 });
    await shellAtPrompt(one);
    expect(await one.bash("echo own")).toBe(
      `${earlier("echo a; sleep 60", TIMED_OUT, RESET)}\nown\n${finished(0)}`,
    );
  });

  test("its rest is not lost to a call that is refused for its arguments", async () => {
    const one = agent();
    await one.bash({ command: "sleep 0.2; echo rest", waitMs: 30 });
    await shellAtPrompt(one);
    await refusal(one.bash("echo \0"), "BAD_ARGUMENT");
    await refusal(one.bash("echo \ud800"), "BAD_ARGUMENT");
    expect(await one.bash("echo own")).toBe(
      `${earlier("sleep 0.2; echo rest", "rest", finished(0))}\nown\n${finished(0)}`,
    );
  });

  test("its rest is not lost to a call that finds no directory to start in", async () => {
    const one = agent();
    const { cwd } = one.context;
    const command = `sleep 0.2; cd /; rm -r ${cwd}; echo rest; exit 3`;
    await one.bash({ command, waitMs: 30 });
    await shellAtPrompt(one);
    await refusal(one.bash("echo own"), "BAD_CWD");
    mkdirSync(cwd);
    expect(await one.bash("echo own")).toBe(
      `${earlier(command, "rest", "[shell exited: code 3]", RESET)}\nown\n${finished(0)}`,
    );
  });

  test("its rest comes first also with a restart", async () => {
    const one = agent();
    await one.bash({ command: "sleep 0.2; echo rest", waitMs: 30 });
    await shellAtPrompt(one);
    expect(await one.bash({ restart: true })).toBe(
      `${earlier("sleep 0.2; echo rest", "rest", finished(0))}\n${RESTARTED}`,
    );
  });

  test("while it runs another is refused, with what to do instead", async () => {
    const one = agent();
    await one.bash({ command: "sleep 60", waitMs: 30 });
    const error = await refusal(one.bash("echo other"), "BUSY");
    expect(error.message).toBe(
      refused(
        "sleep 60",
        "is still running: go on waiting with wait: true, type into it with terminal_send",
      ),
    );
  });

  test("while it waits for input another is refused, and never typed into it", async () => {
    const one = agent();
    expect(await one.bash("cat; echo over")).toBe(waiting("cat"));
    const error = await refusal(one.bash("echo other"), "BUSY");
    expect(error.message).toBe(
      refused("cat; echo over", "waits for input (cat): answer with terminal_send"),
    );
    await refusal(one.bash({ command: "echo other", waitMs: 50, timeoutMs: 50 }), "BUSY");
    await one.call("terminal_send", { terminal_id: "shell", keys: ["C-d"] });
    expect(await one.bash({ wait: true })).toBe(`over\n${finished(0)}`);
  });

  test("that no longer waits is not said to wait", async () => {
    const one = agent();
    expect(await one.bash("read x; sleep 60")).toBe(waiting("bash"));
    await one.call("terminal_send", { terminal_id: "shell", text: "answer" });
    const { message } = await refusal(one.bash("echo other"), "BUSY");
    expect(message).not.toContain("waits for");
    expect(message).toContain("is still running");
    expect(await one.call("terminal_list", {})).not.toContain("waits for");
  });
});

describe("a command that waits for input", () => {
  test.each([
    ["read -p 'name? ' x", `name? \n${waiting("bash")}`],
    ["printf 'a\\nb? '; read x", `a\nb? \n${waiting("bash")}`],
    ["cat", waiting("cat")],
    ["sh -c 'read x'", waiting("sh")],
    ["read -s -p 'Password: ' x", `Password: \n${waiting("bash", "a password")}`],
    ["cat | wc -l", waiting("cat")],
  ])("%s: the program that waits is named", async (command, text) => {
    expect(await agent().bash(command)).toBe(text);
  });

  test("goes on once it is answered", async () => {
    const one = agent();
    expect(await one.bash("read -p 'name? ' x; echo \"<$x>\"; (exit 9)")).toBe(
      `name? \n${waiting("bash")}`,
    );
    expect(await one.bash({ wait: true })).toBe(waiting("bash"));
    await one.call("terminal_send", { terminal_id: "shell", text: "Ada" });
    expect(await one.bash({ wait: true })).toBe(`Ada\n<Ada>\n${finished(9)}`);
  });

  test.each(["sleep 0.6 | wc -l", "sleep 0.6 </dev/null; echo 0", "read x < <(sleep 0.6); echo 0"])(
    "is not one that reads something else: %s",
    async (command) => {
      expect(await agent().bash(command)).toBe(`0\n${finished(0)}`);
    },
  );
});

describe("a shell that ends by itself", () => {
  test.each([
    ["echo last; exit 3", "last\n[shell exited: code 3]"],
    ["exit 0", "[shell exited: code 0]"],
    ["exec true", "[shell exited: code 0]"],
    ["exec sh -c 'echo in; exit 8'", "in\n[shell exited: code 8]"],
    ["echo last; kill -9 $$", "last\n[shell killed by signal: SIGKILL]"],
    ["kill -HUP $$; sleep 9", "[shell killed by signal: SIGHUP]"],
  ])("%s: says how, and the next call starts afresh", async (command, text) => {
    const one = agent();
    await one.bash("cd /; x=1; export Y=2; f() { :; }");
    expect(await one.bash(command)).toBe(`${text}\n${RESET}`);
    expect(await one.bash("echo $PWD [$x$Y]; type -t f")).toBe(
      `${one.context.cwd} []\n${finished(1)}`,
    );
  });

  test("when neither code nor signal is known", () => {
    const end = { kind: "shellExited", exitCode: null, signal: null } as const;
    const run = {
      command: "x",
      keep: "head",
      output: "out",
      end,
      clip: null,
      background: "",
    } as const;
    expect(
      bashText({ earlier: null, restarted: false, run: { ...run, cwd: null, durationMs: 1 } }),
    ).toBe(`out\n[shell exited]\n${RESET}`);
  });
});

describe("a command whose time is over", () => {
  test("keeps its output; the shell is reset, with what it started", async () => {
    const one = agent();
    await one.bash("cd /; x=1");
    const text = await one.bash({
      command: "sleep 60 & echo $!; printf 'half a line'; sleep 60",
      timeoutMs: 300,
    });
    expect(text).toMatch(
      /^\[1\] \d+\n\d+\nhalf a line\n\[Command timed out or OOM\]\n\[The shell was reset: /,
    );
    expect(text.endsWith(`\n${TIMED_OUT}\n${RESET}`)).toBe(true);
    expect(lives(Number(text.split("\n")[1]))).toBe(false);
    expect(await one.bash("echo [$x] $PWD")).toBe(`[] ${one.context.cwd}\n${finished(0)}`);
  });

  test("by the configured limit, which a call's own replaces", async () => {
    const one = agent({ timeoutMs: 300 });
    expect(await one.bash("sleep 60")).toBe(`${TIMED_OUT}\n${RESET}`);
    expect(await one.bash({ command: "sleep 0.5; echo a", timeoutMs: 5_000 })).toBe(
      `a\n${finished(0)}`,
    );
  });

  test("under interrupt keeps a shell that is back at its prompt", async () => {
    const one = agent({ onTimeout: "interrupt" });
    const pid = (await one.bash("cd /usr; x=1; echo $$")).split("\n")[0];
    const text = await one.bash({ command: "echo a; sleep 60; echo b", timeoutMs: 300 });
    expect(text).toMatch(/^a\n/);
    expect(text.endsWith(`\n${TIMED_OUT}\n${KEPT}`)).toBe(true);
    expect(text).not.toContain("b\n");
    expect(await one.bash("echo $$ $x $PWD")).toBe(`${pid} 1 /usr\n${finished(0)}`);
  });

  test("under interrupt resets a shell that is not", async () => {
    const one = agent({ onTimeout: "interrupt", shell: { graceMs: 200 } });
    await one.bash("x=1");
    expect(
      await one.bash({ command: "trap '' INT; echo a; while :; do :; done", timeoutMs: 300 }),
    ).toBe(`a\n${TIMED_OUT}\n${RESET}`);
    expect(await one.bash("echo [$x]")).toBe(`[]\n${finished(0)}`);
  });

  test("counts also while a call only waits", async () => {
    const one = agent();
    await one.bash({ command: "echo a; sleep 60", waitMs: 100, timeoutMs: 400 });
    expect(await one.bash({ wait: true })).toBe(`${TIMED_OUT}\n${RESET}`);
  });

  test("also when it waits for input", async () => {
    const one = agent();
    expect(await one.bash({ command: "cat", timeoutMs: 600 })).toBe(waiting("cat"));
    await shellAtPrompt(one);
    expect(await one.bash("echo own")).toBe(
      `${earlier("cat", TIMED_OUT, RESET)}\nown\n${finished(0)}`,
    );
  });
});

describe("a command that was interrupted", () => {
  test.each([
    "true",
    "PS1=",
    "unset PS1 PS2; PROMPT_COMMAND=",
    "PS1='x> '",
    "PS1='first\\nsecond> '",
    "PROMPT_COMMAND='PS1=\"first\\nsecond> \"'",
    "readonly PS1='x> '",
  ])("after %s: the shell is back at its prompt and kept", async (setting) => {
    const one = agent();
    await one.bash(setting);
    const pid = (await one.bash("x=1; echo $$")).split("\n")[0];
    expect(await one.bash({ command: "echo a; sleep 60; echo b", waitMs: 150 })).toBe(
      `a\n${RUNNING}`,
    );
    await one.call("terminal_signal", { terminal_id: "shell", signal: "INT" });
    expect(await one.bash({ wait: true })).toBe(INTERRUPTED);
    expect(await one.bash("echo $$ $x")).toBe(`${pid} 1\n${finished(0)}`);
  });

  test("by the key, as a person does", async () => {
    const one = agent();
    await one.bash({ command: "sleep 60", waitMs: 50 });
    await one.call("terminal_send", { terminal_id: "shell", keys: ["C-c"] });
    expect(await one.bash({ wait: true })).toMatch(
      /^(\^C\n)?\[Command interrupted \(exit code 130\)/,
    );
  });
});

describe("a restart", () => {
  test("alone", async () => {
    const one = agent();
    await one.bash("cd /; x=1; f() { :; }");
    expect(await one.bash({ restart: true })).toBe(RESTARTED);
    expect(await one.bash("echo $PWD [$x]; type -t f")).toBe(
      `${one.context.cwd} []\n${finished(1)}`,
    );
  });

  test("with a command", async () => {
    const one = agent();
    await one.bash("x=1");
    expect(await one.bash({ restart: true, command: "echo [$x]; false" })).toBe(
      `${RESTARTED}\n[]\n${finished(1)}`,
    );
  });

  test("before anything was run", async () => {
    const one = agent();
    expect(await one.bash({ restart: true, command: "pwd" })).toBe(
      `${RESTARTED}\n${one.context.cwd}\n${finished(0)}`,
    );
  });

  test("ends a command in flight, with what it started", async () => {
    const one = agent();
    const text = await one.bash({ command: "sleep 60 & echo $!; trap '' INT TERM HUP; cat" });
    const pid = Number(text.split("\n")[1]);
    expect(lives(pid)).toBe(true);
    expect(await one.bash({ restart: true })).toBe(RESTARTED);
    expect(lives(pid)).toBe(false);
    expect(await one.bash("echo own")).toBe(`own\n${finished(0)}`);
  });

  test("set to false is none", async () => {
    const one = agent();
    await one.bash("x=1");
    expect(await one.bash({ restart: false, wait: false, command: "echo $x" })).toBe(
      `1\n${finished(0)}`,
    );
  });

  test("is not done for a command that no bash can hold", async () => {
    const one = agent();
    await one.bash("x=1");
    await refusal(one.bash({ restart: true, command: "echo \0" }), "BAD_ARGUMENT");
    expect(await one.bash("echo $x")).toBe(`1\n${finished(0)}`);
  });
});

describe("output as it comes", () => {
  test("goes to the call that waits for it", async () => {
    const one = agent();
    const heard: string[][] = [[], [], []];
    const listener = (index: number) => ({
      onOutput: (text: string): void => void heard[index]?.push(text),
    });
    const command =
      "echo a; until [ -e b ]; do sleep 0.01; done; echo b; until [ -e c ]; do sleep 0.01; done; echo c";
    await one.bash({ command, waitMs: 150 }, listener(0));
    writeFileSync(join(one.context.cwd, "b"), "");
    await one.bash({ wait: true, waitMs: 300 }, listener(1));
    writeFileSync(join(one.context.cwd, "c"), "");
    await one.bash({ wait: true }, listener(2));
    expect(heard.map((pieces) => pieces.join(""))).toEqual(["a\n", "b\n", "c\n"]);
  });

  test("is heard by a wait also if nobody listened before", async () => {
    const one = agent();
    const listener = new Listener();
    await one.bash({ command: "sleep 0.3; echo late", waitMs: 30 });
    await one.bash({ wait: true }, { onOutput: listener.onOutput });
    expect(listener.text).toBe("late\n");
  });
});
