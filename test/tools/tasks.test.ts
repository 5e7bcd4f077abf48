/** Background tasks: started, read, waited for, ended, announced, and nobody else's. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { BashProcess, BashSpec } from "../../src/core/executor.ts";
import {
  createTools,
  processOutcome,
  renderProcessRead,
  type TaskEnd,
  type TaskOutput,
  type TaskProducer,
  TaskRuntime,
} from "../../src/node-tools.ts";
import { pidsIn } from "../executor-support.ts";
import {
  childCommands,
  each,
  heapMb,
  lines,
  pause,
  runningOf,
  settle,
} from "../processes-support.ts";
import { refusal, until } from "../support.ts";
import { type Caller, caller, makeOnceTools, Recorder } from "./once-support.ts";
import { agent, finished, toolNamed } from "./support.ts";

/** A command that goes on until the file `go` is there. */
const GATE = "until [ -e go ]; do sleep 0.01; done";

/** Lets commands go on that wait at the gate. */
function openGate({ context }: Caller): void {
  writeFileSync(join(context.cwd, "go"), "");
}

function statusOf(text: string): string | undefined {
  return /\[status: (.*)\]$/.exec(text)?.[1];
}

/** Reads a task until its output holds something that is looked for. */
async function readUntil(
  one: Caller,
  task_id: string,
  found: (text: string) => boolean,
): Promise<string> {
  // The text for the model loses one newline at the end of each part; the value has every byte.
  const tool = toolNamed(one.tools, "task_output");
  let text = "";
  await until(`what is looked for comes of ${task_id}`, async () => {
    const { value } = await tool.execute({ task_id }, one.context);
    text += (value as { output: TaskOutput }).output.text;
    return found(text);
  });
  return text;
}

const notice = (id: string, label: string, status: string): RegExp =>
  new RegExp(
    `\\[background task ${id} \\(${label.replace(/\W/g, "\\$&")}\\) has ended after \\d+\\.\\d s: ${status}; read it with task_output\\]`,
  );

describe("a task", () => {
  test("is started at once, read while it runs, and read to its end", async () => {
    const one = caller();
    const start = performance.now();
    const text = await one.bash({
      command: `echo begun; ${GATE}; echo over`,
      run_in_background: true,
    });
    expect(text).toBe("started background task bash-1");
    expect(performance.now() - start).toBeLessThan(2_000);
    expect(await readUntil(one, "bash-1", (so) => so === "begun\n")).toBe("begun\n");
    expect(await one.call("task_output", { task_id: "bash-1" })).toBe("[status: running]");
    openGate(one);
    expect(await one.end("bash-1")).toBe("over\n[status: completed, exit code: 0]");
  });

  test("can be read after its end, as often as one likes [LOST-38]", async () => {
    const one = caller();
    const id = await one.start("true");
    expect(await one.end(id)).toBe("[status: completed, exit code: 0]");
    for (let time = 0; time < 2; time++) {
      expect(await one.call("task_output", { task_id: id })).toBe(
        "[status: completed, exit code: 0]",
      );
    }
    expect(await one.call("task_kill", { task_id: id })).toBe("[status: completed, exit code: 0]");
    expect(await one.call("task_list")).toBe(`${id}  [completed, exit code: 0]  true`);
  });

  test("has a number of its own, of its owner", async () => {
    const tools = makeOnceTools();
    const [a, b] = [caller({}, "a", tools), caller({}, {}, tools)];
    expect([await a.start("true"), await a.start("true")]).toEqual(["bash-1", "bash-2"]);
    expect(await b.start("true")).toBe("bash-1");
  });

  test("that fails, or is killed by a signal of its own, says so [CODE-162]", async () => {
    const one = caller();
    expect(await one.end(await one.start("echo x; exit 3"))).toBe(
      "x\n[status: completed, exit code: 3]",
    );
    expect(await one.end(await one.start("kill -9 $$"))).toBe("[status: killed, signal: SIGKILL]");
    expect(await one.end(await one.start("nosuchcmd"))).toMatch(
      /command not found\n\[status: completed, exit code: 127\]$/,
    );
  });

  test("has no time limit and no input, whatever the call says [STDIN-44]", async () => {
    const one = caller();
    const text = await one.bash({
      command: "cat; sleep 0.4; echo end",
      run_in_background: true,
      timeoutMs: 50,
      stdin: "typed",
    });
    expect(await one.end(text.replace(/.* /, ""))).toBe("end\n[status: completed, exit code: 0]");
  });

  test("is data for programs, too", async () => {
    const one = caller();
    const { tools, context } = one;
    const started = await tools.bashOnce?.execute(
      { command: "echo x", description: "Print", run_in_background: true },
      context,
    );
    expect(started?.value).toEqual({ outcome: null, task_id: "bash-1" });
    await one.end("bash-1");
    const { value } = await toolNamed(tools, "task_list").execute({}, context);
    const task = {
      id: "bash-1",
      kind: "bash",
      label: "echo x",
      startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      durationMs: expect.any(Number),
      end: { status: "completed", exitCode: 0 },
    };
    expect(value).toEqual({ tasks: [task] });
  });
});

describe("waiting", () => {
  test("comes back when its time is over, and the task runs on [NOTE-184, LOST-39, LOST-40]", async () => {
    const one = caller();
    const id = await one.start(`${GATE}; echo done`);
    const start = performance.now();
    expect(await one.call("task_output", { task_id: id, wait: true, timeout_ms: 300 })).toBe(
      "[status: running]",
    );
    const took = performance.now() - start;
    expect(took).toBeGreaterThanOrEqual(299);
    expect(took).toBeLessThan(1_500);
    openGate(one);
    expect(await one.end(id)).toBe("done\n[status: completed, exit code: 0]");
  });

  test("comes back with the end, in one call [NOTE-185]", async () => {
    const one = caller();
    const id = await one.start("sleep 0.3; echo done");
    const start = performance.now();
    expect(await one.call("task_output", { task_id: id, wait: true, timeout_ms: 600_000 })).toBe(
      "done\n[status: completed, exit code: 0]",
    );
    expect(performance.now() - start).toBeLessThan(3_000);
    expect(await one.call("task_output", { task_id: id, wait: true })).toBe(
      "[status: completed, exit code: 0]",
    );
  });

  test("can be cancelled, and the task runs on with all of its output", async () => {
    const one = caller();
    const id = await one.start(`echo begun; ${GATE}; echo over`);
    const signal = AbortSignal.timeout(100);
    const args = { task_id: id, wait: true };
    const error = await refusal(one.call("task_output", args, { signal }), "ABORTED");
    expect(error.message).toBe("tool call aborted");
    openGate(one);
    expect(await one.end(id)).toBe("begun\nover\n[status: completed, exit code: 0]");
  });

  test("does not wait unless it is asked to", async () => {
    const one = caller();
    const id = await one.start("sleep 300");
    const start = performance.now();
    for (const args of [{}, { wait: false }, { wait: false, timeout_ms: 9_000 }]) {
      expect(await one.call("task_output", { task_id: id, ...args })).toBe("[status: running]");
    }
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});

describe("output", () => {
  test("that is read in parts is the whole, each byte once", async () => {
    const one = caller();
    const id = await one.start(
      "for i in $(seq 1 60); do printf '%s é😀 out\\n' $i; echo $i err >&2; sleep 0.005; done; printf end",
    );
    let [whole, reads] = ["", 0];
    for (let text = ""; statusOf(text) !== "completed, exit code: 0"; ) {
      const result = await toolNamed(one.tools, "task_output").execute(
        { task_id: id },
        one.context,
      );
      text = result.text;
      const { output } = result.value as { output: TaskOutput };
      await pause(2);
      expect(output).toMatchObject({ dropped: false, spillPath: null });
      whole += output.text;
      reads++;
    }
    const wanted = Array.from({ length: 60 }, (_, i) => `${i + 1} é😀 out\n${i + 1} err\n`);
    expect(whole).toBe(`${wanted.join("")}end`);
    expect(reads).toBeGreaterThan(2);
  });

  test("that nobody has read in time is told as dropped, once, with the file that has it all", async () => {
    const one = caller();
    const id = await one.start("seq 1 50000");
    const text = await one.end(id);
    const all = `${lines(50_000)}\n`;
    const path = /full output: (\/.*)\]/.exec(text)?.[1] as string;
    expect(text).toBe(
      `${all.slice(-64_000, -1)}\n` +
        `[some output was dropped from memory; full output: ${path}]\n` +
        "[status: completed, exit code: 0]",
    );
    expect(readFileSync(path, "utf8")).toBe(all);
    expect(await one.end(id)).toBe("[status: completed, exit code: 0]");
    await one.tools.dispose();
    expect(existsSync(path)).toBe(false);
  });

  test("of which there is no complete copy says so", async () => {
    const one = caller();
    const id = await one.start("yes | head -c 70000000");
    expect((await one.end(id)).slice(64_000)).toBe(
      "[some output was dropped from memory; full output: (unavailable)]\n" +
        "[status: completed, exit code: 0]",
    );
  });
});

describe("a task that is killed", () => {
  test("is told with its signal and the reason, and nothing of it is left", async () => {
    const one = caller();
    const id = await one.start(
      "(trap '' TERM; setsid sleep 300) & echo $!; sleep 300 & echo $!; echo $$; wait",
    );
    const pids = pidsIn(await readUntil(one, id, (text) => pidsIn(text).length === 3));
    expect(await one.call("task_kill", { task_id: id, reason: "no longer needed" })).toBe(
      "[status: killed, signal: SIGTERM, reason: no longer needed]",
    );
    expect(runningOf(pids)).toEqual([]);
    // It stays so, whatever comes later.
    expect(await one.call("task_kill", { task_id: id, reason: "another" })).toContain("no longer");
    expect(await one.call("task_output", { task_id: id })).toContain("no longer");
    expect(await one.call("task_list")).toMatch(/^bash-1 {2}\[killed, signal: SIGTERM, reason: no/);
  });

  test("is killed in the end, if it does not mind TERM", async () => {
    const one = caller();
    const id = await one.start("trap '' TERM; echo on; while :; do sleep 0.02; done 2>/dev/null");
    await readUntil(one, id, (text) => text === "on\n");
    expect(await one.call("task_kill", { task_id: id })).toMatch(
      /^\[status: killed, signal: SIGKILL, reason: .+\]$/,
    );
  });

  test("and ends by itself is completed, with its status and last words", async () => {
    const one = caller();
    const id = await one.start("trap 'echo bye; exit 4' TERM; echo on; sleep 300 & wait");
    await readUntil(one, id, (text) => text === "on\n");
    expect(await one.call("task_kill", { task_id: id })).toBe(
      "bye\n[status: completed, exit code: 4]",
    );
  });

  test("by two calls at once, or while it ends, is no mistake [PROC-63, STDIN-50]", async () => {
    const one = caller();
    const texts = await each(40, 4, async (number) => {
      const task_id = await one.start("sleep 0.05");
      await pause(40 + (number % 20));
      return Promise.all([
        one.call("task_kill", { task_id }),
        one.call("task_kill", { task_id }),
        one.call("task_output", { task_id, wait: true }),
      ]);
    });
    for (const text of texts.flat()) {
      expect(statusOf(text)).toMatch(
        /^(completed, exit code: 0|killed, signal: SIGTERM, reason: .*)$/,
      );
    }
  });
});

describe("the end of a task that nobody has read", () => {
  test("is told once, with the next result, whatever tool that is of [NOTE-182]", async () => {
    const one = caller();
    const id = await one.start("sleep 0.1 && echo done");
    const all = one.tools.tasks as TaskRuntime;
    await until("it has ended", () => all.list("agent")[0]?.end !== null);
    const text = await one.bash("echo next");
    expect(text).toMatch(/^next\n\[background task [^\n]*\]$/);
    expect(text).toMatch(notice(id, "sleep 0.1 && echo done", "completed, exit code: 0"));
    expect(await one.bash("echo next")).toBe("next");
    expect(await one.call("task_list")).not.toContain("has ended");
    // What it printed is still to be read.
    expect(await one.end(id)).toBe("done\n[status: completed, exit code: 0]");
  });

  test("is told for each task, with its status", async () => {
    const one = caller();
    for (const command of ["exit 3", "kill -9 $$", "true\nfalse"]) await one.start(command);
    const all = one.tools.tasks as TaskRuntime;
    await until("all have ended", () => all.list("agent").every(({ end }) => end !== null));
    const told = await one.bash("true");
    expect(told.match(/\[background task/g)?.length).toBeLessThanOrEqual(3);
    const text = told;
    for (const [id, label, status] of [
      ["bash-1", "exit 3", "completed, exit code: 3"],
      ["bash-2", "kill -9 $$", "killed, signal: SIGKILL"],
      ["bash-3", "true…", "completed, exit code: 1"],
    ] as const) {
      // Some may have been told with the start of a later one.
      if (text.includes(id)) expect(text).toMatch(notice(id, label, status));
    }
    expect(text).toContain("bash-3");
  });

  test("is not told if it has been read, or if it was killed by a call", async () => {
    const one = caller();
    const read = await one.start("echo read");
    await one.end(read);
    const killed = await one.start("sleep 300");
    await one.call("task_kill", { task_id: killed });
    expect(await one.bash("echo next")).toBe("next");
  });

  test("is told if only the beginning was read", async () => {
    const one = caller();
    const id = await one.start(`echo begun; ${GATE}`);
    await readUntil(one, id, (text) => text === "begun\n");
    openGate(one);
    const all = one.tools.tasks as TaskRuntime;
    await until("it has ended", () => all.list("agent")[0]?.end !== null);
    expect(await one.bash("echo next")).toMatch(
      notice(id, `echo begun; ${GATE}`, "completed, exit code: 0"),
    );
  });

  test("is told to its owner alone, and not with a call that fails", async () => {
    const tools = makeOnceTools();
    const [a, b] = [caller({}, "a", tools), caller({}, "b", tools)];
    const id = await a.start("true");
    await until("it has ended", () => tools.tasks?.list("a")[0]?.end !== null);
    expect(await b.bash("echo b")).toBe("b");
    await refusal(a.bash({ command: "ls", workdir: "missing" }), "BAD_CWD");
    expect(await a.bash("echo a")).toMatch(notice(id, "true", "completed, exit code: 0"));
  });

  test("is told by the persistent bash and the terminals as well", async () => {
    const one = agent({ tools: "both" });
    const start = async (): Promise<void> => {
      const args = { command: "true", description: "Do nothing", run_in_background: true };
      await one.call("bash_once", args);
      const all = one.tools.tasks as TaskRuntime;
      await until("it has ended", () => all.list("agent").every(({ end }) => end !== null));
    };
    await start();
    expect(await one.bash("echo next")).toMatch(
      /^next\n\[Command finished with exit code 0\]\n\[background task bash-1 /,
    );
    expect(await one.bash("echo next")).toBe(`next\n${finished(0)}`);
    await start();
    expect(await one.call("terminal_list", {})).toContain("[background task bash-2 ");
  });
});

describe("of the tasks of an owner", () => {
  test("all are listed, the id first, one a line [NOTE-183]", async () => {
    const one = caller();
    expect(await one.call("task_list")).toBe("[no tasks]");
    await one.start("sleep 300");
    await one.start("\n  exit 3\n  # a comment\n");
    await one.end("bash-2");
    expect(await one.call("task_list")).toMatch(
      /^bash-1 {2}\[running\] {2}sleep 300\nbash-2 {2}\[completed, exit code: 3\] {2}exit 3…$/,
    );
  });

  test("ten may run, and an eleventh is refused until one has ended", async () => {
    const executor = new Recorder();
    const tools = makeOnceTools({ executor });
    const one = caller({}, "one", tools);
    for (let i = 0; i < 10; i++) await one.start(i === 0 ? GATE : "sleep 300");
    const error = await refusal(one.start("touch made"), "BUSY");
    expect(error.message).toContain("10");
    expect(executor.starts).toHaveLength(10);
    expect(await caller({}, "another", tools).start("true")).toBe("bash-1");
    expect(await one.bash("echo foreground")).toBe("foreground");
    openGate(one);
    await one.end("bash-1");
    expect(await one.start("sleep 300")).toBe("bash-11");
    await refusal(one.start("touch made"), "BUSY");
    expect(existsSync(join(one.context.cwd, "made"))).toBe(false);
  });

  test("no more than ten run, though they are started at once", async () => {
    const executor = new Recorder();
    const one = caller({ executor });
    const starts = await Promise.allSettled(
      Array.from({ length: 15 }, () => one.start("sleep 300")),
    );
    expect(starts.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    for (const start of starts) {
      if (start.status === "rejected") expect(start.reason).toMatchObject({ code: "BUSY" });
    }
    expect(runningOf(executor.pids)).toHaveLength(10);
    expect((await one.call("task_list")).split("\n")).toHaveLength(10);
  });

  test("none can be reached by another, who is answered as for an unknown one", async () => {
    const tools = makeOnceTools();
    const [one, other] = [caller({}, { name: "one" }, tools), caller({}, { name: "one" }, tools)];
    const task_id = await one.start("echo mine; sleep 300");
    for (const name of ["task_output", "task_kill"]) {
      const foreign = await refusal(other.call(name, { task_id }), "NO_TASK");
      const unknown = await refusal(other.call(name, { task_id: "bash-2" }), "NO_TASK");
      expect(foreign.message.replace("bash-1", "bash-2")).toBe(unknown.message);
      expect(foreign.message).toContain("task_list");
    }
    expect(await other.call("task_list")).toBe("[no tasks]");
    expect(await readUntil(one, task_id, (text) => text === "mine\n")).toBe("mine\n");
    expect(await one.call("task_list")).toContain("running");
  });

  test("all are ended with it, and awaited, though they do not mind TERM", async () => {
    const tools = makeOnceTools();
    const [one, other] = [caller({}, "one", tools), caller({}, "other", tools)];
    const command = "trap '' TERM; setsid sleep 300 & echo $!; echo $$; wait; sleep 300";
    const ids = await Promise.all([one.start(command), one.start(command), other.start(command)]);
    const readers = [one, one, other] as const;
    const pids = await Promise.all(
      ids.map(async (id, index) =>
        pidsIn(await readUntil(readers[index] as Caller, id, (text) => pidsIn(text).length === 2)),
      ),
    );
    await tools.disposeOwner("one");
    expect(runningOf(pids.slice(0, 2).flat())).toEqual([]);
    expect(runningOf(pids[2] as number[])).toEqual(pids[2]);
    expect(await one.call("task_list")).toBe("[no tasks]");
    await tools.dispose();
    expect(runningOf(pids.flat())).toEqual([]);
    await refusal(one.start("true"), "CLOSED");
    await refusal(one.call("task_list"), "CLOSED");
  });

  test("all are ended when it is collected", async () => {
    const tools = makeOnceTools();
    const pids = await (async () => {
      // Nothing but the pids comes out of here, so that the owner can be collected.
      const one = caller({}, { name: "agent" }, tools);
      const id = await one.start("echo $$; sleep 300; true");
      return pidsIn(await readUntil(one, id, (text) => text.endsWith("\n")));
    })();
    expect(runningOf(pids)).toHaveLength(1);
    const left = await settle(
      () => {
        // Collects garbage.
        heapMb();
        return runningOf(pids);
      },
      (running) => running.length === 0,
      8_000,
    );
    expect(left).toEqual([]);
  });
});

describe("the call that starts a task", () => {
  test("once it is cancelled starts nothing", async () => {
    const executor = new Recorder();
    const one = caller({ executor });
    const error = await refusal(
      one.start("touch made", { signal: AbortSignal.abort() }),
      "ABORTED",
    );
    expect(error.message).toBe("tool call aborted");
    expect(executor.starts).toEqual([]);
    expect(await one.call("task_list")).toBe("[no tasks]");
  });

  test("has no hold on the task afterwards", async () => {
    const one = caller();
    const stop = new AbortController();
    const id = await one.start(`${GATE}; echo done`, { signal: stop.signal });
    stop.abort();
    openGate(one);
    expect(await one.end(id)).toBe("done\n[status: completed, exit code: 0]");
  });

  test("is refused without a runtime for tasks, and says what is missing", async () => {
    const executor = new Recorder();
    const one = caller({ executor, tasks: false });
    const error = await refusal(one.start("touch made"), "NO_TASKS");
    expect(error.message).toMatch(/background tasks unavailable: .*tasks: true/);
    expect(executor.starts).toEqual([]);
    expect(await one.bash("echo on")).toBe("on");
  });

  test("is refused for nobody", async () => {
    const one = caller();
    for (const owner of [undefined, null, "", 7]) {
      await refusal(one.start("touch made", { owner: owner as unknown as string }), "NO_OWNER");
    }
    expect(existsSync(join(one.context.cwd, "made"))).toBe(false);
  });

  test("leaves nothing running if its owner is gone meanwhile", async () => {
    let started: () => void = () => undefined;
    let goOn: () => void = () => undefined;
    const [begun, gate] = [
      new Promise<void>((resolve) => {
        started = resolve;
      }),
      new Promise<void>((resolve) => {
        goOn = resolve;
      }),
    ];
    class Slow extends Recorder {
      override async start(spec: BashSpec): Promise<BashProcess> {
        const process = await super.start(spec);
        started();
        await gate;
        return process;
      }
    }
    const executor = new Slow();
    const one = caller({ executor });
    const start = one.start("sleep 300").catch((error: unknown) => error);
    await begun;
    const disposed = one.tools.dispose();
    goOn();
    expect(await start).toMatchObject({ code: "CLOSED" });
    await disposed;
    await until("it is gone", () => runningOf(executor.pids).length === 0);
  });
});

/** A task that is no process: it says what it is told to, and ends when it is told to. */
class Build implements Omit<TaskProducer, "owner"> {
  readonly kind = "build";
  readonly label = "all of it";
  readonly done: Promise<TaskEnd>;
  readonly reasons: string[] = [];
  end: (end: TaskEnd) => void = () => undefined;
  fail: (error: unknown) => void = () => undefined;
  #unread = "";

  constructor() {
    this.done = new Promise((resolve, reject) => {
      this.end = resolve;
      this.fail = reject;
    });
  }

  say(text: string): void {
    this.#unread += text;
  }

  async cancel(reason: string): Promise<void> {
    this.reasons.push(reason);
    this.end({ status: "killed", signal: "SIGINT" });
  }

  async readOutput(): Promise<TaskOutput> {
    const text = this.#unread;
    this.#unread = "";
    return { text, dropped: false, spillPath: null };
  }
}

function register(one: Caller, build: TaskProducer | Build): string {
  const { kind, label, done } = build;
  return (one.tools.tasks as TaskRuntime).register({
    kind,
    label,
    done,
    owner: one.context.owner,
    cancel: (reason) => build.cancel(reason),
    readOutput: () => build.readOutput(),
  });
}

describe("a producer that is no shell", () => {
  test("works with the three tools", async () => {
    const one = caller();
    await one.start("true");
    await one.end("bash-1");
    const [first, second] = [new Build(), new Build()];
    expect([register(one, first), register(one, second)]).toEqual(["build-1", "build-2"]);
    first.say("compiling\n");
    expect(await one.call("task_output", { task_id: "build-1" })).toBe(
      "compiling\n[status: running]",
    );
    first.say("linking\n");
    const waiting = one.end("build-1");
    first.end({ status: "completed" });
    expect(await waiting).toBe("linking\n[status: completed]");
    expect(await one.call("task_list")).toBe(
      "bash-1  [completed, exit code: 0]  true\nbuild-1  [completed]  all of it\nbuild-2  [running]  all of it",
    );
    expect(await one.call("task_kill", { task_id: "build-2", reason: "enough" })).toBe(
      "[status: killed, signal: SIGINT, reason: enough]",
    );
    expect(second.reasons).toEqual(["enough"]);
    expect(first.reasons).toEqual([]);
  });

  test("works in tools without a one-shot bash, and is announced there", async () => {
    const tools = createTools({ tasks: true });
    onTestFinished(() => tools.dispose());
    const one = caller({}, "agent", tools);
    const build = new Build();
    register(one, build);
    build.end({ status: "completed", exitCode: 0 });
    await build.done;
    expect(await one.call("terminal_list")).toMatch(
      notice("build-1", "all of it", "completed, exit code: 0"),
    );
  });

  test("counts among the ten", async () => {
    const one = caller();
    for (let i = 0; i < 10; i++) register(one, new Build());
    await refusal(one.start("touch made"), "BUSY");
    await refusal((async () => register(one, new Build()))(), "BUSY");
  });

  test("that fails is told as failed, once", async () => {
    const one = caller();
    const build = new Build();
    const id = register(one, build);
    build.say("so far\n");
    build.fail(new Error("no space left"));
    expect(await one.bash("echo next")).toMatch(notice(id, "all of it", "failed: .*no space left"));
    expect(await one.end(id)).toMatch(/^so far\n\[status: failed: .*no space left\]$/);
    expect(await one.call("task_kill", { task_id: id })).toMatch(/^\[status: failed: /);
    expect(build.reasons).toEqual([]);
  });

  test("is cancelled with its owner, and awaited; one that cannot be does not keep others from it", async () => {
    const tools = makeOnceTools();
    const one = caller({}, "agent", tools);
    class Stubborn extends Build {
      override async cancel(): Promise<void> {
        this.end({ status: "completed" });
        throw new Error("cannot be cancelled");
      }
    }
    class Slow extends Build {
      over = false;
      override async cancel(reason: string): Promise<void> {
        await pause(200);
        this.over = true;
        await super.cancel(reason);
      }
    }
    const slow = new Slow();
    register(one, new Stubborn());
    register(one, slow);
    const pids = pidsIn(
      await readUntil(one, await one.start("echo $$; sleep 300; true"), (text) =>
        text.endsWith("\n"),
      ),
    );
    await tools.disposeOwner("agent").catch((error: unknown) => error);
    expect(slow.over).toBe(true);
    expect(slow.reasons).toHaveLength(1);
    expect(runningOf(pids)).toEqual([]);
  });
});

test("1 000 short tasks leave nothing behind", async () => {
  const one = caller();
  const { tasks } = one.tools;
  const some = async (count: number): Promise<void> => {
    await each(count, 8, async (number) => {
      const id = await one.start(`echo ${number}; exit ${number % 2}`);
      const text = await one.call("task_output", { task_id: id, wait: true, timeout_ms: 20_000 });
      if (!text.startsWith(`${number}\n[status: completed, exit code: ${number % 2}]`)) {
        throw new Error(`${number}: ${text}`);
      }
    });
  };
  await some(200);
  const before = { heap: heapMb(), children: childCommands() };
  await some(800);
  expect(await settle(childCommands, (now) => now.length === 0)).toEqual(before.children);
  expect(heapMb() - before.heap).toBeLessThan(3);
  expect(tasks?.list("agent").length).toBeLessThanOrEqual(100);
  expect(await one.start("true")).toBe("bash-1001");
  const error = await refusal(one.call("task_output", { task_id: "bash-1" }), "NO_TASK");
  expect(error.message).toContain("bash-1");
}, 60_000);

test("the end of a process is told by its signal or its code", () => {
  expect(processOutcome({ exitCode: 0, signal: null })).toEqual({
    status: "completed",
    exitCode: 0,
  });
  expect(processOutcome({ exitCode: 7, signal: null })).toEqual({
    status: "completed",
    exitCode: 7,
  });
  expect(processOutcome({ exitCode: null, signal: "SIGTERM" })).toEqual({
    status: "killed",
    signal: "SIGTERM",
  });
  expect(processOutcome({ exitCode: null, signal: null })).toEqual({ status: "completed" });
});

test.each<[TaskOutput, TaskEnd | null, string]>([
  [{ text: "", dropped: false, spillPath: null }, null, "[status: running]"],
  [{ text: "a\n", dropped: false, spillPath: null }, null, "a\n[status: running]"],
  [{ text: "a\n\n", dropped: false, spillPath: null }, null, "a\n\n[status: running]"],
  [
    { text: "b", dropped: true, spillPath: "/x/y" },
    { status: "completed", exitCode: 0 },
    "b\n[some output was dropped from memory; full output: /x/y]\n[status: completed, exit code: 0]",
  ],
  [
    { text: "", dropped: true, spillPath: null },
    { status: "killed", signal: "SIGKILL", reason: "why" },
    "[some output was dropped from memory; full output: (unavailable)]\n[status: killed, signal: SIGKILL, reason: why]",
  ],
  [
    { text: "", dropped: false, spillPath: null },
    { status: "failed", message: "gone" },
    "[status: failed: gone]",
  ],
])("a reading of %j, %j is rendered", (output, end, text) => {
  expect(renderProcessRead(output, end)).toBe(text);
});

test("a runtime can be used without tools", async () => {
  const runtime = new TaskRuntime();
  const build = new Build();
  const id = runtime.register({
    kind: build.kind,
    label: build.label,
    done: build.done,
    owner: "me",
    cancel: (reason) => build.cancel(reason),
    readOutput: () => build.readOutput(),
  });
  expect(runtime.list("me")).toMatchObject([{ id, end: null, startedAt: expect.any(Date) }]);
  expect(runtime.takeNotices("me")).toEqual([]);
  await runtime.dispose();
  expect(build.reasons).toHaveLength(1);
  await refusal((async () => runtime.list("me"))(), "CLOSED");
});
