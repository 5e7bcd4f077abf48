import { closeSync, openSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openShell, type Shell, type ShellOptions } from "../src/node.ts";
import {
  childCommands,
  descriptorCount,
  each,
  processes,
  residentMb,
  runningOf,
  sessionCommands,
  settle,
} from "./processes-support.ts";
import { type HostProcess, Hosts } from "./support-host.ts";

const shells: Shell[] = [];

async function open(options: ShellOptions = {}): Promise<Shell> {
  const shell = await openShell(options);
  shells.push(shell);
  return shell;
}

afterEach(async () => {
  await Promise.all(shells.splice(0).map((shell) => shell.close()));
});

/** The process id of the bash that lives now. */
function pidOf(shell: Shell): number {
  if (shell.pid === null) throw new Error("there is no bash");
  return shell.pid;
}

/** The process ids that a command printed after the word `pid`. */
function pidsIn(text: string): number[] {
  return [...text.matchAll(/pid (\d+)/g)].map((match) => Number(match[1]));
}

/** Starts a program in a session of its own, and gives its process id. */
const SETSID = "$(setsid -f sh -c 'echo $$; exec sleep 1000 >/dev/null 2>&1')";

describe("when the host is killed", () => {
  let hosts: Hosts;

  beforeAll(() => {
    hosts = new Hosts();
  });
  afterAll(() => hosts.close());

  /** Kills a host that has run a script, which reports the id of its bash. */
  const killHost = async (script: string, expected: number): Promise<void> => {
    const host: HostProcess = hosts.start(
      `const shell = await openShell(); report(shell.pid); ${script}`,
    );
    const session = (await host.report()) as number;
    const before = await settle(
      () => sessionCommands(session),
      (commands) => commands.filter((command) => command.startsWith("sleep")).length === expected,
    );
    expect(before.filter((command) => command.startsWith("sleep"))).toHaveLength(expected);
    expect(before.length).toBeGreaterThan(expected);
    await host.kill();
    const left = await settle(
      () => sessionCommands(session),
      (commands) => commands.length === 0,
    );
    expect(left).toEqual([]);
  };

  test("an idle shell ends", async () => {
    await killHost(`await shell.run("true"); setInterval(() => {}, 1000);`, 0);
  });

  test("a shell ends with its command in the foreground", async () => {
    await killHost(`await shell.run("sleep 1000 | sleep 1001");`, 2);
  });

  test("a shell ends with its jobs in the background", async () => {
    const command = "sleep 1000 & (sleep 1001; true) & sleep 1002 >/dev/null 2>&1 </dev/null &";
    await killHost(`await shell.run("${command}"); setInterval(() => {}, 1000);`, 3);
  });

  test("a shell ends that is busy by itself and prints", async () => {
    await killHost(`await shell.run("while :; do echo text; done");`, 0);
  });
});

describe("the descriptors of a shell", () => {
  let file: number;
  let server: Server;

  beforeAll(async () => {
    file = openSync("package.json", "r");
    server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => {
    closeSync(file);
    server.close();
  });

  test("are the terminal's and nothing of the host's or of other shells, in the tenth as in the first", async () => {
    const opened: Shell[] = [];
    for (let number = 0; number < 10; number++) opened.push(await open());
    for (const shell of [opened[0], opened[9]] as Shell[]) {
      const { output } = await shell.run("ls -l /proc/$$/fd; tty");
      const rows = output.split("\n");
      const terminal = rows.at(-1);
      const links = rows.flatMap((row) => /(\d+) -> (.*)$/.exec(row)?.slice(1).join(" ") ?? []);
      expect(links.sort()).toEqual(
        ["0", "1", "2", "255"].map((descriptor) => `${descriptor} ${terminal}`).sort(),
      );
    }
  });

  test("of a program in it are 0, 1 and 2", async () => {
    const opened = [await open(), await open(), await open()];
    const { output } = await (opened[2] as Shell).run("ls -l /proc/self/fd");
    // Besides these, ls has the folder open that it lists.
    const links = [...output.matchAll(/(\d+) -> (?!\/proc\/)/g)].map((match) => match[1]);
    expect(links).toEqual(["0", "1", "2"]);
  });
});

describe("the host after many shells", () => {
  let sessions: number[] = [];

  /** What the host and all shells of the test hold. */
  const held = (): { descriptors: number; children: string[]; members: string[] } => ({
    descriptors: descriptorCount(),
    children: childCommands(),
    members: processes()
      .filter(({ session }) => sessions.includes(session))
      .map(({ command }) => command),
  });

  const note = (shell: Shell): Shell => {
    sessions.push(pidOf(shell));
    return shell;
  };

  afterEach(() => {
    sessions = [];
  });

  test("is where it was, 300 having been opened and closed", async () => {
    const cycle = async (): Promise<void> => {
      await using shell = note(await openShell());
      await shell.run("echo text");
    };
    await each(40, 4, cycle);
    const before = { ...held(), memory: residentMb() };
    await each(300, 4, cycle);
    const after = { ...held(), memory: residentMb() };
    expect(before.members).toEqual([]);
    expect({ ...after, memory: 0 }).toEqual({ ...before, memory: 0 });
    expect(after.memory - before.memory).toBeLessThan(16);
  });

  test("is where it was, 100 having ended by `exit`", async () => {
    const before = held();
    const left = await each(100, 10, async () => {
      const shell = note(await openShell());
      const { end } = await shell.run("sleep 1000 & exit 7");
      expect(end).toEqual({ kind: "shellExited", exitCode: 7, signal: null });
      return shell;
    });
    // Nobody has closed them yet: what an ended bash held is free all the same.
    const after = await settle(held, (now) => JSON.stringify(now) === JSON.stringify(before));
    expect(after).toEqual(before);
    await Promise.all(left.map((shell) => shell.close()));
    expect(held()).toEqual(before);
  });

  test("is where it was when one shell has been reset 50 times", async () => {
    const shell = await openShell();
    const { descriptors, children } = held();
    for (let time = 0; time < 50; time++) {
      note(shell);
      const { end } = await shell.run("sleep 1000", { timeoutMs: 20 });
      expect(end).toEqual({ kind: "timedOut", shellKept: false });
      await shell.run("true");
    }
    const after = held();
    expect(after).toMatchObject({ descriptors, members: [] });
    expect(after.children).toHaveLength(children.length);
    await shell.close();
    expect(held().children).toHaveLength(children.length - 1);
  });

  test("is where it was when no shell could be opened", async () => {
    const before = held();
    for (const bash of ["/bin/cat", "/bin/true", "/bin/yes"]) {
      await expect(openShell({ bash, startTimeoutMs: 300 })).rejects.toMatchObject({
        code: "START_FAILED",
      });
    }
    expect(held()).toEqual(before);
  });
});

describe("closing a shell ends", () => {
  const programs: Record<string, string> = {
    "jobs in the background": "sleep 1000 & echo pid $!; sleep 1001 | sleep 1002 & echo pid $!",
    "jobs under nohup": "nohup sleep 1000 >/dev/null 2>&1 & echo pid $!",
    "jobs that were disowned":
      "sleep 1000 & disown -h; echo pid $!; sleep 1001 & disown; echo pid $!",
    "jobs that ignore HUP": "(trap '' HUP; exec sleep 1000) & echo pid $!",
    "jobs that ignore HUP and TERM": "(trap '' HUP TERM INT; exec sleep 1000) & echo pid $!",
    "jobs that were stopped": "sleep 1000 & echo pid $!; kill -STOP $!",
    "jobs that outlived their parent": "(sleep 1000 & echo pid $!)",
    "jobs under nohup that were disowned": "nohup sleep 1000 >/dev/null 2>&1 & echo pid $!; disown",
    "programs in sessions of their own": `echo pid ${SETSID}; echo pid ${SETSID}`,
    "jobs that start others as they end":
      "bash -c 'trap \"sleep 1000 & exit\" HUP TERM; while :; do sleep 0.05; done' & echo pid $!",
    "a shell that ignores HUP and TERM": "trap '' HUP TERM; echo pid $$",
  };

  for (const [what, command] of Object.entries(programs)) {
    test(what, async () => {
      const shell = await openShell();
      const session = pidOf(shell);
      const pids = pidsIn((await shell.run(command)).output);
      expect(pids.length).toBeGreaterThan(0);
      expect(runningOf(pids)).toEqual(pids);
      await shell.close();
      const left = runningOf(pids);
      for (const pid of left) process.kill(pid, "SIGKILL");
      expect(left).toEqual([]);
      expect(sessionCommands(session)).toEqual([]);
    });
  }

  test("the command in flight", async () => {
    const shell = await openShell();
    const session = pidOf(shell);
    const run = shell.run("sleep 1000 | sleep 1001");
    const outcome = run.catch((error: unknown) => error);
    await settle(
      () => sessionCommands(session).filter((command) => command.startsWith("sleep")),
      (commands) => commands.length === 2,
    );
    await shell.close();
    expect(sessionCommands(session)).toEqual([]);
    expect(await outcome).toBeDefined();
  });

  test("the command in flight whose listener takes nothing", async () => {
    const shell = await openShell();
    const session = pidOf(shell);
    let heard = false;
    const run = shell.run("sleep 1000 & yes", {
      onOutput: () => {
        heard = true;
        return new Promise(() => undefined);
      },
    });
    const outcome = run.catch((error: unknown) => error);
    await settle(
      () => heard,
      (value) => value,
    );
    await shell.close();
    expect(sessionCommands(session)).toEqual([]);
    expect(await outcome).toBeDefined();
  });

  test("what a shell left behind that has exited", async () => {
    const shell = await openShell();
    const session = pidOf(shell);
    const { output } = await shell.run("(trap '' HUP TERM; exec sleep 1000) & echo pid $!; exit");
    await shell.close();
    expect(runningOf(pidsIn(output))).toEqual([]);
    expect(sessionCommands(session)).toEqual([]);
  });
});

describe("what left the session of a shell ends", () => {
  test("when the shell exits by itself", async () => {
    const shell = await open();
    const { output, end } = await shell.run(`echo pid ${SETSID}; exit`);
    expect(end.kind).toBe("shellExited");
    const pids = pidsIn(output);
    expect(pids).toHaveLength(1);
    const left = await settle(
      () => runningOf(pids),
      (running) => running.length === 0,
    );
    expect(left).toEqual([]);
  });

  test("when a command is at its timeout", async () => {
    const shell = await open();
    const run = await shell.run(`echo pid ${SETSID}; sleep 1000`, { timeoutMs: 1_000 });
    expect(run.end).toEqual({ kind: "timedOut", shellKept: false });
    const pids = pidsIn(run.output);
    expect(pids).toHaveLength(1);
    expect(runningOf(pids)).toEqual([]);
  });

  test("with a shell around it, and not with one inside it", async () => {
    const outer = await open();
    const { output } = await outer.run("echo $EVERSHELL_ID");
    const inner = await open({ env: { EVERSHELL_ID: output } });
    const secondInner = await open({ env: { EVERSHELL_ID: output } });
    const started: number[] = [];
    for (const shell of [outer, inner, secondInner]) {
      started.push(...pidsIn((await shell.run(`echo pid ${SETSID}`)).output));
    }
    expect(runningOf(started)).toEqual(started);
    await inner.close();
    expect(runningOf(started)).toEqual([started[0], started[2]]);
    await outer.close();
    expect(runningOf(started)).toEqual([]);
  });
});

describe("what has made itself independent of a shell with keepDetached", () => {
  const command =
    "nohup sleep 1000 >/dev/null 2>&1 & echo pid $!; disown; " +
    // By then nohup has done its work.
    'while [ "$(ps -o comm= -p $!)" != sleep ]; do :; done; ' +
    `echo pid ${SETSID}; sleep 1001 & sleep 1002 | sleep 1003 &`;

  const endings: Record<string, (shell: Shell) => Promise<unknown>> = {
    "is closed": (shell) => shell.close(),
    "exits by itself": (shell) => shell.run("exit"),
    "is reset": (shell) => shell.run("sleep 1004", { timeoutMs: 100 }),
  };

  for (const [what, end] of Object.entries(endings)) {
    test(`stays when that ${what}, and nothing else does`, async () => {
      const shell = await open({ keepDetached: true });
      const session = pidOf(shell);
      const pids = pidsIn((await shell.run(command)).output);
      expect(pids).toHaveLength(2);
      await end(shell);
      // Waits for what the end of bash has set going.
      await shell.close();
      const left = sessionCommands(session);
      const kept = runningOf(pids);
      for (const pid of kept) process.kill(pid, "SIGKILL");
      expect(left).toEqual(["sleep 1000"]);
      expect(kept).toEqual(pids);
    });
  }
});

describe("a command that is stopped leaves no process when its call settles", () => {
  /** Three processes, one of which ignores HUP, TERM and INT. */
  const command = "sleep 1000 & (trap '' HUP TERM INT; exec sleep 1001) & sleep 1002";

  const sleeping = async (shell: Shell): Promise<number> => {
    const session = pidOf(shell);
    const found = await settle(
      () => sessionCommands(session).filter((row) => row.startsWith("sleep")),
      (rows) => rows.length === 3,
    );
    expect(found).toHaveLength(3);
    return session;
  };

  test("at its timeout", async () => {
    const shell = await open();
    const run = shell.run(command, { timeoutMs: 1_000 });
    const session = await sleeping(shell);
    expect((await run).end).toEqual({ kind: "timedOut", shellKept: false });
    expect(sessionCommands(session)).toEqual([]);
  });

  test("when it is aborted", async () => {
    const shell = await open();
    const controller = new AbortController();
    const run = shell.run(command, { signal: controller.signal });
    const outcome = run.catch((error: unknown) => error);
    const session = await sleeping(shell);
    controller.abort();
    expect(await outcome).toMatchObject({ code: "ABORTED" });
    expect(sessionCommands(session)).toEqual([]);
  });

  test("at its timeout, and while its listener takes nothing", async () => {
    const shell = await open();
    const session = pidOf(shell);
    const run = await shell.run("sleep 1000 & yes", {
      timeoutMs: 500,
      onOutput: () => new Promise(() => undefined),
    });
    expect(run.end).toEqual({ kind: "timedOut", shellKept: false });
    expect(sessionCommands(session)).toEqual([]);
  });

  test("at its timeout with the shell kept: what was in the foreground", async () => {
    const shell = await open({ onTimeout: "interrupt" });
    const session = pidOf(shell);
    const run = await shell.run("sleep 1000 | sleep 1001", { timeoutMs: 300 });
    expect(run.end).toEqual({ kind: "timedOut", shellKept: true });
    expect(sessionCommands(session).filter((row) => row.startsWith("sleep"))).toEqual([]);
    expect((await shell.run("echo $$")).output).toBe(String(session));
  });

  test("at its timeout with the shell kept: what ignores the interrupt", async () => {
    const shell = await open({ onTimeout: "interrupt", graceMs: 300 });
    const session = pidOf(shell);
    const run = await shell.run("sh -c 'trap \"\" INT TERM; sleep 1000; sleep 1001'", {
      timeoutMs: 300,
    });
    expect(run.end).toEqual({ kind: "timedOut", shellKept: true });
    expect(sessionCommands(session).filter((row) => row.includes("sleep"))).toEqual([]);
    expect((await shell.run("echo $$")).output).toBe(String(session));
  });

  test("when it is aborted with the shell kept: what was in the foreground", async () => {
    const shell = await open({ onAbort: "interrupt" });
    const session = pidOf(shell);
    const controller = new AbortController();
    const run = shell.run("sleep 1000", { signal: controller.signal });
    const outcome = run.catch((error: unknown) => error);
    await settle(
      () => sessionCommands(session),
      (rows) => rows.includes("sleep 1000"),
    );
    controller.abort();
    expect(await outcome).toMatchObject({ code: "ABORTED" });
    expect(sessionCommands(session).filter((row) => row.startsWith("sleep"))).toEqual([]);
    expect((await shell.run("echo $$")).output).toBe(String(session));
  });
});
