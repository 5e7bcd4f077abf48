/** Calls of the persistent bash that fail, and tools that cannot be made: each says what is wrong. */

import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EvershellError, openShell, openTerminal, type Shell } from "../../src/node.ts";
import {
  type Backend,
  createTools,
  type Owner,
  type PersistentToolsConfig,
  type Tools,
} from "../../src/node-tools.ts";
import { folder, Listener, lives, refusal } from "../support.ts";
import {
  agent,
  call,
  finished,
  makeTools,
  RESTARTED,
  RUNNING,
  shellAtPrompt,
  toolNamed,
} from "./support.ts";

describe("who calls", () => {
  test.each([undefined, null, "", 5, true, () => "me"])(
    "%s is nobody: nothing is opened",
    async (owner) => {
      const tools = makeTools();
      const error = await refusal(
        call(tools, "bash", { command: "echo hi" }, { owner: owner as Owner }),
        "NO_OWNER",
      );
      expect(error.message).toBe("bash requires an owning agent session");
    },
  );

  test("is asked first by each of the tools", async () => {
    const tools = makeTools();
    for (const { name } of tools.all) {
      const context = {} as { owner: Owner };
      const error = await refusal(call(tools, name, { command: 5 }, context), "NO_OWNER");
      expect(error.message).toBe(`${name} requires an owning agent session`);
    }
  });
});

describe("a backend", () => {
  test.each(["nowhere", "constructor", "toString", "__proto__", "Shell", 'a"b'])(
    "of the name %s that nobody registered",
    async (backendType) => {
      const { bash, call: toCall } = agent({ backendType });
      const message = `no PTY backend registered for ${JSON.stringify(backendType)}`;
      expect((await refusal(bash("echo hi"), "NO_BACKEND")).message).toBe(message);
      expect((await refusal(toCall("terminal_open", {}), "NO_BACKEND")).message).toBe(message);
    },
  );

  test("that is registered under a name is used, also an instance of a class", async () => {
    class Counting implements Backend {
      #shells = 0;
      #terminals = 0;
      get counts(): number[] {
        return [this.#shells, this.#terminals];
      }
      openShell(...args: Parameters<typeof openShell>): Promise<Shell> {
        this.#shells++;
        return openShell(...args);
      }
      openTerminal(...args: Parameters<typeof openTerminal>): ReturnType<typeof openTerminal> {
        this.#terminals++;
        return openTerminal(...args);
      }
    }
    const backend = new Counting();
    const one = agent({ backendType: "counting", backends: { counting: backend } });
    expect(await one.bash("echo a")).toBe(`a\n${finished(0)}`);
    expect(await one.bash("echo b")).toBe(`b\n${finished(0)}`);
    await one.call("terminal_open", {});
    await one.call("terminal_open", { type: "shell" });
    expect(backend.counts).toEqual([1, 1]);
  });

  test("that takes the name of this machine replaces it", async () => {
    const none = async (): Promise<never> => {
      throw new EvershellError("PTY_UNAVAILABLE", "mine");
    };
    const backends = { shell: { openShell: none, openTerminal: none } };
    await refusal(agent({ backends }).bash("echo hi"), "PTY_UNAVAILABLE");
  });
});

describe("cancelling", () => {
  test("a call that runs: its result is given up, its reason never shown, the shell reset", async () => {
    const one = agent();
    const pid = Number((await one.bash("x=1; echo $$")).split("\n")[0]);
    const listener = new Listener();
    const controller = new AbortController();
    const running = one.bash("echo begun; sleep 60", {
      signal: controller.signal,
      onOutput: listener.onOutput,
    });
    await listener.heard("begun");
    controller.abort("SECRET REASON");
    expectAborted(await refusal(running, "ABORTED"));
    expect(lives(pid)).toBe(false);
    expect(await one.bash("echo [$x] $PWD")).toBe(`[] ${one.context.cwd}\n${finished(0)}`);
  });

  test("before the call: nothing is opened or sent", async () => {
    const one = agent();
    const signal = AbortSignal.abort(new Error("SECRET REASON"));
    for (const { name } of one.tools.all) {
      expectAborted(
        await refusal(one.call(name, { command: "touch made" }, { signal }), "ABORTED"),
      );
    }
    expect(await one.call("terminal_list", {})).toBe("[no terminals]");
    expect(existsSync(join(one.context.cwd, "made"))).toBe(false);
  });

  test("a call in the queue sends nothing, and the one before it goes on", async () => {
    const one = agent();
    const listener = new Listener();
    const controller = new AbortController();
    const first = one.bash("x=1; echo begun; sleep 0.4; echo over", {
      onOutput: listener.onOutput,
    });
    const second = refusal(one.bash("touch made", { signal: controller.signal }), "ABORTED");
    const third = one.bash("echo third $x");
    await listener.heard("begun");
    controller.abort("SECRET REASON");
    // At once: it does not wait for its turn.
    expectAborted(await second);
    expect(listener.text).not.toContain("over");
    expect(await first).toBe(`begun\nover\n${finished(0)}`);
    expect(await third).toBe(`third 1\n${finished(0)}`);
    expect(existsSync(join(one.context.cwd, "made"))).toBe(false);
  });

  test("a call that only waits: the shell is reset", async () => {
    const one = agent();
    await one.bash("x=1");
    expect(await one.bash({ command: "sleep 60", waitMs: 30 })).toBe(RUNNING);
    const signal = AbortSignal.timeout(100);
    expectAborted(await refusal(one.bash({ wait: true }, { signal }), "ABORTED"));
    await refusal(one.bash({ wait: true }), "NOT_RUNNING");
    expect(await one.bash("echo [$x]")).toBe(`[]\n${finished(0)}`);
  });

  test("a command that has just completed: its result is given up all the same", async () => {
    const controller = new AbortController();
    const one = agent({
      backendType: "watched",
      backends: {
        watched: {
          openTerminal,
          // The cancellation comes between the end of the command and that of the call.
          openShell: async (options) => {
            const shell = await openShell(options);
            const run = shell.run.bind(shell);
            shell.run = async (command, runOptions) => {
              const result = await run(command, runOptions);
              if (command === "echo done") controller.abort("SECRET REASON");
              return result;
            };
            return shell;
          },
        },
      },
    });
    await one.bash("x=1");
    expectAborted(await refusal(one.bash("echo done", { signal: controller.signal }), "ABORTED"));
    expect(await one.bash("echo [$x]")).toBe(`[]\n${finished(0)}`);
  });

  test("from inside of the output: no result comes of it", async () => {
    const one = agent();
    await one.bash("x=1");
    const controller = new AbortController();
    const running = one.bash("echo done", {
      signal: controller.signal,
      onOutput: () => controller.abort("SECRET REASON"),
    });
    expectAborted(await refusal(running, "ABORTED"));
    expect(await one.bash("echo [$x]")).toBe(`[]\n${finished(0)}`);
  });

  test("a restart: it is told as cancelled", async () => {
    const one = agent();
    await one.bash("x=1");
    const controller = new AbortController();
    const restarting = refusal(
      one.bash({ restart: true }, { signal: controller.signal }),
      "ABORTED",
    );
    controller.abort("SECRET REASON");
    expectAborted(await restarting);
    expect(await one.bash("echo [$x]")).toBe(`[]\n${finished(0)}`);
  });

  test("while the shell is opened: at once, and nothing is sent", async () => {
    const cwd = folder();
    const slow = join(cwd, "slow-bash");
    writeFileSync(slow, '#!/bin/sh\nsleep 1\nexec bash "$@"\n');
    chmodSync(slow, 0o755);
    const one = agent({ shell: { bash: slow } });
    const begin = performance.now();
    const signal = AbortSignal.timeout(100);
    expectAborted(await refusal(one.bash("touch made", { signal }), "ABORTED"));
    expect(performance.now() - begin).toBeLessThan(900);
    expect(await one.bash("ls")).toBe(finished(0));
  });

  test("after the result changes nothing", async () => {
    const one = agent();
    const controller = new AbortController();
    expect(await one.bash("x=1; echo a", { signal: controller.signal })).toBe(`a\n${finished(0)}`);
    controller.abort("SECRET REASON");
    expect(await one.bash("echo $x")).toBe(`1\n${finished(0)}`);
    // A command left in flight belongs to no signal any more.
    const another = new AbortController();
    const command = "sleep 0.3; echo b";
    expect(await one.bash({ command, waitMs: 30 }, { signal: another.signal })).toBe(RUNNING);
    another.abort("SECRET REASON");
    expect(await one.bash({ wait: true })).toBe(`b\n${finished(0)}`);
  });

  function expectAborted(error: EvershellError): void {
    expect(error.message).toBe("tool call aborted");
    expect(String(error)).not.toContain("SECRET");
  }
});

describe("arguments", () => {
  test.each<[unknown, string[]]>([
    [{}, ["command", "empty"]],
    [undefined, ["command", "empty"]],
    [{ command: "" }, ["command", "empty"]],
    [{ command: " \n\t" }, ["command", "empty"]],
    [{ wait: false }, ["command", "empty"]],
    [{ restart: false }, ["command", "empty"]],
    [{ waitMs: 5 }, ["command", "empty"]],
    [{ command: "", restart: true }, ["command", "empty"]],
    [{ command: 5 }, ["command", "must be a string", "received 5"]],
    [{ command: ["ls"] }, ["command", "must be a string", "received an array"]],
    [{ command: null }, ["command", "must be a string", "received null"]],
    [{ command: "x", timeoutMs: 0 }, ["timeoutMs", "at least 1 ms", "received 0"]],
    [{ command: "x", timeoutMs: "5" }, ["timeoutMs", "number of milliseconds", 'received "5"']],
    [{ command: "x", timeoutMs: 1.5 }, ["timeoutMs", "whole number", "received 1.5"]],
    [{ command: "x", timeoutMs: Number.NaN }, ["timeoutMs", "number", "received NaN"]],
    [{ command: "x", timeoutMs: 2 ** 31 }, ["timeoutMs", "at most 2147483647", "2147483648"]],
    [{ command: "x", waitMs: -1 }, ["waitMs", "at least 1 ms", "received -1"]],
    [{ command: "x", waitMs: null }, ["waitMs", "number of milliseconds", "received null"]],
    [{ wait: 1 }, ["wait", "true or false", "received 1"]],
    [{ restart: "yes" }, ["restart", "true or false", 'received "yes"']],
    [{ command: "x", wait: true }, ["wait", "command"]],
    [{ restart: true, wait: true }, ["wait", "restart"]],
    [{ wait: true, timeoutMs: 500 }, ["timeoutMs", "command"]],
    [{ command: "a\0b" }, ["command", "NUL", "index 1"]],
    [{ command: "a\ud800b" }, ["command", "surrogate", "index 1"]],
    ["echo hi", ['received "echo hi"']],
    [5, ["received 5"]],
  ])("%j: the message names the argument, the rule and the value", async (args, words) => {
    const one = agent();
    await one.bash("x=1");
    const error = await refusal(call(one.tools, "bash", args, one.context), "BAD_ARGUMENT");
    for (const word of words) expect(error.message).toContain(word);
    // The shell is as it was.
    expect(await one.bash("echo $x")).toBe(`1\n${finished(0)}`);
  });

  test("of terminals: an empty text is shown as one", async () => {
    const { message } = await refusal(
      agent().call("terminal_read", { terminal_id: "" }),
      "BAD_ARGUMENT",
    );
    expect(message).toBe('terminal_read: terminal_id must not be empty; received ""');
  });

  test("that nobody knows are ignored, and never passed on", async () => {
    const one = agent();
    const unknown = {
      env: { EVIL: "1" },
      stdin: "typed\n",
      input: "typed\n",
      cwd: "/",
      workdir: "/",
      onTimeout: "interrupt",
      onAbort: "interrupt",
      keep: "tail",
      maxOutputChars: 1,
      signal: "SIGKILL",
      backend: ["false"],
      backendType: "nowhere",
      onOutput: 5,
      description: "x",
    };
    expect(await one.bash({ ...unknown, command: "echo long [$EVIL] $PWD" })).toBe(
      `long [] ${one.context.cwd}\n${finished(0)}`,
    );
    expect(await one.bash({ ...unknown, command: "x=1; sleep 60", timeoutMs: 200 })).toContain(
      "[The shell was reset",
    );
    expect(await one.bash({ ...unknown, restart: true })).toBe(RESTARTED);
    expect(await one.bash({ ...unknown, command: "read -t 0.05 line; echo [$line]" })).toBe(
      `[]\n${finished(0)}`,
    );
    for (const { name } of one.tools.all.filter((tool) => tool.name !== "bash")) {
      const outcome = await one.call(name, { ...unknown, terminal_id: "x", signal: "INT" }).then(
        () => "",
        (error: EvershellError) => error.code,
      );
      expect(["", "NO_TERMINAL"], name).toContain(outcome);
    }
  });

  test("that are inherited count as little as their names", async () => {
    const { bash } = agent();
    const args = JSON.parse('{"command":"echo hi","__proto__":{"wait":true}}') as object;
    expect(await bash(args)).toBe(`hi\n${finished(0)}`);
  });
});

describe("calls that cannot be carried out", () => {
  test("there is nothing to wait for", async () => {
    const one = agent();
    await refusal(one.bash({ wait: true }), "NOT_RUNNING");
    await one.bash("true");
    const { message } = await refusal(one.bash({ wait: true }), "NOT_RUNNING");
    expect(message).toContain("no command in flight");
    // The answer to a wait for one that has been told already is the same.
    await one.bash({ command: "sleep 0.1", waitMs: 10 });
    await shellAtPrompt(one);
    expect(await one.bash({ wait: true })).toBe(finished(0));
    await refusal(one.bash({ wait: true }), "NOT_RUNNING");
  });

  test("the owner's directory is missing; once it is there, the shell opens", async () => {
    const one = agent();
    const cwd = join(one.context.cwd, "missing");
    const { message } = await refusal(one.bash("pwd", { cwd }), "BAD_CWD");
    expect(message).toContain(cwd);
    expect(await one.bash("pwd")).toBe(`${one.context.cwd}\n${finished(0)}`);
  });

  test("there is no such bash", async () => {
    const one = agent({ shell: { bash: "/nonexistent/bash" } });
    const { message } = await refusal(one.bash("true"), "BASH_NOT_FOUND");
    expect(message).toContain("/nonexistent/bash");
    await refusal(one.bash("true"), "BASH_NOT_FOUND");
  });

  test("the tools were disposed of", async () => {
    const one = agent();
    await one.bash("true");
    await one.tools.dispose();
    for (const { name } of one.tools.all) {
      const error = await refusal(one.call(name, { command: "true" }), "CLOSED");
      expect(error.message).toContain(name);
    }
    await one.tools.dispose();
  });
});

describe("config", () => {
  test.each<[string, unknown, string]>([
    ["backendType", 5, "must be a string; received 5"],
    ["backendType", "", 'must not be empty; received ""'],
    ["timeoutMs", "5", 'must be a number of milliseconds; received "5"'],
    ["timeoutMs", 0, "must be at least 1 ms; received 0"],
    ["timeoutMs", -1, "must be at least 1 ms; received -1"],
    ["timeoutMs", 0.5, "must be a whole number of milliseconds; received 0.5"],
    ["timeoutMs", Number.NaN, "must be a number of milliseconds; received NaN"],
    [
      "timeoutMs",
      Number.POSITIVE_INFINITY,
      "must be a whole number of milliseconds; received Infinity",
    ],
    ["timeoutMs", 2 ** 31, "must be at most 2147483647 ms; received 2147483648"],
    ["timeoutMs", null, "must be a number of milliseconds; received null"],
    ["maxOutputChars", "x", 'must be a number of characters; received "x"'],
    ["maxOutputChars", 0, "must be at least 1 character; received 0"],
    ["maxOutputChars", 1.5, "must be a whole number of characters; received 1.5"],
    ["maxOutputChars", 1e9, "must be at most 100 000 000 characters; received 1000000000"],
    ["keep", "middle", 'must be "head" or "tail" or "both"; received "middle"'],
    ["keep", 1, 'must be "head" or "tail" or "both"; received 1'],
    ["onTimeout", "kill", 'must be "reset" or "interrupt"; received "kill"'],
    ["onTimeout", true, 'must be "reset" or "interrupt"; received true'],
    ["description", "", 'must not be empty; received ""'],
    ["description", ["a"], "must be a string; received an array"],
    ["backends", 5, "; received 5"],
    ["backends.far", { far: 5 }, "; received 5"],
    ["backends.far", { far: { argv: [] } }, "must be {"],
    ["backends.far", { far: { argv: "ssh host" } }, "must be {"],
    ["backends.far", { far: { argv: ["ssh"], more: 1 } }, "must be {"],
    ["backends.far", { far: { openShell } }, "must be {"],
    ["backends.far", { far: { openShell, openTerminal: 5 } }, "must be {"],
    ["shell", 5, "must be an object of options; received 5"],
    ["shell: cols", { cols: 0 }, "must be 1 to 1000 cells; received 0"],
    ["shell: rows", { rows: "40" }, 'must be a number of cells; received "40"'],
    ["shell: rc", { rc: "all" }, 'must be "none" or "user"; received "all"'],
    ["shell: bash", { bash: 5 }, "must be a string; received 5"],
    ["shell: env.A", { env: { A: 5 } }, "must be a string or undefined; received 5"],
    ["shell: graceMs", { graceMs: 0 }, "must be at least 1 ms; received 0"],
    ["shell: startTimeoutMs", { startTimeoutMs: -1 }, "must be at least 1 ms; received -1"],
    ["shell: keepDetached", { keepDetached: "no" }, 'must be true or false; received "no"'],
    ["shell: spillDir", { spillDir: 5 }, "must be a string; received 5"],
    ["shell: cwd", { cwd: "/" }, "is no option; received"],
    ["shell: onTimeout", { onTimeout: "reset" }, "is no option; received"],
    ["timeoutMS", 5, "is no option; received"],
    ["onAbort", "reset", "is no option; received"],
  ])("%s %j is refused when the tools are made", (name, value, rule) => {
    const [key = ""] = name.split(/[.:]/);
    const error = failure({ [key]: value });
    expect(error.code).toBe("BAD_OPTION");
    expect(error.message).toContain(`config: ${name} `);
    expect(error.message).toContain(rule);
  });

  test.each([5, "x", true, null, []])("%j is no config", (config) => {
    const { code, message } = failure(config);
    expect(code).toBe("BAD_OPTION");
    expect(message).toMatch(/^config\b.*\bobject\b/i);
    expect(message).not.toContain("is no option");
  });

  test("keys that are left out, or undefined, have their defaults", async () => {
    const all = { backendType: undefined, timeoutMs: undefined, keep: undefined, shell: undefined };
    const one = agent(all as unknown as PersistentToolsConfig);
    expect(await one.bash("echo hi")).toBe(`hi\n${finished(0)}`);
    expect(await one.bash("seq 1 20000")).toContain("the first 16000 of ");
    const { description } = toolNamed(one.tools, "bash");
    expect(description).toContain("persistent");
  });

  test("describes the tool, and its shells", async () => {
    const one = agent({
      description: "Ours.",
      shell: { cols: 33, rows: 7, env: { MINE: "1", HOME: undefined } },
    });
    expect(one.tools.bash.description).toBe("Ours.");
    expect(await one.bash("stty size; echo $MINE [${HOME-none}]")).toBe(
      `7 33\n1 [none]\n${finished(0)}`,
    );
  });

  function failure(config: unknown): EvershellError {
    let made: Tools;
    try {
      made = createTools(config as PersistentToolsConfig);
    } catch (error) {
      expect(error).toBeInstanceOf(EvershellError);
      return error as EvershellError;
    }
    void made.dispose();
    throw new Error(`no error for ${JSON.stringify(config)}`);
  }
});
