/** Commands that run once on this machine: what a request becomes, what comes of it, and that nothing is left. */

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { BashRequest } from "../src/core/executor.ts";
import { localExecutor } from "../src/node-tools.ts";
import { brief, makeExecutor, pidsIn, run, start, tinyFolder } from "./executor-support.ts";
import {
  childCommands,
  descriptorCount,
  each,
  lines,
  peakResidentMb,
  residentMb,
  runningOf,
  settle,
} from "./processes-support.ts";
import { folder, lives, refusal, until } from "./support.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Expects that these processes end, and that there are any. */
async function gone(pids: readonly number[], limitMs?: number): Promise<void> {
  expect(pids.length).toBeGreaterThan(0);
  await until(`${pids} are gone`, () => runningOf(pids).length === 0, limitMs);
}

function isWritten(file: string): boolean {
  return existsSync(file) && readFileSync(file, "utf8").endsWith("\n");
}

describe("a request", () => {
  test("gets every default: the directory, the time, no input, the environment", () => {
    const cwd = folder();
    const spec = makeExecutor({ cwd }).resolve({ command: "true" });
    expect(spec).toEqual({
      command: "true",
      workdir: cwd,
      timeoutMs: 120_000,
      stdin: null,
      env: expect.objectContaining({ PATH: process.env.PATH }),
    });
    expect(makeExecutor({ cwd: "." }).resolve({ command: "true" }).workdir).toBe(process.cwd());
  });

  test("may say how long, up to the cap", () => {
    const limits = (options: object, timeoutMs?: number): number =>
      makeExecutor(options).resolve({ command: "true", ...(timeoutMs && { timeoutMs }) }).timeoutMs;
    expect(limits({}, 5)).toBe(5);
    expect(limits({}, 600_000)).toBe(600_000);
    expect(limits({}, 600_001)).toBe(600_000);
    expect(limits({ timeoutMs: 7_000 })).toBe(7_000);
    expect(limits({ timeoutMs: 7_000 }, 8_000)).toBe(8_000);
    expect(limits({ maxTimeoutMs: 9_000 }, 10_000)).toBe(9_000);
    expect(limits({ maxTimeoutMs: 9_000 })).toBe(9_000);
  });

  test.each([[0], [-1], [1.5], [Number.NaN], ["5"], [null]])(
    "with the time %j is refused",
    async (timeoutMs) => {
      const request = { command: "true", timeoutMs } as BashRequest;
      const error = await refusal(run(makeExecutor(), request), "BAD_ARGUMENT");
      expect(error.message).toContain("timeoutMs");
    },
  );

  test("may name a directory, relative to that of the executor", async () => {
    const cwd = folder();
    mkdirSync(join(cwd, "a/b c"), { recursive: true });
    const executor = makeExecutor({ cwd });
    const pwd = async (workdir: string): Promise<string> =>
      (await run(executor, { command: "pwd", workdir })).stdout.text.trimEnd();
    expect(await pwd("a/b c")).toBe(join(cwd, "a/b c"));
    expect(await pwd("a/../a")).toBe(join(cwd, "a"));
    expect(await pwd(".")).toBe(cwd);
    expect(await pwd("/usr")).toBe("/usr");
  });

  test("with a directory that is none is refused, and so is one that is gone [CWD-199]", async () => {
    const cwd = folder();
    const executor = makeExecutor({ cwd });
    writeFileSync(join(cwd, "file"), "");
    mkdirSync(join(cwd, "gone"));
    const spec = executor.resolve({ command: "touch made", workdir: "gone" });
    rmdirSync(join(cwd, "gone"));
    for (const workdir of ["file", "gone", "/nonexistent"]) {
      const error = await refusal(run(executor, { command: "touch made", workdir }), "BAD_CWD");
      expect(error.message).toContain(JSON.stringify(join("/", workdir)).slice(2));
    }
    // Gone since: the error still says what is missing.
    const late = await executor.run(spec).catch((error: unknown) => error);
    expect(late).toMatchObject({
      code: expect.stringMatching(/^(BAD_CWD|START_FAILED)$/),
      message: expect.stringContaining(join(cwd, "gone")),
    });
    expect(readdirSync(cwd)).toEqual(["file"]);
  });

  test("with a command that bash cannot hold is refused", async () => {
    const executor = makeExecutor();
    for (const command of ["a\0b", "echo \ud800", "", " \n\t", 7, undefined, ["ls"]]) {
      await refusal(run(executor, { command } as BashRequest), "BAD_ARGUMENT");
    }
  });

  test("may have input: text, bytes, more than a pipe holds, and what nobody reads", async () => {
    const executor = makeExecutor();
    const read = async (command: string, stdin: string | Uint8Array): Promise<unknown> =>
      brief(await run(executor, { command, stdin }));
    expect(await read("cat", "héllo\n😀")).toEqual(["héllo\n😀", "", 0]);
    expect(await read("xxd -p", Uint8Array.of(0, 255, 10))).toEqual(["00ff0a\n", "", 0]);
    expect(await read("cat; echo end", "")).toEqual(["end\n", "", 0]);
    const large = "x".repeat(5_000_000);
    expect(await read("wc -c", large)).toEqual(["5000000\n", "", 0]);
    expect(await read("head -c 3", large)).toEqual(["xxx", "", 0]);
    expect(await read("exec <&-; echo closed", large)).toEqual(["closed\n", "", 0]);
    expect(await read("true", large)).toEqual(["", "", 0]);
  });

  test("has no input unless it says so: what reads comes to an end at once", async () => {
    const executor = makeExecutor();
    expect(brief(await run(executor, "cat; read x; echo $? [$x]; test -t 0; echo $?"))).toEqual([
      "1 []\n1\n",
      "",
      0,
    ]);
  });
});

describe("the options of an executor", () => {
  test.each([
    [{ graceMs: 0 }, "graceMs"],
    [{ timeoutMs: "1" }, "timeoutMs"],
    [{ maxTimeoutMs: -1 }, "maxTimeoutMs"],
    [{ env: { A: 1 } }, "env"],
    [{ scrub: "yes" }, "scrub"],
    [{ scrub: { alow: [] } }, "scrub"],
    [{ unknown: 1 }, "unknown"],
  ])("%j are refused by name", async (options, key) => {
    const error = await refusal((async () => localExecutor(options as object))(), "BAD_OPTION");
    expect(error.message).toContain(key);
  });

  test("name folders that exist", async () => {
    await refusal((async () => localExecutor({ cwd: "/nonexistent" }))(), "BAD_CWD");
    await refusal((async () => localExecutor({ spillDir: "/nonexistent" }))(), "SPILL_UNAVAILABLE");
  });

  test("a PATH without bash is told", async () => {
    const executor = makeExecutor({ env: { PATH: folder() } });
    await refusal(run(executor, "true"), "BASH_NOT_FOUND");
    await refusal(start(executor, "true"), "BASH_NOT_FOUND");
  });
});

describe("the environment", () => {
  const printed = async (
    command: string,
    request: Partial<BashRequest> = {},
    options: object = {},
  ): Promise<string> =>
    (await run(makeExecutor(options), { command, ...request })).stdout.text.trimEnd();

  test("colours and pages nothing, unless the request says otherwise", async () => {
    vi.stubEnv("TERM", "xterm-256color");
    vi.stubEnv("PAGER", "less");
    vi.stubEnv("GIT_PAGER", "less");
    vi.stubEnv("NO_COLOR", undefined);
    const command = "echo $NO_COLOR $TERM $PAGER $GIT_PAGER";
    expect(await printed(command)).toBe("1 dumb cat cat");
    expect(await printed(command, {}, { env: { TERM: "vt100" } })).toBe("1 vt100 cat cat");
    const env = { NO_COLOR: undefined, TERM: "linux", PAGER: "more", GIT_PAGER: "" };
    expect(await printed(command, { env }, { env: { TERM: "vt100" } })).toBe("linux more");
    expect(await printed("echo ${NO_COLOR-unset} ${GIT_PAGER-unset}", { env })).toBe("unset");
  });

  test("is that of the host, and what is set on top", async () => {
    vi.stubEnv("PLAIN", "from the host");
    const command = "echo ${PLAIN-none}";
    expect(await printed(command)).toBe("from the host");
    expect(await printed(command, {}, { env: { PLAIN: "a" } })).toBe("a");
    expect(await printed(command, {}, { env: { PLAIN: undefined } })).toBe("none");
    expect(await printed(command, { env: { PLAIN: "b" } }, { env: { PLAIN: "a" } })).toBe("b");
    expect(await printed(command, { env: { PLAIN: undefined } })).toBe("none");
    expect(process.env.PLAIN).toBe("from the host");
  });

  test("has no secrets of the host [ENV-165]", async () => {
    vi.stubEnv("FOO_API_KEY", "hidden 1");
    vi.stubEnv("DATABASE_URL", "postgres://app:hidden2@db/app");
    vi.stubEnv("MONKEY", "shown");
    expect(await printed("env; cat /proc/$$/environ")).not.toContain("hidden");
    const seen = "echo ${FOO_API_KEY-none} ${MONKEY-none}";
    expect(await printed(seen)).toBe("none shown");
    expect(await printed(seen, {}, { scrub: true })).toBe("none shown");
    expect(await printed(seen, {}, { scrub: false })).toBe("hidden 1 shown");
    expect(await printed(seen, {}, { scrub: { allow: ["FOO_*"] } })).toBe("hidden 1 shown");
    expect(await printed(seen, {}, { scrub: { deny: ["MONKEY"] } })).toBe("none none");
    const process = await start(makeExecutor(), seen);
    await process.done;
    expect((await process.readOutput()).text).toBe("none shown\n");
  });

  test("has the secrets that are given expressly", async () => {
    const seen = "echo ${FOO_API_KEY-none}";
    expect(await printed(seen, { env: { FOO_API_KEY: "given" } })).toBe("given");
    expect(await printed(seen, {}, { env: { FOO_API_KEY: "given" } })).toBe("given");
    const denied = { scrub: { deny: ["FOO_*"] } };
    expect(await printed(seen, { env: { FOO_API_KEY: "given" } }, denied)).toBe("given");
  });

  test("has nothing that would make bash run, trace or print more than the command", async () => {
    const home = folder();
    const startup = join(home, ".bashrc");
    writeFileSync(startup, "echo startup\n");
    // bash thinks that it is run from afar, and reads the file, if its input is a socket or one of these is set.
    vi.stubEnv("HOME", home);
    vi.stubEnv("SSH_CLIENT", "192.0.2.1 50000 22");
    vi.stubEnv("SSH2_CLIENT", "192.0.2.1 50000 22");
    vi.stubEnv("BASH_ENV", startup);
    vi.stubEnv("ENV", startup);
    vi.stubEnv("SHELLOPTS", "xtrace");
    vi.stubEnv("CDPATH", "/usr");
    vi.stubEnv("BASH_FUNC___evsh_begin%%", "() { echo ours; }");
    vi.stubEnv("BASH_FUNC_greet%%", "() { echo hello; }");
    const executor = makeExecutor();
    const command = "type -t __evsh_begin; greet; echo ${CDPATH-none} ${BASH_ENV-none}";
    for (const input of [{}, { stdin: "input" }]) {
      const request = { command, ...input };
      expect(brief(await run(executor, request))).toEqual(["hello\nnone none\n", "", 0]);
      const process = await start(executor, request);
      await process.done;
      expect((await process.readOutput()).text).toBe("hello\nnone none\n");
    }
  });
});

describe("a command", () => {
  test.each<[string, string, string, number | string]>([
    ["echo out; echo err >&2", "out\n", "err\n", 0],
    ["printf 'no newline'", "no newline", "", 0],
    ["exit 3", "", "", 3],
    ["exit 255", "", "", 255],
    ["(exit 3) | tail -1", "", "", 0],
    ["set -o pipefail; (exit 3) | tail -1", "", "", 3],
    ["A=(); false", "", "", 1],
    ["false & true", "", "", 0],
    ["false & wait $!; echo $?", "1\n", "", 0],
    ["kill -9 $$", "", "", "SIGKILL"],
    ["kill -TERM $$", "", "", "SIGTERM"],
    ["kill -INT $$", "", "", "SIGINT"],
    ["echo so far; exec sh -c 'kill -SEGV $$'", "so far\n", "", "SIGSEGV"],
    ["trap 'echo bye' EXIT; exit 4", "bye\n", "", 4],
    ["printf 'a\\tb  \\n\\n\\r\\0c'", "a\tb  \n\n\r\0c", "", 0],
    ["printf '\\351'", "\ufffd", "", 0],
    ["echo '😀 é'", "😀 é\n", "", 0],
    ["cat <<'EOF'\n'\"$x\\\nEOF", "'\"$x\\\n", "", 0],
    ["echo $0 $#", "bash 0\n", "", 0],
  ])("%j [CODE-160, CODE-161, CODE-163]", async (command, out, err, end) => {
    const [stdout, stderr, ended] = brief(await run(makeExecutor(), command));
    expect([stdout.replace(/^\/.*\/bash/, "bash"), stderr, ended]).toEqual([out, err, end]);
  });

  test("that cannot be found, run or parsed says so and has bash's own status", async () => {
    const executor = makeExecutor();
    const of = async (command: string): Promise<unknown> => {
      const { stderr, exitCode } = await run(executor, command);
      return [stderr.text.replace(/^.*: line \d+: /gm, ""), exitCode];
    };
    expect(await of("nosuchcmd")).toEqual(["nosuchcmd: command not found\n", 127]);
    expect(await of("/usr")).toEqual(["/usr: Is a directory\n", 126]);
    const [message, status] = (await of('echo "abc')) as [string, number];
    expect(message).toContain("unexpected EOF");
    expect([1, 2]).toContain(status);
  });

  test("that fails tells why on stderr [LOST-37]", async () => {
    const { stderr, exitCode } = await run(makeExecutor(), "python3 -c 'import nope'");
    expect(stderr.text).toMatch(/^Traceback[\s\S]*No module named 'nope'\n$/);
    expect(exitCode).toBe(1);
  });

  test("leaves nothing to the next one", async () => {
    const executor = makeExecutor();
    await run(executor, "cd /; A=1; export B=2; f() { :; }; set -o pipefail; umask 0");
    const left = "pwd; echo [$A$B]; type -t f; (exit 3) | true; echo $?; umask";
    const { stdout } = await run(executor, left);
    expect(stdout.text).toBe(
      (await run(makeExecutor(), left)).stdout.text.replace(
        /^.*/,
        executor.resolve({ command: left }).workdir,
      ),
    );
  });

  test("leads a process group of its own, without a terminal", async () => {
    const { stdout } = await run(
      makeExecutor(),
      "ps -o pid=,pgid=,tty= -p $$; (: </dev/tty) 2>/dev/null; echo $?",
    );
    const [, pid, group, tty, status] =
      /^\s*(\d+)\s+(\d+)\s+(\S+)\n(\d+)\n$/.exec(stdout.text) ?? [];
    expect([group, tty, status]).toEqual([pid, "?", "1"]);
  });

  test("has no descriptors of ours", async () => {
    const { stdout } = await run(makeExecutor(), "ls -l /proc/$$/fd");
    const own = new Set(["0", "1", "2"]);
    const inherited = new Set(readdirSync("/proc/self/fd"));
    const fds = [...stdout.text.matchAll(/ (\d+) -> (.*)$/gm)].filter(
      ([, fd = ""]) => !own.has(fd) && !inherited.has(fd),
    );
    expect(fds).toEqual([]);
  });

  test("tells how long it took, and every character as it comes", async () => {
    const heard = { stdout: "", stderr: "" };
    const command = "printf '\\303'; sleep 0.2; printf '\\251'; echo é >&2";
    const { durationMs, stdout } = await run(makeExecutor(), command, {
      onOutput: (text, stream) => {
        heard[stream] += text;
      },
    });
    expect(heard).toEqual({ stdout: "é", stderr: "é\n" });
    expect(stdout).toEqual({ text: "é", totalBytes: 2, truncated: false, spillPath: null });
    expect(durationMs).toBeGreaterThanOrEqual(200);
    expect(durationMs).toBeLessThan(5_000);
  });

  test("suffers nothing from a listener that fails", async () => {
    const fail = (): never => {
      throw new Error("listener");
    };
    for (const onOutput of [fail, async () => fail()]) {
      expect(brief(await run(makeExecutor(), "echo a; sleep 0.05; echo b", { onOutput }))).toEqual([
        "a\nb\n",
        "",
        0,
      ]);
    }
  });

  test("waits while the listener does not take what came", async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let pieces = 0;
    const done = join(folder(), "done");
    const running = run(makeExecutor(), `seq 1 300000; echo >${done}`, {
      onOutput: () => {
        pieces++;
        return held;
      },
    });
    await until("something came", () => pieces > 0);
    await expect(until("the command ends", () => existsSync(done), 500)).rejects.toThrow();
    expect(pieces).toBe(1);
    release();
    const { stdout, exitCode } = await running;
    expect(exitCode).toBe(0);
    expect(stdout.totalBytes).toBe(lines(300_000).length + 1);
    expect(stdout.text.endsWith("\n299999\n300000\n")).toBe(true);
    expect(existsSync(done)).toBe(true);
  });

  test("of more than an argument can hold is run all the same", async () => {
    const executor = makeExecutor();
    const pad = "# padding é😀\n".repeat(20_000);
    const command = `cat <<'EOF'\n${pad}EOF\nread x; echo "[$x]" \${__evsh_c-none}; set -- a b; echo $#; exit 7\n`;
    expect(Buffer.byteLength(command)).toBeGreaterThan(256 * 1024);
    const { stdout, stderr, exitCode } = await run(executor, { command, stdin: "typed\n" });
    expect(stderr.text).toBe("");
    expect(stdout.totalBytes).toBe(Buffer.byteLength(`${pad}[typed] none\n2\n`));
    expect(stdout.text.endsWith(`${pad.slice(-100)}[typed] none\n2\n`)).toBe(true);
    expect(exitCode).toBe(7);

    const quiet = `: '${pad}'\n`;
    const status = async (tail: string): Promise<unknown> =>
      brief(await run(executor, quiet + tail));
    expect(await status("kill -9 $$")).toEqual(["", "", "SIGKILL"]);
    expect(await status("echo x >&3")).toEqual(["", expect.stringContaining("Bad file"), 1]);
    expect(await status("cat; printf '%s' \"a\n\n\"")).toEqual(["a\n\n", "", 0]);
    const unbalanced = await run(executor, `${quiet}echo "abc`);
    expect(unbalanced.exitCode).toBe((await run(executor, 'echo "abc')).exitCode);

    const process = await start(executor, `${quiet}echo begun; echo $((6 * 7))`);
    expect(await process.done).toEqual({ exitCode: 0, signal: null });
    expect((await process.readOutput()).text).toBe("begun\n42\n");

    const huge = `x='${"y".repeat(3_000_000)}'; echo \${#x}`;
    expect(brief(await run(executor, huge))).toEqual(["3000000\n", "", 0]);
  });
});

describe("a background child that holds the pipe", () => {
  test.each([
    ["sleep 300 & echo ok; echo $!"],
    ["sleep 300 </dev/null >/dev/null 2>&1 & echo ok; echo $!"],
    ["setsid sleep 300 & echo ok; echo $!"],
    ["setsid node -e 'setInterval(()=>{},1e3)' >l 2>&1 </dev/null & echo ok; echo $!"],
    ["(trap '' TERM; while :; do echo tick; sleep 0.1; done) & echo ok; echo $!"],
  ])("does not hold the call: %s [BG-78, BG-81]", async (command) => {
    const executor = makeExecutor();
    const outcome = await run(executor, command);
    expect(outcome.durationMs).toBeLessThan(1_000);
    expect(outcome.exitCode).toBe(0);
    expect(outcome.stdout.text).toMatch(/^(tick\n)*ok\n(tick\n)*\d+\n(tick\n)*$/);
    const pids = pidsIn(outcome.stdout.text);
    // It goes on, until the executor is closed.
    expect(runningOf(pids)).toEqual(pids);
    await executor.close();
    expect(runningOf(pids)).toEqual([]);
  });

  test("does not hold it by writing on and on, much or little", async () => {
    const executor = makeExecutor({ graceMs: 200 });
    const often = "import sys, time\nwhile True:\n  print('x', flush=True)\n  time.sleep(0.0005)";
    for (const writer of [`python3 -c "${often}"`, "yes", "while :; do echo; done"]) {
      const { durationMs, exitCode } = await run(executor, {
        command: `{ ${writer}; } & head -c 0 /dev/zero; sleep 0.3; true`,
        timeoutMs: 8_000,
      });
      expect([writer, exitCode]).toEqual([writer, 0]);
      expect(durationMs, writer).toBeLessThan(1_500);
    }
  });

  test("comes into the output as long as the command runs [BG-79]", async () => {
    const { stdout, durationMs } = await run(
      makeExecutor(),
      "(while :; do echo tick; sleep 0.1; done) & sleep 0.5; echo fg",
    );
    expect(stdout.text).toMatch(/^(tick\n){3,6}fg\n(tick\n)?$/);
    expect(durationMs).toBeLessThan(1_500);
  });

  test("is not killed when it goes on writing, a little or a lot", async () => {
    const cwd = folder();
    const executor = makeExecutor({ cwd });
    const { stdout } = await run(
      executor,
      "(sleep 0.2; echo late && head -c 3000000 /dev/zero && echo late >&2 && echo whole >whole) & echo ok",
    );
    expect(stdout.text).toBe("ok\n");
    await until("it has written all", () => isWritten(join(cwd, "whole")));
  });
});

describe("a command that takes too long", () => {
  test("is ended, and all that it printed is there [TMO-175, TMO-177]", async () => {
    const outcome = await run(makeExecutor({ graceMs: 3_000 }), {
      command: "echo CRITICAL; echo b >&2; sleep 30",
      timeoutMs: 1_000,
    });
    expect(brief(outcome)).toEqual(["CRITICAL\n", "b\n", "SIGTERM"]);
    expect(outcome.timedOutMs).toBe(1_000);
    expect(outcome.durationMs).toBeGreaterThanOrEqual(999);
    expect(outcome.durationMs).toBeLessThan(1_300);
  });

  test("has had its output as it came [TMO-176]", async () => {
    const { stdout, timedOutMs } = await run(makeExecutor(), {
      command: "i=0; while :; do echo tick $i; i=$((i+1)); sleep 0.2; done",
      timeoutMs: 1_100,
    });
    expect(stdout.text).toMatch(/^tick 0\ntick 1\ntick 2\ntick 3\ntick 4\n(tick 5\n)?$/);
    expect(timedOutMs).toBe(1_100);
  });

  test("and does not mind TERM is killed after the grace", async () => {
    const graceMs = 3_000;
    const outcome = await run(makeExecutor({ graceMs }), {
      command: "trap '' TERM; echo $$; sleep 30 & echo $!; wait; sleep 30",
      timeoutMs: 1_000,
    });
    expect(outcome).toMatchObject({ timedOutMs: 1_000, signal: "SIGKILL", exitCode: null });
    expect(outcome.durationMs).toBeGreaterThanOrEqual(1_000 + graceMs - 10);
    expect(outcome.durationMs).toBeLessThan(1_000 + graceMs + 500);
    expect(runningOf(pidsIn(outcome.stdout.text))).toEqual([]);
  });

  test("and then ends by itself is told as timed out, with its last words", async () => {
    const outcome = await run(makeExecutor(), {
      command:
        "trap 'echo bye; echo words >&2; exit 0' TERM; echo begin; while :; do sleep 0.02; done",
      timeoutMs: 300,
    });
    expect(outcome).toMatchObject({ timedOutMs: 300, exitCode: 0, signal: null });
    expect(outcome.stdout.text).toBe("begin\nbye\n");
    // bash may tell that it was its child that was ended.
    expect(outcome.stderr.text).toMatch(/^(Terminated\n)?words\n$/);
  });

  test("or ends with a status of its own has that", async () => {
    const outcome = await run(makeExecutor(), {
      command: "trap 'exit 9' TERM; while :; do sleep 0.02; done",
      timeoutMs: 200,
    });
    expect(outcome).toMatchObject({ timedOutMs: 200, exitCode: 9, signal: null });
  });

  test.each([
    ["of its session", "sleep 300 &"],
    ["of another session", "setsid sleep 300 &"],
    ["of another session, whose parent is gone", "(setsid sleep 300 & echo $!);"],
    ["without our environment", "env -i sleep 300 &"],
    ["that ignore TERM", "(trap '' TERM; sleep 300) & (trap '' TERM; setsid sleep 300) &"],
    ["that are stopped", "sleep 300 & kill -STOP $!;"],
    [
      "that replace themselves on TERM",
      "(trap 'setsid sleep 300 & echo $! >>more' TERM; while :; do sleep 0.02; done) &",
    ],
  ])("takes everything with it: processes %s", async (_, command) => {
    const cwd = folder();
    const { stdout, timedOutMs } = await run(makeExecutor({ cwd }), {
      command: `echo $$; ${command} echo $!; sleep 300`,
      timeoutMs: 400,
    });
    expect(timedOutMs).toBe(400);
    const more = join(cwd, "more");
    const pids = [
      ...pidsIn(stdout.text),
      ...pidsIn(existsSync(more) ? readFileSync(more, "utf8") : ""),
    ];
    expect(pids.length).toBeGreaterThanOrEqual(2);
    expect(runningOf(pids)).toEqual([]);
  });

  test("and whose listener takes nothing is ended all the same", async () => {
    const outcome = await run(
      makeExecutor(),
      { command: "yes", timeoutMs: 500 },
      { onOutput: () => new Promise(() => undefined) },
    );
    expect(outcome).toMatchObject({ timedOutMs: 500, signal: "SIGTERM" });
    expect(outcome.durationMs).toBeLessThan(2_000);
  });

  test("in one that leaves no time to tell is none that was killed by its own signal", async () => {
    const own = await run(makeExecutor(), { command: "kill -TERM $$", timeoutMs: 5_000 });
    expect(own).toMatchObject({ timedOutMs: null, signal: "SIGTERM" });
  });
});

describe("a command that is cancelled", () => {
  test("is an error that does not tell the reason, and nothing of it is left", async () => {
    const stop = new AbortController();
    let heard = "";
    const running = run(
      makeExecutor(),
      "(trap '' TERM; setsid sleep 300) & echo $!; sleep 300 & echo $!; echo $$; wait",
      {
        signal: stop.signal,
        onOutput: (text) => {
          heard += text;
        },
      },
    );
    await until("all run", () => pidsIn(heard).length === 3);
    stop.abort(new Error("SECRET REASON"));
    const error = await refusal(running, "ABORTED");
    expect(error.message).not.toContain("SECRET");
    expect(error.cause).toBe(stop.signal.reason);
    expect(runningOf(pidsIn(heard))).toEqual([]);
  });

  test("before it begins is not begun", async () => {
    const cwd = folder();
    const signal = AbortSignal.abort();
    await refusal(run(makeExecutor({ cwd }), "touch made", { signal }), "ABORTED");
    expect(readdirSync(cwd)).toEqual([]);
  });

  test("is an error though it ends well on TERM, or has just ended", async () => {
    const stop = new AbortController();
    let heard = "";
    const running = run(
      makeExecutor(),
      "trap 'exit 0' TERM; echo on; while :; do sleep 0.02; done",
      {
        signal: stop.signal,
        onOutput: (text) => {
          heard += text;
        },
      },
    );
    await until("it runs", () => heard === "on\n");
    stop.abort();
    await refusal(running, "ABORTED");

    const last = new AbortController();
    const over = run(makeExecutor(), "echo done", {
      signal: last.signal,
      onOutput: () => last.abort(),
    });
    await refusal(over, "ABORTED");
  });

  test("after it has ended stays as it was, and what it left in the background goes on", async () => {
    const stop = new AbortController();
    const { stdout } = await run(makeExecutor(), "sleep 300 & echo $!", { signal: stop.signal });
    stop.abort();
    const pids = pidsIn(stdout.text);
    expect(runningOf(pids)).toEqual(pids);
  });
});

describe("long output", () => {
  test("is cut to its end, and is in a private file, complete", async () => {
    const spillDir = folder();
    const executor = makeExecutor({ spillDir });
    const { stdout, stderr } = await run(executor, "seq 1 100000; seq 100001 150000 >&2");
    const [out, err] = [`${lines(100_000)}\n`, `${lines(150_000)}\n`.slice(588_895)];
    for (const [stream, whole] of [
      [stdout, out],
      [stderr, err],
    ] as const) {
      expect(stream).toMatchObject({ totalBytes: whole.length, truncated: true });
      expect(stream.text).toBe(whole.slice(-64_000));
      const path = stream.spillPath as string;
      expect(readFileSync(path, "utf8")).toBe(whole);
      expect(dirname(dirname(path))).toBe(spillDir);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    }
    expect(stdout.spillPath).not.toBe(stderr.spillPath);
    await executor.close();
    expect(readdirSync(spillDir)).toEqual([]);
  });

  test("of 64 000 bytes is whole, and one more is not", async () => {
    const spillDir = folder();
    const executor = makeExecutor({ spillDir });
    const whole = await run(executor, "head -c 64000 /dev/zero | tr '\\0' x");
    expect(whole.stdout).toEqual({
      text: "x".repeat(64_000),
      totalBytes: 64_000,
      truncated: false,
      spillPath: null,
    });
    expect(readdirSync(spillDir)).toEqual([]);
    const cut = await run(executor, "printf é; head -c 63999 /dev/zero | tr '\\0' x");
    expect(cut.stdout).toMatchObject({ text: "x".repeat(63_999), totalBytes: 64_001 });
    expect(readFileSync(cut.stdout.spillPath as string)).toHaveLength(64_001);
  });

  test("of a command that was stopped is in a file too, as far as it came", async () => {
    const { stdout, timedOutMs } = await run(makeExecutor(), {
      command: "seq 1 50000; echo last; sleep 30",
      timeoutMs: 1_000,
    });
    expect(timedOutMs).toBe(1_000);
    const whole = `${lines(50_000)}\nlast\n`;
    expect(stdout.text).toBe(whole.slice(-64_000));
    expect(readFileSync(stdout.spillPath as string, "utf8")).toBe(whole);
  });

  test("of a command that was cancelled is in no file", async () => {
    const spillDir = folder();
    const stop = new AbortController();
    let last = "";
    const running = run(makeExecutor({ spillDir }), "seq 1 100000; echo over; sleep 300", {
      signal: stop.signal,
      onOutput: (text) => {
        last = (last + text).slice(-10);
      },
    });
    await until("all came", () => last.endsWith("over\n"));
    stop.abort();
    await refusal(running, "ABORTED");
    expect(readdirSync(spillDir).flatMap((each) => readdirSync(join(spillDir, each)))).toEqual([]);
  });

  test("of 40 MB on both streams is complete in the files", async () => {
    const { stdout, stderr } = await run(
      makeExecutor(),
      "yes abcdefg | head -c 40000000 & yes 1234567 | head -c 40000000 >&2; wait",
    );
    for (const [stream, line] of [
      [stdout, "abcdefg\n"],
      [stderr, "1234567\n"],
    ] as const) {
      expect(stream).toMatchObject({ totalBytes: 40_000_000, truncated: true });
      expect(stream.text).toBe(line.repeat(8_000));
      const wanted = createHash("sha256");
      for (let i = 0; i < 5_000; i++) wanted.update(line.repeat(1_000));
      const found = createHash("sha256");
      for await (const part of createReadStream(stream.spillPath as string)) found.update(part);
      expect(found.digest("hex")).toBe(wanted.digest("hex"));
    }
  });

  test("of 200 MB on both streams is cut right, in no file, and costs hardly any memory", async () => {
    const spillDir = folder();
    const executor = makeExecutor({ spillDir });
    const command = (bytes: number): string =>
      `yes abcdefg | head -c ${bytes} & yes 1234567 | head -c ${bytes} >&2; wait`;
    for (let time = 0; time < 2; time++) await run(executor, command(70_000_000));
    const before = residentMb();
    let outcome: Awaited<ReturnType<typeof run>> | undefined;
    const peak = await peakResidentMb(async () => {
      outcome = await run(executor, command(200_000_000));
    });
    expect(peak - before).toBeLessThan(32);
    expect(outcome).toEqual({
      exitCode: 0,
      signal: null,
      timedOutMs: null,
      denials: [],
      durationMs: expect.any(Number),
      ...Object.fromEntries(
        (
          [
            ["stdout", "abcdefg\n"],
            ["stderr", "1234567\n"],
          ] as const
        ).map(([name, line]) => [
          name,
          { text: line.repeat(8_000), totalBytes: 200_000_000, truncated: true, spillPath: null },
        ]),
      ),
    });
    expect(readdirSync(spillDir).flatMap((each) => readdirSync(join(spillDir, each)))).toEqual([]);
  }, 60_000);

  test("on a disk without room is told as unavailable, and the end is there [DISK-179, DISK-181]", async () => {
    const { path: spillDir, fill } = tinyFolder();
    const executor = makeExecutor({ spillDir });
    // It comes to be full while the file is written, and then before there is one.
    for (const prepare of [() => undefined, fill]) {
      prepare();
      const { stdout, stderr, exitCode } = await run(
        executor,
        "yes é | head -c 3000000; seq 1 400000 >&2; exit 4",
      );
      expect(exitCode).toBe(4);
      expect(stdout).toMatchObject({ totalBytes: 3_000_000, truncated: true, spillPath: null });
      expect(stdout.text).toBe("é\n".repeat(30_000).slice(-42_667));
      expect(stderr).toMatchObject({ truncated: true, spillPath: null });
      expect(stderr.text.endsWith("\n400000\n")).toBe(true);
    }
    expect(brief(await run(executor, { command: "echo hi; df .", workdir: spillDir }))).toEqual([
      expect.stringMatching(/^hi\nFilesystem/),
      "",
      0,
    ]);
    const process = await start(executor, "seq 1 400000");
    expect(await process.done).toEqual({ exitCode: 0, signal: null });
    const read = await process.readOutput();
    expect(read).toMatchObject({ dropped: true, spillPath: null });
    expect(read.text.endsWith("\n400000\n")).toBe(true);
  });
});

describe("a command that is left running", () => {
  test("is read in parts that are the whole, both streams as they came", async () => {
    const process = await start(
      makeExecutor(),
      "for i in 1 2 3 4 5; do echo out $i é😀; echo err $i >&2; sleep 0.05; done; printf '\\303'",
    );
    expect(process.pid).toBeGreaterThan(0);
    let [text, over] = ["", false];
    void process.done.then(() => {
      over = true;
    });
    while (!over) {
      const part = await process.readOutput();
      expect(part).toMatchObject({ dropped: false, spillPath: null });
      text += part.text;
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    text += (await process.readOutput()).text;
    const wanted = [1, 2, 3, 4, 5].map((i) => `out ${i} é😀\nerr ${i}\n`).join("");
    expect(text).toBe(`${wanted}\ufffd`);
    expect((await process.readOutput()).text).toBe("");
    expect(await process.done).toEqual({ exitCode: 0, signal: null });
  });

  test("has no time limit, and no input [STDIN-44]", async () => {
    const executor = makeExecutor({ timeoutMs: 50 });
    const process = await start(executor, { command: "cat; sleep 0.4; echo end", timeoutMs: 50 });
    expect(await process.done).toEqual({ exitCode: 0, signal: null });
    expect((await process.readOutput()).text).toBe("end\n");
  });

  test("gets the input of its request [STDIN-49]", async () => {
    const process = await start(makeExecutor(), { command: "sort", stdin: "b\na\n" });
    expect(await process.done).toEqual({ exitCode: 0, signal: null });
    expect((await process.readOutput()).text).toBe("a\nb\n");
  });

  test.each<[string, number | null, string | null]>([
    ["exit 5", 5, null],
    ["kill -KILL $$", null, "SIGKILL"],
    ["sleep 0.2; echo fin", 0, null],
  ])("tells how it ended: %s [CODE-162]", async (command, exitCode, signal) => {
    const process = await start(makeExecutor(), command);
    expect(await process.done).toEqual({ exitCode, signal });
    // There is nothing to end any more.
    await process.cancel();
    expect(await process.done).toEqual({ exitCode, signal });
  });

  test("is ended with everything that it started", async () => {
    const process = await start(
      makeExecutor(),
      "(trap '' TERM; setsid sleep 300) & echo $!; sleep 300 & echo $!; echo $$; wait",
    );
    let text = "";
    await until("all run", async () => {
      text += (await process.readOutput()).text;
      return pidsIn(text).length === 3;
    });
    await Promise.all([process.cancel(), process.cancel()]);
    expect(await process.done).toEqual({ exitCode: null, signal: "SIGTERM" });
    expect(runningOf([...pidsIn(text), process.pid])).toEqual([]);
  });

  test("ends though what it left holds the pipe", async () => {
    const process = await start(makeExecutor(), "sleep 300 & echo ok");
    expect(await process.done).toEqual({ exitCode: 0, signal: null });
    expect((await process.readOutput()).text).toBe("ok\n");
  });

  test("can be ended at the moment when it ends, 60 times [PROC-63]", async () => {
    const executor = makeExecutor();
    const ends = await each(60, 4, async (number) => {
      const process = await start(executor, "sleep 0.05");
      await new Promise((resolve) => setTimeout(resolve, 45 + (number % 11)));
      await process.cancel();
      return process.done;
    });
    for (const { exitCode, signal } of ends) {
      expect([0, "SIGTERM"]).toContain(signal ?? exitCode);
    }
  });

  test("of which too much is unread gives its end, says so once, and names the file with all", async () => {
    const cwd = folder();
    const executor = makeExecutor({ cwd });
    const process = await start(
      executor,
      "seq 1 50000; touch half; until [ -e go ]; do sleep 0.02; done; echo more; seq 1 50000",
    );
    const half = `${lines(50_000)}\n`;
    await until("half of it is written", () => existsSync(join(cwd, "half")));
    let first = await process.readOutput();
    await until("half of it has come", async () => {
      if (!first.text.endsWith("\n50000\n")) {
        const next = await process.readOutput();
        first = next.dropped ? next : { ...first, text: first.text + next.text };
      }
      return first.text.endsWith("\n50000\n");
    });
    expect(first.dropped).toBe(true);
    expect(half.endsWith(first.text)).toBe(true);
    expect(readFileSync(first.spillPath as string, "utf8").startsWith(half.slice(0, 100_000))).toBe(
      true,
    );
    expect(await process.readOutput()).toEqual({ text: "", dropped: false, spillPath: null });

    writeFileSync(join(cwd, "go"), "");
    await process.done;
    const rest = await process.readOutput();
    expect(rest).toMatchObject({ text: half.slice(-64_000), dropped: true });
    expect(rest.spillPath).toBe(first.spillPath);
    expect(readFileSync(rest.spillPath as string, "utf8")).toBe(`${half}more\n${half}`);
    await executor.close();
    expect(existsSync(rest.spillPath as string)).toBe(false);
  });

  test("of which more comes than a file may hold has none", async () => {
    const process = await start(makeExecutor(), "yes | head -c 70000000");
    await process.done;
    expect(await process.readOutput()).toEqual({
      text: "y\n".repeat(32_000),
      dropped: true,
      spillPath: null,
    });
  });
});

describe("closing", () => {
  test("ends what runs and what is left, though it does not mind TERM", async () => {
    const executor = makeExecutor({ graceMs: 200 });
    const left = await run(
      executor,
      "trap '' TERM; setsid sleep 300 & echo $!; (sleep 300 & echo $!)",
    );
    const task = await start(executor, "trap '' TERM; sleep 300; sleep 300");
    let heard = "";
    const running = run(executor, "echo $$; sleep 300", {
      onOutput: (text) => {
        heard += text;
      },
    });
    await until("it runs", () => heard !== "");
    const pids = [...pidsIn(left.stdout.text), ...pidsIn(heard), task.pid];
    expect(runningOf(pids)).toHaveLength(4);
    await Promise.all([executor.close(), executor.close()]);
    expect(runningOf(pids)).toEqual([]);
    expect(await task.done).toEqual({ exitCode: null, signal: "SIGKILL" });
    expect(await running).toMatchObject({ signal: "SIGTERM", timedOutMs: null });
  });

  test("refuses what comes after it", async () => {
    const cwd = folder();
    const executor = makeExecutor({ cwd });
    const spec = executor.resolve({ command: "touch made" });
    await executor.close();
    await refusal(executor.run(spec), "CLOSED");
    await refusal(executor.start(spec), "CLOSED");
    expect(readdirSync(cwd)).toEqual([]);
  });

  test.each([0, 1, 2, 3, 5, 8])(
    "leaves nothing of a command that is being started, %i turns before",
    async (turns) => {
      const cwd = folder();
      const executor = makeExecutor({ cwd });
      const spec = executor.resolve({ command: "echo $$ >pid; exec sleep 300" });
      const running = executor.run(spec).catch((error: unknown) => error);
      const started = executor.start(spec).catch((error: unknown) => error);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      await executor.close();
      const later = settle(
        () => childCommands().filter((each) => each.includes("sleep 300")),
        (children) => children.length === 0,
        1_000,
      );
      expect(await later).toEqual([]);
      const [one, other] = await Promise.all([running, started]);
      expect([one, other].map((each) => Reflect.get(each as object, "code") ?? "ended")).toEqual([
        expect.stringMatching(/^(CLOSED|ended)$/),
        expect.stringMatching(/^(CLOSED|ended)$/),
      ]);
    },
  );
});

describe("nothing is left", () => {
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((each) => each === "Timeout").length;

  test("of 300 commands in a row and 50 at once: processes, descriptors, files, timers", async () => {
    const spillDir = folder();
    const executor = makeExecutor({ spillDir });
    await run(executor, "true");
    const look = (): { children: string[]; descriptors: number } => ({
      children: childCommands(),
      descriptors: descriptorCount(),
    });
    const before = { ...look(), timers: timers() };
    for (let i = 0; i < 300; i++) {
      expect(brief(await run(executor, `echo ${i}; exit ${i % 3}`))).toEqual([`${i}\n`, "", i % 3]);
    }
    const all = await each(50, 50, async (i) =>
      brief(await run(executor, `echo ${i}; sleep 0.1; echo ${i} >&2; exit ${i}`)),
    );
    expect(all).toEqual(Array.from({ length: 50 }, (_, i) => [`${i}\n`, `${i}\n`, i]));
    const { timers: running, ...rest } = before;
    const after = await settle(look, (now) => JSON.stringify(now) === JSON.stringify(rest));
    expect(after).toEqual(rest);
    expect(timers()).toBeLessThanOrEqual(running);
    expect(readdirSync(spillDir)).toEqual([]);
  });

  test("of commands that time out, are cancelled, or leave children with the pipe", async () => {
    const look = (): object => ({ children: childCommands(), descriptors: descriptorCount() });
    await run(makeExecutor(), "true");
    const before = JSON.stringify(look());
    const executor = localExecutor({ cwd: folder(), graceMs: 200 });
    await each(20, 10, async (i) => {
      if (i % 3 === 0) return run(executor, { command: "sleep 300", timeoutMs: 100 });
      if (i % 3 === 1) return run(executor, "sleep 300 & setsid sleep 300 & true");
      const signal = AbortSignal.timeout(100);
      return refusal(run(executor, "sleep 300", { signal }), "ABORTED");
    });
    await executor.close();
    const after = await settle(look, (now) => JSON.stringify(now) === before);
    expect(JSON.stringify(after)).toBe(before);
  });

  test("of a host that ends without closing: its commands end, its files go", async () => {
    const [cwd, spillDir] = [folder(), folder()];
    await host(
      `const executor = localExecutor({ cwd: ${JSON.stringify(cwd)}, spillDir: ${JSON.stringify(spillDir)} });
      const run = (command) => executor.run(executor.resolve({ command }));
      await run("seq 1 100000");
      await executor.start(executor.resolve({ command: "echo $$ >task; sleep 300; true" }));
      void run("echo $$ >running; sleep 300; true");
      const { existsSync } = await import("node:fs");
      while (!existsSync(${JSON.stringify(join(cwd, "running"))}) || !existsSync(${JSON.stringify(join(cwd, "task"))})) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      process.exit(0);`,
    );
    const pids = ["task", "running"].map((file) => Number(readFileSync(join(cwd, file), "utf8")));
    await gone(pids);
    expect(readdirSync(spillDir)).toEqual([]);
  });

  test("that would keep a host from ending by itself", async () => {
    const cwd = folder();
    const pid = join(cwd, "pid");
    await host(
      `const executor = localExecutor({ cwd: ${JSON.stringify(cwd)} });
      const run = (command) => executor.run(executor.resolve({ command }));
      await run("true");
      await run("sleep 300 & echo $! >pid");`,
    );
    const left = Number(readFileSync(pid, "utf8"));
    onTestFinished(() => {
      if (lives(left)) process.kill(left, "SIGKILL");
    });
    expect(left).toBeGreaterThan(0);
  });
});

/** Runs a program that has `localExecutor`, and expects that it ends by itself and well. */
async function host(script: string): Promise<void> {
  const entry = pathToFileURL(join(import.meta.dirname, "../dist/node-tools.js")).href;
  const program = `import { localExecutor } from ${JSON.stringify(entry)};\n${script}`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let errors = "";
  child.stderr.on("data", (text) => {
    errors += text;
  });
  const [code] = await Promise.race([
    once(child, "exit"),
    new Promise<[string]>((resolve) => setTimeout(() => resolve(["it runs on"]), 10_000).unref()),
  ]);
  expect([code, errors]).toEqual([0, ""]);
}
