/** The one-shot `bash` as a model meets it: its schema, its texts, its errors, and how its calls look to a person. */

import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { BashOutcome, BashRunOptions, BashSpec } from "../../src/core/executor.ts";
import { type Card, createTools, localExecutor } from "../../src/node-tools.ts";
import { pidsIn } from "../executor-support.ts";
import { runningOf } from "../processes-support.ts";
import { Chance, lives, refusal, until } from "../support.ts";
import { type Caller, caller, makeOnceTools, Recorder } from "./once-support.ts";
import { agent, finished, toolNamed } from "./support.ts";

const KILLED = "[killed by signal: SIGTERM]";

describe("the text of a result", () => {
  test.each<[string, string]>([
    ["echo out; echo err >&2; exit 3", "out\n[stderr]\nerr\n[exit code: 3]"],
    ["echo out", "out"],
    ["true", ""],
    ["echo", ""],
    ["exit 1", "[exit code: 1]"],
    ["echo err >&2", "[stderr]\nerr"],
    ["echo >&2; exit 2", "[stderr]\n\n[exit code: 2]"],
    ["printf 'a\\n\\n'; printf 'b\\n\\n' >&2", "a\n\n[stderr]\nb\n"],
    ["printf '  tab\\t  '", "  tab\t  "],
    ["kill -KILL $$", "[killed by signal: SIGKILL]"],
    ["echo before; kill -HUP $$", "before\n[killed by signal: SIGHUP]"],
    ["echo '[exit code: 7]'", "[exit code: 7]"],
    ["(sleep 5; echo late) & echo now", "now"],
    ["cat; echo end", "end"],
  ])("of %s", async (command, text) => {
    expect(await caller().bash(command)).toBe(text);
  });

  test.each<[string, string]>([
    ["echo so far; sleep 30", `so far\n[timed out after 400ms]\n${KILLED}`],
    [
      "trap 'exit 0' TERM; echo on; while :; do sleep 0.02; done 2>/dev/null",
      "on\n[timed out after 400ms]",
    ],
    [
      "trap 'echo err >&2; exit 9' TERM; echo out; sleep 30 & wait",
      "out\n[stderr]\nerr\n[timed out after 400ms]\n[exit code: 9]",
    ],
  ])("tells that time was over: %s", async (command, text) => {
    expect(await caller().bash({ command, timeoutMs: 400 })).toBe(text);
  });

  test("tells the limit that held: that of the executor, if there is none or a longer one", async () => {
    const { bash } = caller({
      executor: localExecutor({ timeoutMs: 150, maxTimeoutMs: 300, graceMs: 500 }),
    });
    expect(await bash("sleep 30")).toBe(`[timed out after 150ms]\n${KILLED}`);
    expect(await bash({ command: "sleep 30", timeoutMs: 9_000 })).toBe(
      `[timed out after 300ms]\n${KILLED}`,
    );
  });

  test("shows the end of what is too long, and where all of it is, after the status", async () => {
    const { bash } = caller();
    const text = await bash("seq 1 20000; echo err >&2; exit 3");
    const all = readFileSync(pathsIn(text)[0] as string, "utf8");
    expect(all).toMatch(/^1\n2\n[\s\S]*\n20000\n$/);
    expect(text).toBe(
      `${all.slice(-64_000, -1)}\n[stderr]\nerr\n[exit code: 3]\n` +
        `[output truncated; full output: ${pathsIn(text)[0]}]`,
    );

    const both = await bash("seq 1 20000; seq 1 30000 >&2; kill -TERM $$");
    const [out, err] = pathsIn(both).map((path) => readFileSync(path, "utf8"));
    expect(both).toBe(
      `${out?.slice(-64_000, -1)}\n[stderr]\n${err?.slice(-64_000, -1)}\n${KILLED}\n` +
        pathsIn(both)
          .map((path) => `[output truncated; full output: ${path}]`)
          .join("\n"),
    );
    expect(err).toMatch(/\n30000\n$/);
  });

  test("says so where there is no complete copy", async () => {
    expect(await caller().bash("yes | head -c 70000000")).toBe(
      `${"y\n".repeat(32_000)}[output truncated; full output: (unavailable)]`,
    );
  });
});

/** The files that a text names. */
function pathsIn(text: string): string[] {
  return [...text.matchAll(/full output: (\/\S+)\]/g)].map(([, path]) => path as string);
}

describe("the value of a result", () => {
  test("is the outcome", async () => {
    const { tools, context } = caller();
    const { value } = await toolNamed(tools, "bash").execute(
      { command: "echo out; echo err >&2; exit 3", description: "Print" },
      context,
    );
    const stream = (text: string): object => ({
      text,
      totalBytes: text.length,
      truncated: false,
      spillPath: null,
    });
    expect(value).toEqual({
      outcome: {
        exitCode: 3,
        signal: null,
        timedOutMs: null,
        stdout: stream("out\n"),
        stderr: stream("err\n"),
        denials: [],
        durationMs: expect.any(Number),
      },
      task_id: null,
    });
  });

  test("comes with the output of both streams while it is printed", async () => {
    let heard = "";
    const text = await caller().bash("echo out; sleep 0.1; echo err >&2", {
      onOutput: (part) => {
        heard += part;
      },
    });
    expect(heard).toBe("out\nerr\n");
    expect(text).toBe("out\n[stderr]\nerr");
  });
});

describe("the schema", () => {
  const propertiesOf = (config: object): string[] =>
    Object.keys(makeOnceTools(config).bashOnce?.parameters.properties ?? {});

  test("has exactly the arguments of the tool", () => {
    const { parameters } = makeOnceTools().bashOnce ?? {};
    expect(parameters).toMatchObject({
      type: "object",
      required: ["command", "description"],
      properties: {
        command: { type: "string", description: expect.any(String) },
        description: { type: "string", description: expect.any(String) },
        timeoutMs: { description: expect.stringContaining("120 000") },
        workdir: { type: "string", description: expect.any(String) },
        run_in_background: { type: "boolean", description: expect.any(String) },
      },
    });
    const names = ["command", "description", "timeoutMs", "workdir"];
    expect(propertiesOf({})).toEqual([...names, "run_in_background"]);
    expect(propertiesOf({ enableRunInBackground: true })).toEqual([...names, "run_in_background"]);
    expect(propertiesOf({ enableRunInBackground: false })).toEqual(names);
  });

  test("and the description do not speak of the background where there is none", () => {
    const { bashOnce } = makeOnceTools({ enableRunInBackground: false });
    const told = JSON.stringify([bashOnce?.description, bashOnce?.parameters]);
    expect(told).not.toMatch(/background|task/i);
  });

  test("of the persistent bash offers no background either", () => {
    const { bash } = createTools({ tools: "both" });
    expect(JSON.stringify(bash.parameters)).not.toContain("run_in_background");
  });
});

describe("the set of tools", () => {
  const namesOf = (config: object): string[] => createTools(config).all.map(({ name }) => name);
  const terminals = ["open", "send", "read", "signal", "close", "list"].map(
    (it) => `terminal_${it}`,
  );
  const tasks = ["task_output", "task_list", "task_kill"];

  test("is what the config says", () => {
    expect(namesOf({})).toEqual(["bash", ...terminals]);
    expect(namesOf({ tools: "persistent" })).toEqual(["bash", ...terminals]);
    expect(namesOf({ tools: "one-shot" })).toEqual(["bash", ...tasks]);
    expect(namesOf({ tools: "both" })).toEqual(["bash", "bash_once", ...terminals, ...tasks]);
    expect(namesOf({ tools: "one-shot", tasks: false })).toEqual(["bash"]);
    expect(namesOf({ tools: "persistent", tasks: true })).toEqual(["bash", ...terminals, ...tasks]);
    const { bash, bashOnce, tasks: runtime } = createTools({ tools: "one-shot" });
    expect([bash, bashOnce?.name, runtime]).toEqual([null, "bash", expect.anything()]);
  });

  test("comes with a sentence for the system prompt where there is a one-shot bash", () => {
    expect(createTools({ tools: "one-shot" }).promptSections).toEqual([
      { name: "tool:bash", order: 105, text: expect.stringContaining("[exit code: N]") },
    ]);
    expect(createTools({ tools: "both" }).promptSections).toHaveLength(1);
    expect(createTools().promptSections).toEqual([]);
  });

  test("with both keeps one apart from the other", async () => {
    const one = agent({ tools: "both" });
    await one.bash("cd /; export A=1; f() { :; }");
    const once = (command: string): Promise<string> =>
      one.call("bash_once", { command, description: "Look" });
    expect(await once("echo ${A-none} $PWD; type -t f")).toBe(
      `none ${one.context.cwd}\n[exit code: 1]`,
    );
    await once("cd /usr; A=2");
    expect(await one.bash("echo $A $PWD")).toBe(`1 /\n${finished(0)}`);
  });

  test.each([
    [{ tools: "one" }, "tools"],
    [{ executor: {} }, "executor"],
    [{ executor: { resolve() {}, run() {}, start() {} } }, "executor"],
    [{ enableRunInBackground: "no" }, "enableRunInBackground"],
    [{ tasks: 1 }, "tasks"],
    [{ sandbox: "yes" }, "sandbox"],
    [{ sandbox: { workspaces: "/" } }, "sandbox"],
    [{ preExecute: () => undefined }, "preExecute"],
    [{ approve: true }, "approve"],
  ])("is refused with the options %j", async (config, key) => {
    const error = await refusal((async () => createTools(config as object))(), "BAD_OPTION");
    expect(error.message).toContain(key);
  });

  test("disposes of an executor of its own, and of none that it was given", async () => {
    const executor = new Recorder();
    const { tools, bash } = caller({ executor });
    await bash("true");
    await tools.dispose();
    expect(executor.closed).toBe(false);

    const other = caller();
    const pids = pidsIn(await other.bash("sleep 300 & setsid sleep 300 & echo $!; echo $!"));
    expect(runningOf(pids)).toEqual(pids);
    await other.tools.dispose();
    expect(runningOf(pids)).toEqual([]);
    await refusal(other.bash("true"), "CLOSED");
  });
});

describe("the executor gets", () => {
  test("the named arguments and nothing else: no env, no stdin", async () => {
    const executor = new Recorder();
    const { bash, start, end } = caller({ executor });
    const more = {
      env: { INJECTED: "yes", PATH: "/nowhere" },
      stdin: "typed",
      description: "Look",
      cwd: "/usr",
      timeout: 1,
      signal: "KILL",
    };
    const command = "echo ${INJECTED-none}; cat; pwd";
    const text = await bash({ command, workdir: "/", timeoutMs: 5_000, ...more });
    expect(text).toBe("none\n/");
    expect(executor.requests).toEqual([{ command, workdir: "/", timeoutMs: 5_000 }]);
    expect(executor.runs[0]).toMatchObject({ stdin: null, timeoutMs: 5_000 });
    expect(executor.runs[0]?.env).not.toHaveProperty("INJECTED");

    const { context } = caller({ executor });
    const task = await start(command, { cwd: context.cwd });
    expect(await end(task)).toBe(`none\n${context.cwd}\n[status: completed, exit code: 0]`);
    await bash({ command, run_in_background: true, ...more }, { cwd: "/" });
    expect(executor.requests.slice(1)).toEqual([
      { command, workdir: context.cwd },
      { command, workdir: "/" },
    ]);
    expect(executor.starts.map(({ stdin }) => stdin)).toEqual([null, null]);
  });

  test("the directory of the owner, and a relative one made absolute by it", async () => {
    const executor = new Recorder();
    const tools = makeOnceTools({ executor });
    const [a, b] = [caller({}, "a", tools), caller({}, "b", tools)];
    for (const one of [a, b]) {
      const { cwd } = one.context;
      mkdirSync(join(cwd, "sub/deep"), { recursive: true });
      expect(await one.bash("pwd")).toBe(cwd);
      expect(await one.bash({ command: "pwd", workdir: "sub" })).toBe(join(cwd, "sub"));
      expect(await one.bash({ command: "pwd", workdir: "./sub/../sub/deep/" })).toBe(
        join(cwd, "sub/deep"),
      );
      expect(await one.bash({ command: "pwd", workdir: "/usr" })).toBe("/usr");
    }
    // Before the executor has a say.
    for (const { workdir } of executor.requests) expect(workdir).toMatch(/^\//);
    // An owner without a directory leaves it to the executor.
    const { bashOnce } = tools;
    await bashOnce?.execute({ command: "pwd", description: "Look" }, { owner: "c" });
    expect(executor.requests.at(-1)).toEqual({ command: "pwd" });
  });
});

describe("a call is refused", () => {
  test.each<[object, string]>([
    [{ command: undefined }, "command"],
    [{ command: 7 }, "command"],
    [{ command: "" }, "command"],
    [{ command: " \n" }, "command"],
    [{ command: "a\0b" }, "command"],
    [{ description: undefined }, "description"],
    [{ description: "" }, "description"],
    [{ description: 5 }, "description"],
    [{ timeoutMs: 0 }, "timeoutMs"],
    [{ timeoutMs: "5" }, "timeoutMs"],
    [{ timeoutMs: 1.5 }, "timeoutMs"],
    [{ workdir: "" }, "workdir"],
    [{ workdir: 1 }, "workdir"],
    [{ run_in_background: "yes" }, "run_in_background"],
  ])("with the arguments %j", async (args, key) => {
    const executor = new Recorder();
    const { bash } = caller({ executor });
    const error = await refusal(bash({ command: "touch made", ...args }), "BAD_ARGUMENT");
    expect(error.message).toContain(key);
    expect(executor.requests).toEqual([]);
  });

  test("with no arguments at all", async () => {
    const { tools, context } = caller();
    for (const args of [undefined, null, {}, "ls", []]) {
      await refusal(toolNamed(tools, "bash").execute(args, context), "BAD_ARGUMENT");
    }
  });

  test("with a directory that is none", async () => {
    const one = caller();
    for (const workdir of ["missing", "/nonexistent/x", "/dev/null"]) {
      const error = await refusal(one.bash({ command: "touch made", workdir }), "BAD_CWD");
      expect(error.message).toContain(workdir);
    }
    expect(readdirSync(one.context.cwd)).toEqual([]);
    await refusal(one.bash("pwd", { cwd: "/nonexistent" }), "BAD_CWD");
  });

  test("where there is no bash", async () => {
    await refusal(
      caller({ shell: { env: { PATH: "/nonexistent" } } }).bash("true"),
      "BASH_NOT_FOUND",
    );
  });

  test("to be left running where that is disabled", async () => {
    const executor = new Recorder();
    const { bash } = caller({ executor, enableRunInBackground: false });
    const error = await refusal(bash({ command: "true", run_in_background: true }), "NO_TASKS");
    expect(error.message).toContain("run_in_background");
    expect(executor.requests).toEqual([]);
    expect(await bash({ command: "echo on", run_in_background: false })).toBe("on");
  });
});

describe("a call that is cancelled", () => {
  test("is told in the words of every tool, and nothing of it is left", async () => {
    const stop = new AbortController();
    let heard = "";
    const { bash } = caller();
    const running = bash("echo $$; (trap '' TERM; setsid sleep 300) & echo $!; sleep 300", {
      signal: stop.signal,
      onOutput: (text) => {
        heard += text;
      },
    });
    await until("it runs", () => pidsIn(heard).length === 2);
    stop.abort(new Error("SECRET REASON"));
    const error = await refusal(running, "ABORTED");
    expect(error.message).toBe("tool call aborted");
    expect(runningOf(pidsIn(heard))).toEqual([]);
  });

  test("before it begins reaches no executor", async () => {
    const executor = new Recorder();
    const { bash } = caller({ executor });
    const signal = AbortSignal.abort("SECRET REASON");
    for (const run_in_background of [true, false]) {
      const call = bash({ command: "touch made", run_in_background }, { signal });
      expect((await refusal(call, "ABORTED")).message).toBe("tool call aborted");
    }
    expect(executor.requests).toEqual([]);
  });

  test("has no result, though the command has just ended", async () => {
    const stop = new AbortController();
    class Late extends Recorder {
      override async run(spec: BashSpec, options?: BashRunOptions): Promise<BashOutcome> {
        // The cancellation comes between the end of the command and that of the call.
        const outcome = await super.run(spec, options);
        stop.abort("SECRET REASON");
        return outcome;
      }
    }
    const { bash } = caller({ executor: new Late() });
    const error = await refusal(bash("echo done", { signal: stop.signal }), "ABORTED");
    expect(error.message).toBe("tool call aborted");
  });
});

describe("cards", () => {
  const { bashOnce: tool } = createTools({ tools: "one-shot" });
  const callCard = (args: unknown): Card | undefined => tool?.presentCall(args);

  /** The card of a result, of a call that is carried out; of a record that has been JSON it is the same. */
  async function resultCard(one: Caller, args: object): Promise<Card | undefined> {
    const whole = { description: "Test", ...args };
    const result = await one.tools.bashOnce?.execute(whole, one.context);
    const card = tool?.presentResult(whole, result);
    const replayed = JSON.parse(JSON.stringify([whole, result])) as [unknown, unknown];
    expect(tool?.presentResult(...replayed)).toEqual(card);
    return card;
  }

  test("of a call show the exact command, what it is for, and the directory as given", () => {
    for (const command of ["ls -la", "  a\n b\t\n", "echo '```'"]) {
      expect(callCard({ command, description: "List the files", timeoutMs: 5 })).toEqual({
        card: "terminal",
        title: command,
        description: "List the files",
      });
    }
    expect(callCard({ command: "ls", description: "List", workdir: "../x" })).toEqual({
      card: "terminal",
      title: "ls",
      description: "List",
      cwd: "../x",
    });
    expect(callCard({ command: "ls", description: "List", run_in_background: false })).toEqual({
      card: "terminal",
      title: "ls",
      description: "List",
    });
  });

  test("of a start in the background show what is executed", () => {
    expect(
      callCard({ command: "npm start", description: "Start the server", run_in_background: true }),
    ).toEqual({
      card: "generic",
      title: expect.any(String),
      kind: "execute",
      rawInput: "npm start",
      content: ["Start the server"],
    });
  });

  test.each<[string, object]>([
    ["echo hi; false", { output: "hi\n", exitCode: 1 }],
    ["true", { output: "", exitCode: 0 }],
    ["echo '[exit code: 9]'", { output: "[exit code: 9]\n", exitCode: 0 }],
    ["echo '[killed by signal: SIGKILL]'; exit 4", { output: expect.any(String), exitCode: 4 }],
    ["echo out; echo err >&2", { output: "out\nerr\n", exitCode: 0 }],
    ["kill -9 $$", { output: "", signal: "SIGKILL" }],
  ])("of the result of %s have the raw output, and the status as data", async (command, fields) => {
    expect(await resultCard(caller(), { command })).toEqual({
      card: "terminal",
      title: command,
      ...fields,
    });
  });

  test("of a task that was started, an error and an old record have no status", async () => {
    const one = caller();
    expect(await resultCard(one, { command: "true", run_in_background: true })).toEqual({
      card: "generic",
      title: expect.any(String),
      content: ["started background task bash-1"],
    });
    const error = await refusal(one.bash({ command: "ls", workdir: "missing" }), "BAD_CWD");
    const failure = { error: { code: error.code, message: error.message } };
    expect(tool?.presentResult({ command: "ls" }, failure)).toEqual({
      card: "generic",
      title: expect.any(String),
      content: [error.message],
    });
    expect(tool?.presentResult({ command: "ls" }, { text: "a\n[exit code: 1]" })).toEqual({
      card: "generic",
      title: expect.any(String),
      content: ["a\n[exit code: 1]"],
    });
  });

  test("come of anything, and never of a mistake", () => {
    const chance = new Chance(8);
    const junk = [
      undefined,
      null,
      true,
      7,
      "",
      "text",
      [],
      {},
      { command: 5 },
      { command: null, description: "x" },
      { command: "ls", description: 7, workdir: {}, run_in_background: "yes" },
      { command: "ls", run_in_background: true },
      { value: null },
      { value: { outcome: 7 } },
      { value: { outcome: { stdout: "old text", exitCode: 0 } } },
      { value: { outcome: { stdout: { text: "a" } } } },
      { value: { outcome: { stdout: { text: "a" }, stderr: null, exitCode: "0", signal: 9 } } },
      { value: { run: { output: "other tool" } }, text: 5 },
      { error: "failed" },
      { error: { message: 7 } },
      Object.create(null),
    ];
    for (let time = 0; time < 500; time++) {
      const [args, result] = [chance.pick(junk), chance.pick(junk)];
      for (const card of [callCard(args), tool?.presentResult(args, result)]) {
        expect(card).toMatchObject({ card: expect.stringMatching(/^(terminal|generic)$/) });
        const { exitCode, signal } = card as unknown as Record<string, unknown>;
        expect(["undefined", "number"]).toContain(typeof exitCode);
        expect(["undefined", "string"]).toContain(typeof signal);
      }
    }
    expect(callCard({ command: 5 })).toMatchObject({ card: "generic" });
  });

  test("are made without changing what they are made of", () => {
    const args = Object.freeze({ command: "ls", description: "List", run_in_background: true });
    const result = Object.freeze({
      text: "x",
      value: Object.freeze({ outcome: null, task_id: "t" }),
    });
    expect(callCard(args)).toEqual(callCard(args));
    expect(tool?.presentResult(args, result)).toEqual(tool?.presentResult(args, result));
  });
});

test("the tool is at hand for many owners at once", async () => {
  const tools = makeOnceTools();
  const texts = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const one = caller({}, index % 2 === 0 ? `owner ${index}` : { index }, tools);
      return one.bash(`sleep 0.05; echo ${index} >file; cat file; exit ${index}`);
    }),
  );
  expect(texts).toEqual(
    texts.map((_, index) => (index === 0 ? "0" : `${index}\n[exit code: ${index}]`)),
  );
});

describe("the owner of a call", () => {
  test("takes a command that runs along when it is disposed of", async () => {
    const one = caller();
    const pidFile = join(one.context.cwd, "pid");
    const running = refusal(one.bash("echo $$ >pid; exec sleep 1000"), "CLOSED");
    await until("it runs", () => existsSync(pidFile) && readFileSync(pidFile, "utf8") !== "");
    await one.tools.disposeOwner("agent");
    await running;
    expect(lives(Number(readFileSync(pidFile, "utf8")))).toBe(false);
  });

  test("takes a command along that is just being left running", async () => {
    const one = caller();
    const starting = refusal(one.start("exec sleep 1000"), "CLOSED");
    await one.tools.disposeOwner("agent");
    await starting;
    expect(one.tools.tasks?.list("agent")).toEqual([]);
  });

  test("has to be somebody", async () => {
    const one = caller();
    await refusal(one.bash("touch made", { owner: "" }), "NO_OWNER");
    expect(existsSync(join(one.context.cwd, "made"))).toBe(false);
  });
});

test("a command that begins with a dash is no option", async () => {
  const one = caller();
  expect(await one.bash("-x; echo $?")).toMatch(
    /^127\n\[stderr\]\n.*bash: line 1: -x: command not found$/,
  );
});
