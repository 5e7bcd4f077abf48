/** Whose shells and terminals are whose, who waits for whom, and what is left when an owner is gone. */

import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { BashValue } from "../../src/node-tools.ts";
import { heapMb, runningOf, sessionCommands, settle } from "../processes-support.ts";
import { Chance, Listener, lives, refusal, until } from "../support.ts";
import { type Agent, agent, call, finished, makeTools, openTerminal, RUNNING } from "./support.ts";

/** The process id of an owner's shell. */
async function pidOf(one: Agent): Promise<number> {
  return Number.parseInt(await one.bash("echo $$"), 10);
}

describe("the shell of an owner", () => {
  test("is opened at the first use, in the owner's directory, which moves it no more", async () => {
    const one = agent();
    await openTerminal(one);
    expect(await one.call("terminal_list", {})).toBe("terminal-1  shell  open");
    const { cwd } = one.context;
    const pid = await pidOf(one);
    expect(await one.bash("echo $$ $PWD", { cwd: "/usr" })).toBe(`${pid} ${cwd}\n${finished(0)}`);
    await one.bash("cd /; exit", { cwd: "/usr" });
    expect(await one.bash("pwd", { cwd: "/usr" })).toBe(`${cwd}\n${finished(0)}`);
  });

  test("without a directory is that of the host", async () => {
    const tools = makeTools();
    expect(await call(tools, "bash", { command: "pwd" }, { owner: "agent" })).toBe(
      `${process.cwd()}\n${finished(0)}`,
    );
  });

  test("is nobody else's", async () => {
    const tools = makeTools();
    const agents = ["a", "b", {}, {}, "agent"].map((owner) => agent({}, owner, tools));
    const pids = await Promise.all(agents.map(pidOf));
    expect(new Set(pids).size).toBe(agents.length);
    await Promise.all(
      agents.map((one, index) => one.bash(`mine=${index}; cd /; export E=${index}`)),
    );
    await agents[0]?.bash("set -e; f() { echo f; }; alias g=f");
    expect(
      await Promise.all(agents.slice(1).map((one) => one.bash("echo $mine $E; type -t f; true"))),
    ).toEqual([1, 2, 3, 4].map((index) => `${index} ${index}\n${finished(0)}`));
    // And another set of tools has nothing of them.
    expect(await agent({}, "a").bash("echo [$mine]")).toBe(`[]\n${finished(0)}`);
  });

  test("is the same for equal texts and for the same object", async () => {
    const tools = makeTools();
    const owner = {};
    const pids = [
      await pidOf(agent({}, "one", tools)),
      await pidOf(agent({}, ["o", "n", "e"].join(""), tools)),
      await pidOf(agent({}, owner, tools)),
      await pidOf(agent({}, owner, tools)),
    ];
    expect(pids[1]).toBe(pids[0]);
    expect(pids[3]).toBe(pids[2]);
    expect(pids[2]).not.toBe(pids[0]);
  });
});

describe("calls at the same time", () => {
  test("of one owner run one after another, in order", async () => {
    const one = agent();
    const texts = await Promise.all(
      Array.from({ length: 15 }, (_, i) =>
        one.bash(`echo begin ${i} >>log; sleep 0.02; echo end ${i} >>log; echo ${i}`),
      ),
    );
    expect(texts).toEqual(texts.map((_, i) => `${i}\n${finished(0)}`));
    expect(readFileSync(join(one.context.cwd, "log"), "utf8")).toBe(
      texts.map((_, i) => `begin ${i}\nend ${i}\n`).join(""),
    );
  });

  test("of different owners run side by side", async () => {
    const tools = makeTools();
    const [a, b] = [agent({}, "a", tools), agent({}, "b", tools)];
    const meet = (mine: string, other: string): string =>
      `touch ${mine}/here; until [ -e ${other}/here ]; do sleep 0.01; done; echo met`;
    const options = { timeoutMs: 5_000 };
    expect(
      await Promise.all([
        a.bash({ command: meet(a.context.cwd, b.context.cwd), ...options }),
        b.bash({ command: meet(b.context.cwd, a.context.cwd), ...options }),
      ]),
    ).toEqual([`met\n${finished(0)}`, `met\n${finished(0)}`]);
  });

  test("do not count the time in the queue", async () => {
    const one = agent();
    const { bash } = one.tools;
    const [first, second] = await Promise.all([
      bash.execute({ command: "sleep 0.8" }, one.context),
      bash.execute({ command: "echo a", timeoutMs: 400, waitMs: 400 }, one.context),
    ]);
    expect(first.value.run?.durationMs).toBeGreaterThan(790);
    expect(second.text).toBe(`a\n${finished(0)}`);
    expect(second.value.run?.durationMs).toBeLessThan(390);
  });

  test("a call that fails does not hold up those behind it", async () => {
    const one = agent();
    const outcomes = await Promise.allSettled([
      one.bash("cd /nonexistent"),
      one.bash({ wait: true }),
      one.bash("exit 3"),
      one.bash({ command: "sleep 60", timeoutMs: 100 }),
      one.bash("a\0"),
      one.bash("echo last"),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    expect(outcomes.at(-1)).toMatchObject({ value: `last\n${finished(0)}` });
  });

  test("of 50 owners, 20 each: every result is that of its own command (seed 50)", async () => {
    const tools = makeTools();
    const chance = new Chance(50);
    const owners = Array.from({ length: 50 }, (_, index) =>
      index % 2 === 0 ? `owner ${index}` : { index },
    );
    const pids = await Promise.all(
      owners.map(async (owner, index) => {
        const jobs = Array.from({ length: 20 }, (__, job) => ({
          id: `${index}.${job}`,
          before: chance.int(50) / 1000,
          lines: chance.int(chance.pick([2, 20, 2_000])),
          exitCode: chance.int(3),
        }));
        const context = { owner, cwd: "/" };
        const texts = await Promise.all(
          jobs.map(({ id, before, lines, exitCode }) =>
            call(
              tools,
              "bash",
              {
                command: `echo begin ${id}; sleep ${before}; seq -f '${id} %g' ${lines}; n=$((n+1)); echo $n; (exit ${exitCode})`,
              },
              context,
            ),
          ),
        );
        for (const [job, { id, lines, exitCode }] of jobs.entries()) {
          const own = Array.from({ length: lines }, (__, line) => `${id} ${line + 1}\n`).join("");
          const whole = `begin ${id}\n${own}${job + 1}`;
          const clipped =
            whole.length > 16_000
              ? `${whole.slice(0, 16_000)}\n[Output clipped`
              : `${whole}\n[Command`;
          const text = texts[job] ?? "";
          expect(text.slice(0, clipped.length), `job ${id}`).toBe(clipped);
          expect(text.endsWith(`\n${finished(exitCode)}`), `job ${id}`).toBe(true);
        }
        return Number.parseInt(await call(tools, "bash", { command: "echo $$" }, context), 10);
      }),
    );
    expect(runningOf(pids)).toEqual(pids);
    await tools.dispose();
    expect(runningOf(pids)).toEqual([]);
    expect(pids.flatMap((pid) => sessionCommands(pid))).toEqual([]);
    // None of them has been collected meanwhile: all are held up to here.
    expect(new Set([...pids, ...owners]).size).toBe(100);
  });
});

describe("disposing", () => {
  /** Starts processes of many kinds in the shell and in a terminal of an owner. Returns their ids. */
  async function startMany(one: Agent): Promise<number[]> {
    const terminal = await openTerminal(one);
    const detached = (program: string): string =>
      `setsid sh -c 'echo $$ >>pids; ${program.replaceAll("'", "'\\''")}' &`;
    const start = [
      "sleep 300 & echo $! >>pids",
      "nohup sleep 301 >/dev/null 2>&1 & echo $! >>pids",
      detached("exec sleep 302"),
      detached("trap '' TERM HUP INT; sleep 303; :"),
      "(trap '' HUP TERM; exec sleep 304) & echo $! >>pids",
      "yes >/dev/null & echo $! >>pids; disown -a",
      "echo $$ >>pids",
    ].join("\n");
    await one.bash(start);
    await one.call("terminal_send", { terminal_id: terminal, text: start });
    const pids = (): string => readFileSync(join(one.context.cwd, "pids"), "utf8");
    await until("all have begun", () => pids().split("\n").length === 2 * 7 + 1);
    return pids().trim().split("\n").map(Number);
  }

  test("an owner ends all that was started for it, and nothing of others", async () => {
    const tools = makeTools();
    const [a, b] = [agent({}, "a", tools), agent({}, {}, tools)];
    const [pids, others] = [await startMany(a), await startMany(b)];
    expect(pids).toHaveLength(14);
    expect(runningOf(pids)).toEqual(pids);
    await tools.disposeOwner("a");
    expect(runningOf(pids)).toEqual([]);
    expect(runningOf(others)).toEqual(others);
    await tools.disposeOwner(b.context.owner);
    expect(runningOf(others)).toEqual([]);
    // Whoever comes under the same name starts afresh.
    expect(await a.call("terminal_list", {})).toBe("[no terminals]");
    expect(await a.bash("jobs; pwd")).toBe(`${a.context.cwd}\n${finished(0)}`);
    await tools.disposeOwner("nobody");
    await tools.disposeOwner({});
  });

  test("the tools ends all that was started for anybody", async () => {
    const tools = makeTools();
    const agents = [agent({}, "a", tools), agent({}, {}, tools)];
    const pids = (await Promise.all(agents.map(startMany))).flat();
    expect(runningOf(pids)).toEqual(pids);
    await tools[Symbol.asyncDispose]();
    expect(runningOf(pids)).toEqual([]);
  });

  test.each(["disposeOwner", "dispose"] as const)(
    "by %s while a call runs and others wait: each settles, none of those is run",
    async (how) => {
      const one = agent();
      const listener = new Listener();
      const running = one.bash("echo $$; sleep 60; touch made", { onOutput: listener.onOutput });
      const queued = [one.bash("touch made"), one.bash({ restart: true }), one.bash("touch made")];
      const refusals = queued.map((each) => refusal(each, "CLOSED"));
      await listener.heard("\n");
      const pid = Number.parseInt(listener.text, 10);
      const sent = one.call("terminal_send", { terminal_id: "shell", text: "", waitMs: 20_000 });
      await one.tools[how](one.context.owner);
      expect(lives(pid)).toBe(false);
      // It did not finish; how that is told is not laid down.
      const outcome = await running.catch((error: Error) => error.message);
      expect(outcome).not.toContain("finished with");
      await Promise.all(refusals);
      await sent.catch(() => undefined);
      expect(existsSync(join(one.context.cwd, "made"))).toBe(false);
    },
  );

  test("while a shell is opened leaves none", async () => {
    const tools = makeTools();
    const one = agent({}, "a", tools);
    const opening = one.bash("echo $$; touch made").catch((error: Error) => error.message);
    const terminal = one.call("terminal_open", {}).catch((error: Error) => error.message);
    await tools.dispose();
    await Promise.all([opening, terminal]);
    const left = await settle(
      () => processesIn(one.context.cwd),
      (pids) => pids.length === 0,
    );
    expect(left).toEqual([]);
  });

  test("of what is disposed of already does nothing", async () => {
    const one = agent();
    await one.bash("true");
    await Promise.all([one.tools.dispose(), one.tools.dispose(), one.tools.disposeOwner("agent")]);
    await one.tools.dispose();
  });

  /** Processes whose working directory is this one. */
  function processesIn(cwd: string): string[] {
    return readdirSync("/proc").filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === cwd;
      } catch {
        return false;
      }
    });
  }
});

describe("an owner that is an object", () => {
  /** Nothing but the pids comes out of here, so that the owner can be collected. */
  async function use(one: Agent, listen: boolean): Promise<number[]> {
    const owner = { name: "agent" };
    const context = {
      owner,
      cwd: "/",
      // As a host does it: the listener knows whose output it is.
      ...(listen && { onOutput: (text: string) => void `${owner.name}: ${text}` }),
      signal: new AbortController().signal,
    };
    const { value } = await one.tools.bash.execute(
      { command: "nohup sleep 300 >/dev/null 2>&1 & echo $!; echo $$" },
      context,
    );
    await call(one.tools, "terminal_open", {}, context);
    return ((value as BashValue).run?.output ?? "").split("\n").slice(1).map(Number);
  }

  test.each([
    ["without listeners", false],
    ["whose listener knows it", true],
  ])("%s: its shell goes when it is collected", async (_, listen) => {
    const one = agent();
    const pids = await use(one, listen);
    expect(pids).toHaveLength(2);
    expect(runningOf(pids)).toEqual(pids);
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

  test("stays while somebody holds it, or a call of it runs", async () => {
    const one = agent({}, {});
    const pid = await pidOf(one);
    const running = call(one.tools, "bash", { command: "sleep 0.5; echo over" }, { owner: {} });
    for (let i = 0; i < 10; i++) {
      heapMb();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(await running).toBe(`over\n${finished(0)}`);
    expect(await pidOf(one)).toBe(pid);
  });

  test("leaves a command in flight to its shell, which ends with the owner", async () => {
    const tools = makeTools();
    const leave = async (): Promise<string> =>
      call(tools, "bash", { command: "echo $$; sleep 60", waitMs: 150 }, { owner: {} });
    const text = await leave();
    expect(text.endsWith(`\n${RUNNING}`)).toBe(true);
    const pid = Number.parseInt(text, 10);
    const left = await settle(
      () => {
        heapMb();
        return runningOf([pid]);
      },
      (running) => running.length === 0,
      8_000,
    );
    expect(left).toEqual([]);
  });
});
