/** What stands before every call: listeners that allow, deny or ask, and a person who approves. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type {
  ApprovalFunction,
  Decision,
  PendingCall,
  PreExecuteListener,
} from "../../src/node-tools.ts";
import { refusal } from "../support.ts";
import { caller, makeOnceTools, Recorder } from "./once-support.ts";
import { agent, call, finished, makeTools } from "./support.ts";

const allow = (): Decision => ({ kind: "allow" });
const pass = (): undefined => undefined;
const deny =
  (reason: string): PreExecuteListener =>
  () => ({ kind: "deny", reason });
const ask =
  (question: string): PreExecuteListener =>
  () => ({ kind: "ask", question });

/** A one-shot bash under a policy, and what became of a call. */
async function outcomeOf(
  preExecute: readonly PreExecuteListener[],
  approve?: ApprovalFunction,
): Promise<{ ran: boolean; text: string; code?: string }> {
  const executor = new Recorder();
  const one = caller({ executor, preExecute, ...(approve && { approve }) });
  const result = await one.bash("touch made; echo ran").catch((error: unknown) => error);
  const ran = existsSync(join(one.context.cwd, "made"));
  expect(executor.runs).toHaveLength(ran ? 1 : 0);
  if (typeof result === "string") return { ran, text: result };
  const { code, message } = result as { code?: string; message: string };
  return { ran, text: message, ...(code !== undefined && { code }) };
}

const RAN = { ran: true, text: "ran" };
const denied = (reason: string): object => ({ ran: false, text: reason, code: "DENIED" });

describe("the listeners", () => {
  test("by default allow all", async () => {
    for (const listeners of [[], [pass], [allow], [allow, pass, allow]]) {
      expect(await outcomeOf(listeners)).toEqual(RAN);
    }
  });

  test("deny with their reason, which is all of the message, in every order", async () => {
    const no = deny("not on a Sunday");
    for (const listeners of [
      [no],
      [no, allow],
      [allow, no],
      [pass, no, pass],
      [ask("really?"), no],
      [no, ask("really?")],
      [no, deny("another")],
      [async () => no({} as PendingCall)],
    ]) {
      let asked = 0;
      const outcome = await outcomeOf(listeners, () => {
        asked++;
        return true;
      });
      expect(outcome).toEqual(denied("not on a Sunday"));
      expect(asked).toBe(0);
    }
  });

  test("each see the call, in order, until one denies it", async () => {
    const seen: string[] = [];
    const named =
      (name: string, decision?: Decision): PreExecuteListener =>
      async () => {
        await Promise.resolve();
        seen.push(name);
        return decision;
      };
    await outcomeOf(
      [named("a", allow()), named("b"), named("c", { kind: "ask", question: "?" }), named("d")],
      () => {
        seen.push("approve");
        return true;
      },
    );
    expect(seen).toEqual(["a", "b", "c", "d", "approve"]);
    seen.length = 0;
    await outcomeOf([named("a"), named("b", { kind: "deny", reason: "no" }), named("c")]);
    expect(seen).toEqual(["a", "b"]);
  });

  test("see who calls which tool, with what, and from where", async () => {
    const seen: PendingCall[] = [];
    const owner = { name: "agent" };
    const one = caller(
      {
        preExecute: [
          (pending) => {
            seen.push(pending);
            return undefined;
          },
        ],
      },
      owner,
    );
    const args = { command: "true", description: "Do nothing", workdir: ".", extra: [1] };
    await one.bash(args);
    expect(seen).toEqual([{ tool: "bash", args, owner, cwd: one.context.cwd }]);
    expect(seen[0]?.owner).toBe(owner);
  });

  test("cannot change what runs, and neither can the caller meanwhile", async () => {
    const attempts: string[] = [];
    const executor = new Recorder();
    const attempt = (what: () => void): void => {
      try {
        what();
        attempts.push("changed");
      } catch (error) {
        attempts.push((error as Error).name);
      }
    };
    const one = caller({
      executor,
      preExecute: [
        ({ args }) => {
          const open = args as { command: string; more: { deep: string[] }; workdir?: string };
          attempt(() => {
            open.command = "echo changed";
          });
          attempt(() => {
            open.workdir = "/";
          });
          attempt(() => open.more.deep.push("changed"));
          attempt(() => {
            Object.setPrototypeOf(open, { workdir: "/" });
          });
          return undefined;
        },
        async () => {
          await new Promise((resolve) => setTimeout(resolve, 50));
          return { kind: "allow" };
        },
      ],
    });
    const args = { command: "echo intended", description: "Print", more: { deep: ["a"] } };
    const running = one.bash(args);
    args.command = "echo swapped";
    args.more.deep.push("b");
    expect(await running).toBe("intended");
    expect(attempts).toEqual(Array(4).fill("TypeError"));
    expect(executor.requests).toEqual([{ command: "echo intended", workdir: one.context.cwd }]);
  });

  test("that fail let nothing run", async () => {
    for (const fail of [
      () => {
        throw new Error("listener failed");
      },
      async () => Promise.reject(new Error("listener failed")),
    ] as PreExecuteListener[]) {
      for (const listeners of [[fail], [allow, fail], [ask("?"), fail]]) {
        expect(await outcomeOf(listeners, () => true)).toMatchObject({
          ran: false,
          text: expect.stringContaining("listener failed"),
        });
      }
    }
  });
});

describe("what is to be asked", () => {
  test("runs on yes, and the person sees the call and the question", async () => {
    const asked: unknown[] = [];
    expect(
      await outcomeOf([ask("Touch a file?")], (pending, question) => {
        asked.push([pending.tool, (pending.args as { command: string }).command, question]);
        return true;
      }),
    ).toEqual(RAN);
    expect(asked).toEqual([["bash", "touch made; echo ran", "Touch a file?"]]);
    expect(await outcomeOf([ask("?")], async () => true)).toEqual(RAN);
  });

  test.each<[string, ApprovalFunction]>([
    ["no", () => false],
    ["a promise of no", async () => false],
    ["nothing", (() => undefined) as unknown as ApprovalFunction],
    ["1", (() => 1) as unknown as ApprovalFunction],
    ["'yes'", (() => "yes") as unknown as ApprovalFunction],
    ["an object", (async () => ({ approved: true })) as unknown as ApprovalFunction],
  ])("does not run on %s", async (_, approve) => {
    expect(await outcomeOf([ask("Touch a file?")], approve)).toEqual(
      denied("not approved: Touch a file?"),
    );
  });

  test("does not run if nobody can be asked", async () => {
    const outcome = await outcomeOf([ask("Touch a file?")]);
    expect(outcome).toMatchObject({ ran: false, code: "DENIED" });
    expect(outcome.text).toContain("Touch a file?");
  });

  test.each<[string, ApprovalFunction]>([
    [
      "at once",
      () => {
        throw new Error("the dialog broke");
      },
    ],
    ["later", async () => Promise.reject(new Error("the dialog broke"))],
  ])("does not run if asking fails %s, which is no yes", async (_, approve) => {
    expect(await outcomeOf([ask("Touch a file?")], approve)).toMatchObject({
      ran: false,
      code: "DENIED",
    });
  });

  test("twice needs yes twice", async () => {
    const questions: string[] = [];
    const answer =
      (no: string): ApprovalFunction =>
      (_, question) => {
        questions.push(question);
        return question !== no;
      };
    expect(await outcomeOf([ask("one?"), allow, ask("two?")], answer(""))).toEqual(RAN);
    expect(await outcomeOf([ask("one?"), ask("two?")], answer("two?"))).toEqual(
      denied("not approved: two?"),
    );
    expect(await outcomeOf([ask("one?"), ask("two?")], answer("one?"))).toEqual(
      denied("not approved: one?"),
    );
    expect(questions).toEqual(["one?", "two?", "one?", "two?", "one?"]);
  });

  test("does not run if the call is cancelled meanwhile, whatever the answer", async () => {
    const stop = new AbortController();
    const executor = new Recorder();
    const heard: (AbortSignal | undefined)[] = [];
    const one = caller({
      executor,
      preExecute: [ask("?")],
      approve: (_, __, signal) => {
        heard.push(signal);
        stop.abort("SECRET REASON");
        return true;
      },
    });
    const error = await refusal(one.bash("touch made", { signal: stop.signal }), "ABORTED");
    expect(error.message).toBe("tool call aborted");
    expect(heard).toEqual([stop.signal]);
    expect(executor.requests).toEqual([]);
  });

  test("holds up nobody else", async () => {
    let answer: (yes: boolean) => void = () => undefined;
    const one = caller({
      preExecute: [
        ({ args }) =>
          (args as { command: string }).command === "echo asked"
            ? { kind: "ask", question: "?" }
            : undefined,
      ],
      approve: () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    });
    const asked = one.bash("echo asked");
    expect(await one.bash("echo other")).toBe("other");
    answer(true);
    expect(await asked).toBe("asked");
  });
});

describe("a policy holds for", () => {
  test("the persistent bash, of which a denied call leaves no trace", async () => {
    const one = agent({
      preExecute: [
        ({ args }) =>
          (args as { command?: string }).command?.includes("forbidden")
            ? { kind: "deny", reason: "that is forbidden" }
            : undefined,
      ],
    });
    // The first call would open the shell.
    await refusal(one.bash("echo forbidden"), "DENIED");
    expect(await one.call("terminal_list", {})).toBe("[no terminals]");
    await one.bash("x=1; cd /");
    const error = await refusal(one.bash("x=forbidden; cd /usr"), "DENIED");
    expect(error.message).toBe("that is forbidden");
    expect(await one.bash("echo $x $PWD")).toBe(`1 /\n${finished(0)}`);
    expect(await one.bash({ command: "sleep 0.2; echo over", waitMs: 20 })).toContain("running");
    expect(await one.bash({ wait: true })).toBe(`over\n${finished(0)}`);
  });

  test("every tool there is, by its name", async () => {
    const seen: string[] = [];
    const tools = makeTools({
      tools: "both",
      preExecute: [
        ({ tool }) => {
          seen.push(tool);
          return { kind: "deny", reason: `no ${tool}` };
        },
      ],
    });
    const names = tools.all.map(({ name }) => name);
    expect(names).toHaveLength(11);
    for (const name of names) {
      const args = {
        command: "true",
        description: "Do nothing",
        terminal_id: "shell",
        task_id: "bash-1",
        signal: "INT",
      };
      const error = await refusal(call(tools, name, args, { owner: "a", cwd: "/" }), "DENIED");
      expect(error.message).toBe(`no ${name}`);
    }
    expect(seen).toEqual(names);
  });

  test("terminals and tasks: what is denied is not done", async () => {
    const denying = new Set<string>();
    const config = {
      preExecute: [
        ({ tool }: PendingCall): Decision | undefined =>
          denying.has(tool) ? { kind: "deny", reason: "not now" } : undefined,
      ],
    };
    const one = agent({ tools: "both", ...config });
    await one.call("terminal_open", {});
    const id = /background task (\S+)/.exec(
      await one.call("bash_once", {
        command: "sleep 300",
        description: "Sleep",
        run_in_background: true,
      }),
    )?.[1];
    for (const name of ["terminal_open", "terminal_close", "task_kill", "terminal_send"]) {
      denying.add(name);
      const args = { terminal_id: "terminal-1", task_id: id, text: "exit" };
      await refusal(one.call(name, args), "DENIED");
    }
    expect(await one.call("terminal_list", {})).toMatch(/^terminal-1 {2}shell {2}open$/);
    expect(await one.call("task_list", {})).toBe(`${id}  [running]  sleep 300`);
    denying.clear();
    expect(await one.call("task_kill", { task_id: id })).toContain("killed");
  });

  test("a start in the background, of which nothing is started", async () => {
    const executor = new Recorder();
    const tools = makeOnceTools({
      executor,
      preExecute: [
        ({ args }) =>
          (args as { run_in_background?: boolean }).run_in_background
            ? { kind: "ask", question: "Leave it running?" }
            : undefined,
      ],
      approve: () => false,
    });
    const one = caller({}, "agent", tools);
    await refusal(one.start("touch made"), "DENIED");
    expect(executor.requests).toEqual([]);
    expect(await one.call("task_list")).toBe("[no tasks]");
    expect(await one.bash("echo on")).toBe("on");
  });
});

test("a denied call is shown as a failure", async () => {
  const { tools } = caller({ preExecute: [deny("not on a Sunday")] });
  const failure = { error: { code: "DENIED", message: "not on a Sunday" } };
  expect(tools.bashOnce?.presentResult({ command: "ls" }, failure)).toEqual({
    card: "generic",
    title: expect.any(String),
    content: ["not on a Sunday"],
  });
});

describe("whatever is wrong with deciding", () => {
  test.each<[string, unknown]>([
    ["false", false],
    ["a decision of another kind", { kind: "block" }],
    ["null", null],
  ])("a listener that answers %s lets nothing run", async (_, answer) => {
    const listener = (() => answer) as unknown as PreExecuteListener;
    expect(await outcomeOf([listener])).toEqual(
      denied("a listener answered something that is no decision"),
    );
  });

  test("a listener that fails lets nothing run", async () => {
    const fails: PreExecuteListener = () => {
      throw new Error("out of order");
    };
    expect(await outcomeOf([fails])).toEqual(denied("a listener failed"));
  });

  test("a listener cannot show the next one another call", async () => {
    const seen: unknown[] = [];
    const swaps: PreExecuteListener = (call) => {
      (call as { args: unknown }).args = { command: "echo harmless" };
      return undefined;
    };
    const looks: PreExecuteListener = ({ args }) => {
      seen.push(args);
      return undefined;
    };
    expect(await outcomeOf([looks, swaps])).toEqual(denied("a listener failed"));
    expect(seen).toMatchObject([{ command: "touch made; echo ran" }]);
  });

  test("a decision that never comes ends with its call", async () => {
    const one = agent({ preExecute: [() => new Promise(() => undefined)] });
    const signal = AbortSignal.timeout(50);
    expect((await refusal(one.bash("echo ran", { signal }), "ABORTED")).message).toBe(
      "tool call aborted",
    );
  });

  test("a decision that takes long lets no later call of the owner go first", async () => {
    let calls = 0;
    const slowFirst: PreExecuteListener = async () => {
      if (calls++ === 0) await new Promise((resolve) => setTimeout(resolve, 200));
      return undefined;
    };
    const one = agent({ preExecute: [slowFirst] });
    await Promise.all([one.bash("echo first >>order"), one.bash("echo second >>order")]);
    expect(await one.bash("cat order")).toBe(`first\nsecond\n${finished(0)}`);
  });
});
