/** Confined commands: what they can do, what is denied and told, and that nothing ever runs unconfined instead. */

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { BashExecutor } from "../src/core/executor.ts";
import { bubblewrap } from "../src/node-tools.ts";
import { brief, makeExecutor, run, start } from "./executor-support.ts";
import { processes } from "./processes-support.ts";
import { folder, refusal, until } from "./support.ts";
import { caller } from "./tools/once-support.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

/** An executor whose commands may write to its folder alone. */
function confined(options: object = {}): { executor: BashExecutor; workspace: string } {
  const workspace = folder();
  const executor = makeExecutor({ cwd: workspace }, bubblewrap({ workspace, ...options }));
  return { executor, workspace };
}

/** A server of this machine. Returns its port. */
async function serve(): Promise<number> {
  const server = createServer((_, response) => response.end("reached"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Processes whose command line has a text; those of a namespace of their own have other ids in there. */
function running(text: string): number[] {
  return processes()
    .filter(({ command }) => command.includes(text) && !command.startsWith("ps "))
    .map(({ pid }) => pid);
}

describe("inside of the workspace", () => {
  test("files can be made, read, changed and removed", async () => {
    const { executor, workspace } = confined();
    const command =
      "mkdir -p a/b && echo hi >a/b/f && cat a/b/f && mv a/b/f g && ln -s g h && cat h && rm h && ls && pwd";
    const outcome = await run(executor, command);
    expect(brief(outcome)).toEqual([`hi\nhi\na\ng\n${workspace}\n`, "", 0]);
    expect(outcome.denials).toEqual([]);
    expect(readFileSync(join(workspace, "g"), "utf8")).toBe("hi\n");
    mkdirSync(join(workspace, "sub"));
    expect((await run(executor, { command: "pwd; touch x", workdir: "sub" })).stdout.text).toBe(
      `${workspace}/sub\n`,
    );
    expect(existsSync(join(workspace, "sub/x"))).toBe(true);
  });

  test("programs work: git, python, pipes, temporary files", async () => {
    const { executor } = confined();
    const git =
      "git init -q . && git config user.email a@b && git config user.name a && echo x >f && git add f && git commit -qm first && git log --format=%s";
    expect(brief(await run(executor, git))).toEqual(["first\n", "", 0]);
    const python =
      "python3 -c \"import tempfile, subprocess; f = tempfile.TemporaryFile(); f.write(b'x'); print(subprocess.check_output(['echo', 'sub']).decode(), end='')\"";
    expect(brief(await run(executor, python))).toEqual(["sub\n", "", 0]);
    expect(
      brief(
        await run(
          executor,
          "t=$(mktemp) && echo t >$t && cat $t; seq 3 | sort -r | head -1; cat <(echo p)",
        ),
      ),
    ).toEqual(["t\n3\np\n", "", 0]);
  });

  test("jobs, statuses, input, environment and long commands are as outside", async () => {
    vi.stubEnv("FOO_API_KEY", "hidden");
    const { executor } = confined();
    for (const [command, ...expected] of [
      ["sleep 0.1 & wait $!; echo $?", "0\n", "", 0],
      ["echo out; echo err >&2; exit 7", "out\n", "err\n", 7],
      ["cat", "", "", 0],
      ["echo ${FOO_API_KEY-none} $TERM $PAGER", "none dumb cat\n", "", 0],
      [`: '${"x".repeat(200_000)}'; echo long`, "long\n", "", 0],
    ] as const) {
      expect(brief(await run(executor, command))).toEqual(expected);
    }
    expect(brief(await run(executor, { command: "cat", stdin: "typed" }))).toEqual([
      "typed",
      "",
      0,
    ]);
    const env = { GREETING: "hello" };
    expect((await run(executor, { command: "echo $GREETING", env })).stdout.text).toBe("hello\n");
    const { stdout } = await run(executor, "seq 1 20000");
    expect(readFileSync(stdout.spillPath as string, "utf8")).toMatch(/^1\n[\s\S]*\n20000\n$/);
  });

  test("a command can be left running, read and ended", async () => {
    const { executor } = confined();
    const process = await start(executor, "echo begun; echo err >&2; sleep 300.125; true");
    let text = "";
    await until("it has begun", async () => {
      text += (await process.readOutput()).text;
      return text === "begun\nerr\n";
    });
    expect(running("sleep 300.125").length).toBeGreaterThan(0);
    await process.cancel();
    expect(await process.done).toMatchObject({ signal: expect.stringMatching(/^SIG(TERM|KILL)$/) });
    expect(running("sleep 300.125")).toEqual([]);
  });

  test("the workspace may be named by a symbolic link", async () => {
    const workspace = folder();
    const link = join(folder(), "link");
    symlinkSync(workspace, link);
    const executor = makeExecutor({ cwd: link }, bubblewrap({ workspace: link }));
    expect((await run(executor, "echo hi >f && cat f")).stdout.text).toBe("hi\n");
    expect(readFileSync(join(workspace, "f"), "utf8")).toBe("hi\n");
  });
});

describe("what is denied", () => {
  test("is to write outside of the workspace, and that is told", async () => {
    const { executor, workspace } = confined();
    const outside = folder();
    writeFileSync(join(outside, "kept"), "as it was\n");
    for (const command of [
      `echo x >${outside}/made`,
      `echo x >>${outside}/kept`,
      `rm ${outside}/kept`,
      `chmod 777 ${outside}`,
      "mkdir /made-outside",
      `python3 -c "open('${outside}/made', 'w')"`,
      `ln -s ${outside} link; touch link/made`,
      `mount -o remount,rw / ; echo x >${outside}/made`,
    ]) {
      const { exitCode, denials } = await run(executor, command);
      expect(exitCode, command).not.toBe(0);
      expect(denials, command).toEqual([expect.stringContaining(workspace)]);
    }
    expect(readdirSync(outside)).toEqual(["kept"]);
    expect(readFileSync(join(outside, "kept"), "utf8")).toBe("as it was\n");
    expect(existsSync("/made-outside")).toBe(false);
    // What is outside can be read.
    expect((await run(executor, `cat ${outside}/kept`)).stdout.text).toBe("as it was\n");
  });

  test.each([
    ["curl", (port: number) => `curl -sS --max-time 5 http://127.0.0.1:${port}/`],
    ["bash", (port: number) => `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`],
    [
      "python",
      (port: number) =>
        `python3 -c "import socket; socket.create_connection(('127.0.0.1', ${port}), 5); print('reached')"`,
    ],
    ["curl by a name", () => "curl -sS --max-time 5 http://example.org/"],
    ["an address far away", () => "exec 3<>/dev/tcp/192.0.2.1/80"],
  ])("is to reach a server with %s, and that is told", async (_, command) => {
    const port = await serve();
    const { executor } = confined();
    const { exitCode, denials, stdout } = await run(executor, command(port));
    expect(exitCode).not.toBe(0);
    expect(stdout.text).not.toContain("reached");
    expect(denials).toEqual([expect.stringContaining("network")]);
  });

  test("is to see or end processes outside", async () => {
    const { executor } = confined();
    const { stdout } = await run(
      executor,
      `kill -0 ${process.pid}; echo $?; ps -A -o pid= | wc -l`,
    );
    expect(stdout.text).toMatch(/^1\n\s*\d\n$/);
  });

  test("is told in the result that the model reads, and only where something failed", async () => {
    const { workspace, executor } = confined();
    const { bash } = caller({ executor });
    const text = await bash({ command: "touch /made-outside", workdir: workspace });
    expect(text).toMatch(
      /^\[stderr\]\ntouch: .*Read-only file system\n\[exit code: 1\]\n\[sandbox: .+\]$/,
    );
    expect(text).toContain(workspace);
  });

  test.each([
    ["cat missing"],
    ["false"],
    ["exit 30"],
    ["nosuchcmd"],
    ["echo 'nothing to do with it' >&2; exit 1"],
    ["python3 -c 'import nope'"],
    ["chmod 600 /dev/null/x"],
    ["grep -r pattern . ; exit 1"],
    ["kill -9 $$"],
  ])("is not told of a command that fails for other reasons: %s", async (command) => {
    const { executor } = confined();
    const { exitCode, signal, denials } = await run(executor, command);
    expect(signal ?? exitCode).not.toBe(0);
    expect(denials).toEqual([]);
  });

  test("is not told of a command that got on without, or of one without a sandbox", async () => {
    const { executor } = confined();
    expect((await run(executor, "touch /made-outside || true")).denials).toEqual([]);
    const free = makeExecutor();
    expect((await run(free, "echo 'Read-only file system' >&2; exit 1")).denials).toEqual([]);
  });
});

test("the network can be allowed, and then is no denial", async () => {
  const port = await serve();
  const { executor } = confined({ network: true });
  const reach = (to: number): string => `curl -sS --max-time 5 http://127.0.0.1:${to}/`;
  expect((await run(executor, reach(port))).stdout.text).toBe("reached");
  const refused = await run(executor, reach(1));
  expect(refused.exitCode).not.toBe(0);
  expect(refused.denials).toEqual([]);
  expect((await run(executor, "touch /made-outside")).denials).toHaveLength(1);
});

describe("a confined command that takes too long", () => {
  test.each([
    ["and what it started", "sleep 301.5 & (sleep 301.5 &) ; sleep 301.5"],
    ["in sessions of its own", "setsid sleep 301.5 & setsid sleep 301.5 & sleep 301.5"],
    ["that ignores TERM", "trap '' TERM; sleep 301.5 & sleep 301.5; sleep 301.5"],
  ])("is ended %s", async (_, command) => {
    const { executor } = confined();
    const { timedOutMs, durationMs, stdout } = await run(executor, {
      command: `echo so far; ${command}`,
      timeoutMs: 400,
    });
    expect([timedOutMs, stdout.text]).toEqual([400, "so far\n"]);
    expect(durationMs).toBeLessThan(1_900);
    await until("all are gone", () => running("301.5").length === 0, 1_000);
  });

  test("or is cancelled, or closed on, leaves nothing either", async () => {
    const { executor } = confined();
    const signal = AbortSignal.timeout(300);
    await refusal(run(executor, "setsid sleep 302.5 & sleep 302.5", { signal }), "ABORTED");
    expect(running("302.5")).toEqual([]);
    const running302 = run(executor, "echo on; sleep 302.5").catch((error: unknown) => error);
    await until("it runs", () => running("sleep 302.5").length > 0);
    await executor.close();
    expect(running("302.5")).toEqual([]);
    await running302;
  });

  test("leaves nothing if it is closed on while it is being started", async () => {
    const { executor, workspace } = confined();
    const command = "touch made; sleep 303.5";
    const starting = run(executor, command).catch((error: unknown) => error);
    await executor.close();
    await starting;
    expect(running("303.5")).toEqual([]);
    await expect(
      until("it runs after all", () => running("303.5").length > 0, 300),
    ).rejects.toThrow();
    expect(readdirSync(workspace).length).toBeLessThanOrEqual(1);
  });

  test("leaves nothing in the background, since its sandbox ends with it", async () => {
    const { executor } = confined();
    const { durationMs, stdout } = await run(executor, "sleep 304.5 & echo ok");
    expect(stdout.text).toBe("ok\n");
    expect(durationMs).toBeLessThan(1_500);
    await executor.close();
    await until("it is gone", () => running("304.5").length === 0, 1_000);
  });
});

describe("where commands cannot be confined, none is run", () => {
  /** A PATH that has bash and the like, and this in the place of bwrap. */
  function pathWith(bwrap: string | null): string {
    const path = folder();
    for (const program of ["bash", "touch", "true", "sh", "env"]) {
      const { stdout } = spawnSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" });
      symlinkSync(stdout.trim(), join(path, program));
    }
    if (bwrap !== null) {
      writeFileSync(join(path, "bwrap"), bwrap);
      chmodSync(join(path, "bwrap"), 0o755);
    }
    return path;
  }

  test.each<[string, string | null, RegExp]>([
    ["is missing", null, /bwrap is not installed.*install bubblewrap/],
    [
      "is not allowed to",
      "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n",
      /No permissions to create new namespace/,
    ],
    ["crashes", "#!/bin/sh\nkill -SEGV $$\n", /sandbox cannot run here/],
    ["is no program", "garbage\0", /sandbox cannot run here/],
  ])("bwrap %s", async (_, bwrap, why) => {
    vi.stubEnv("PATH", pathWith(bwrap));
    const { executor, workspace } = confined();
    for (const attempt of [run(executor, "touch made"), start(executor, "touch made")]) {
      const error = await refusal(attempt, "UNSUPPORTED");
      expect(error.message).toMatch(why);
    }
    const one = caller({ sandbox: { workspace } });
    const error = await refusal(
      one.bash({ command: "touch made", workdir: workspace }),
      "UNSUPPORTED",
    );
    expect(error.message).toMatch(why);
    await refusal(one.start("touch made"), "UNSUPPORTED");
    expect(await one.call("task_list")).toBe("[no tasks]");
    expect(readdirSync(workspace)).toEqual([]);
    // The same PATH does without a sandbox.
    expect((await run(makeExecutor({ cwd: workspace }), "touch made")).exitCode).toBe(0);
  });

  test("nor if the request hides bwrap from the command", async () => {
    const { executor, workspace } = confined();
    const request = { command: "touch made", env: { PATH: pathWith(null) } };
    const outcome = await run(executor, request).then(
      () => "ran",
      (error: unknown) => Reflect.get(error as object, "code"),
    );
    // Found all the same, or refused: it is never run without.
    if (outcome === "ran")
      expect((await run(executor, "touch /made-outside")).exitCode).not.toBe(0);
    else expect(existsSync(join(workspace, "made"))).toBe(false);
    expect(["ran", "START_FAILED", "UNSUPPORTED"]).toContain(outcome);
  });

  test("a workspace that does not exist is told when the tools are made", async () => {
    await refusal((async () => bubblewrap({ workspace: "/nonexistent" }))(), "BAD_CWD");
  });
});

test("tools take a sandbox from their options", async () => {
  const workspace = folder();
  const outside = folder();
  const one = caller({ sandbox: { workspace } });
  const bash = (command: string): Promise<string> => one.bash({ command, workdir: workspace });
  expect(await bash("echo hi >f && cat f")).toBe("hi");
  expect(await bash(`touch ${outside}/made`)).toMatch(/\[exit code: 1\]\n\[sandbox: /);
  // The owner's folder is another, and not writable.
  expect(await one.bash("touch made")).toMatch(/\[exit code: 1\]\n\[sandbox: /);
  const text = await one.bash({
    command: `touch ${outside}/made; echo over`,
    workdir: workspace,
    run_in_background: true,
  });
  expect(await one.end(text.replace(/.* /, ""))).toMatch(/Read-only file system\nover\n\[status/);
  expect(readdirSync(outside)).toEqual([]);
});

test("what could set the kernel is read-only, whoever the host is", async () => {
  const { executor } = confined();
  const command =
    "v=$(cat /proc/sys/kernel/panic_on_oops); echo $v >/proc/sys/kernel/panic_on_oops || echo denied";
  expect((await run(executor, command)).stdout.text).toBe("denied\n");
});

test("sockets of servers in /run are not there, nor those of tmux", async () => {
  const { executor } = confined();
  expect((await run(executor, "ls -A /run; touch /run/x || echo denied")).stdout.text).toBe(
    "denied\n",
  );
});
