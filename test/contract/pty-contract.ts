/**
 * What `src/core/pty.ts` promises, sentence by sentence. Every adapter runs this suite with real processes; the
 * scripted PTY of the tests runs those sentences that need none. It knows no runtime: helper programs are started
 * through the PTY itself.
 */

import { afterEach, describe, expect, test } from "vitest";
import type {
  OpenPty,
  Pty,
  PtyExit,
  PtyRequest,
  PtyState,
  SignalName,
  TerminalReader,
} from "../../src/core/pty.ts";

/** What the suite is run on. */
export interface PtyTraits {
  /** The PTY starts the programs that it is asked for; without this, only those of `scripts`. */
  readonly realProcesses: boolean;
  /** The path of Node.js, which some of the programs are written for. */
  readonly node?: string;
}

/** Shell scripts of the sentences that need no real processes; a scripted PTY acts them out. */
export const scripts = {
  /** Prints 30 000 lines and exits with 3. */
  count: "seq 1 30000; exit 3",
  /** Prints a line and is killed. */
  killed: "echo before; kill -9 $$",
  /** Prints `ready`, then each line that it reads. */
  echo: "stty -echo; echo ready; exec cat",
  /** Prints `ready` and waits. */
  wait: "echo ready; exec sleep 1000",
} as const;

const COUNTED = lines(30_000);

/** How long a fact may take to come about before it counts as missing. */
const LIMIT_MS = 10_000;

/** How long closing may take, whoever does not cooperate. */
const CLOSE_MS = 5_000;

export function describePty(
  name: string,
  openPty: OpenPty,
  { realProcesses, node = "node" }: PtyTraits,
): void {
  const opened: Pty[] = [];

  const start = async (
    program: string | readonly [string, ...string[]],
    options: Partial<PtyRequest> = {},
  ): Promise<Started> => {
    const chunks: Uint8Array[] = [];
    const { onData } = options;
    const pty = await openPty({
      cwd: "/",
      env: ENV,
      cols: 80,
      rows: 24,
      tag: "no-such-tag",
      keepDetached: false,
      ...options,
      argv: typeof program === "string" ? ["sh", "-c", program] : program,
      onData: (bytes) => {
        chunks.push(bytes);
        return onData?.(bytes);
      },
    });
    opened.push(pty);
    return new Started(pty, chunks);
  };

  /** What a script prints, which is run to its end. */
  const ask = async (script: string): Promise<string> => {
    const program = await start(script);
    await program.pty.exited;
    await program.pty.close();
    return program.text();
  };

  /** Those of the processes that still run. */
  const running = async (pids: readonly string[]): Promise<string[]> => {
    const found = await ask(`ps -o pid=,stat= -p ${pids.join(",")}`);
    const rows = found.trim().split("\n").filter(Boolean);
    const states = rows.map((row) => row.trim().split(/\s+/) as [string, string]);
    return states.filter(([, state]) => !state.startsWith("Z")).map(([pid]) => pid);
  };

  /** Those of the processes that still run; then none does any more. */
  const endedHere = async (pids: readonly string[]): Promise<string[]> => {
    const left = await running(pids);
    if (left.length > 0) await ask(`kill -KILL ${left.join(" ")}`);
    return left;
  };

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((pty) => pty.close()));
  });

  describe(`a PTY of ${name}`, () => {
    test("gives all output in order, then tells the exit code", async () => {
      const program = await start(scripts.count);
      expect(await program.pty.exited).toEqual({ exitCode: 3, signal: null });
      expect(program.text()).toBe(COUNTED);
    });

    test("tells the name of the signal that killed the process, after its output", async () => {
      const program = await start(scripts.killed);
      expect(await program.pty.exited).toEqual({ exitCode: null, signal: "SIGKILL" });
      expect(program.text()).toBe("before\n");
    });

    test("gives no output while a promise for the last piece is pending, and loses none", async () => {
      let [pending, mostPending] = [0, 0];
      const program = await start(scripts.count, {
        onData: async () => {
          mostPending = Math.max(mostPending, ++pending);
          await pause(1);
          pending--;
        },
      });
      expect(await program.pty.exited).toEqual({ exitCode: 3, signal: null });
      expect({ pending, mostPending }).toEqual({ pending: 0, mostPending: 1 });
      expect(program.text()).toBe(COUNTED);
    });

    test("tells the exit only when the last piece has been taken", async () => {
      const gate = new Gate();
      let given = "";
      const program = await start(scripts.killed, {
        onData: (bytes) => {
          given += new TextDecoder().decode(bytes);
          if (given.endsWith("\n")) return gate.pass();
        },
      });
      let exit: PtyExit | null = null;
      program.pty.exited.then((value) => {
        exit = value;
      });
      await until(() => gate.entered, "the last piece");
      await pause(500);
      expect(exit).toBeNull();
      gate.release();
      expect(await program.pty.exited).toEqual({ exitCode: null, signal: "SIGKILL" });
    });

    test("passes on what is written, in the order of the calls", async () => {
      const program = await start(scripts.echo);
      await program.shows("ready\n");
      const words = Array.from({ length: 300 }, (_, number) => `line ${number}\n`);
      await Promise.all(words.map((word) => program.type(word)));
      await program.shows(`ready\n${words.join("")}`);
    });

    test("refuses a write whose signal is aborted already, and sends nothing of it", async () => {
      const program = await start(scripts.echo);
      await program.shows("ready\n");
      const refused = program.pty.write(encode("dropped\n"), AbortSignal.abort());
      await expect(refused).rejects.toMatchObject({ code: "NOT_RUNNING" });
      await program.type("kept\n");
      await program.shows("ready\nkept\n");
    });

    test("does not care for a signal that is aborted after all was taken", async () => {
      const program = await start(scripts.echo);
      await program.shows("ready\n");
      const over = new AbortController();
      await program.pty.write(encode("one\n"), over.signal);
      over.abort();
      await program.type("two\n");
      await program.shows("ready\none\ntwo\n");
    });

    test("refuses as CLOSED what a signal comes too late for", async () => {
      const program = await start(scripts.count);
      await program.pty.exited;
      const late = program.pty.write(encode("late"), AbortSignal.abort());
      await expect(late).rejects.toMatchObject({ code: "CLOSED" });
    });

    test("takes an empty write", async () => {
      const program = await start(scripts.wait);
      await program.shows("ready\n");
      expect(await program.pty.write(new Uint8Array(0))).toBeUndefined();
    });

    test("refuses a write once the process has ended", async () => {
      const program = await start(scripts.count);
      await program.pty.exited;
      await expect(program.type("late")).rejects.toMatchObject({ code: "CLOSED" });
    });

    test("refuses a write once it was closed", async () => {
      const program = await start(scripts.wait);
      await program.shows("ready\n");
      const closed = program.pty.close();
      await expect(program.type("late")).rejects.toMatchObject({ code: "CLOSED" });
      await closed;
      await expect(program.type("late")).rejects.toMatchObject({ code: "CLOSED" });
    });

    test("does nothing when it is resized after the end of the process", async () => {
      const program = await start(scripts.count);
      await program.pty.exited;
      expect(() => program.pty.resize(100, 30)).not.toThrow();
      await program.pty.close();
      expect(() => program.pty.resize(101, 31)).not.toThrow();
    });

    test("signals nothing, sees nothing and mends nothing after the end of the process", async () => {
      const program = await start(scripts.count);
      await program.pty.exited;
      expect(await program.pty.signal("SIGTERM")).toBe(false);
      expect(await program.pty.inspect()).toBeNull();
      expect(await program.pty.reader()).toBeNull();
      expect(await program.pty.modes()).toBeNull();
      expect(await program.pty.repair()).toBeUndefined();
    });

    test("ends the process when it is closed, and tells so", async () => {
      const program = await start(scripts.wait);
      await program.shows("ready\n");
      await program.pty.close();
      const exit = await program.pty.exited;
      expect(exit.exitCode === null).not.toBe(exit.signal === null);
    });

    test("may be closed twice, at once and one after another", async () => {
      const program = await start(scripts.wait);
      await Promise.all([program.pty.close(), program.pty.close()]);
      await program.pty.close();
      await program.pty.exited;
    });

    test("may be closed after the end of the process, which stays as it was", async () => {
      const program = await start(scripts.count);
      await program.pty.exited;
      await program.pty.close();
      expect(await program.pty.exited).toEqual({ exitCode: 3, signal: null });
    });

    test("may be closed while it gives output, and while a promise for output never settles", async () => {
      const program = await start(scripts.count, { onData: () => new Promise(() => undefined) });
      await until(() => program.bytes > 0, "output");
      await within(CLOSE_MS, program.pty.close());
      await within(CLOSE_MS, program.pty.exited);
    });

    test("may be closed after the end of a process whose output is never taken", async () => {
      const program = await start(scripts.killed, { onData: () => new Promise(() => undefined) });
      await until(() => program.bytes > 0, "output");
      await pause(600);
      await within(CLOSE_MS, program.pty.close());
      await within(CLOSE_MS, program.pty.exited);
    });

    test("gives nothing more once it was closed", async () => {
      const gate = new Gate();
      const program = await start(scripts.count, { onData: () => gate.pass() });
      await until(() => gate.entered, "output");
      const given = program.bytes;
      const closed = program.pty.close();
      gate.release();
      await within(CLOSE_MS, closed);
      await pause(50);
      expect(program.bytes).toBe(given);
    });
  });

  if (realProcesses) {
    describe(`a process on a PTY of ${name}`, () => {
      test("is looked up in the PATH of its own environment", async () => {
        const folder = (await ask("mktemp -d")).trim();
        await ask(`printf '#!/bin/sh\\necho found\\n' >${folder}/here-only; chmod +x ${folder}/*`);
        const env = { ...ENV, PATH: `${folder}:${ENV.PATH}` };
        const program = await start(["here-only"], { env });
        expect(await program.pty.exited).toEqual({ exitCode: 0, signal: null });
        expect(program.text()).toBe("found\n");
        await ask(`rm -r ${folder}`);
      });

      test("gets its arguments as they are", async () => {
        const odd = ["", "two words", "$HOME", "'\"", "line\nbreak", "中文"];
        const program = await start(["printf", "<%s>", ...odd]);
        await program.pty.exited;
        expect(program.text()).toBe(odd.map((argument) => `<${argument}>`).join(""));
      });

      test("has exactly the environment of the request", async () => {
        const env = { ...ENV, PWD: "/", TERM: "vt100", LONG: "x".repeat(10_000), EMPTY: "" };
        const program = await start(["env", "-0"], { env });
        await program.pty.exited;
        const entries = program.text().split("\0").filter(Boolean).sort();
        expect(entries).toEqual(
          Object.entries(env)
            .map((entry) => entry.join("="))
            .sort(),
        );
      });

      test("starts in the directory of the request", async () => {
        const program = await start("pwd -P", { cwd: "/usr/bin/.." });
        await program.pty.exited;
        expect(program.text()).toBe("/usr\n");
      });

      test("has a terminal of the size of the request", async () => {
        const program = await start("stty size", { cols: 123, rows: 45 });
        await program.pty.exited;
        expect(program.text()).toBe("45 123\n");
      });

      test("leads a session and has the terminal as its controlling terminal", async () => {
        const program = await start([
          "python3",
          "-c",
          "import os; print(os.getsid(0) == os.getpid(), os.tcgetpgrp(0) == os.getpgrp(), flush=True);" +
            "print(os.isatty(1), os.isatty(2)); open('/dev/tty', 'w').write('controlled\\n')",
        ]);
        await program.pty.exited;
        expect(program.text().split("\n").sort().join(" ").trim()).toBe(
          "True True True True controlled",
        );
      });
    });

    describe(`the exit of a process on a PTY of ${name}`, () => {
      test("is its code", async () => {
        const codes = [0, 1, 2, 126, 127, 128, 137, 255];
        const exits = codes.map(async (code) => (await start(`exit ${code}`)).pty.exited);
        expect(await Promise.all(exits)).toEqual(
          codes.map((exitCode) => ({ exitCode, signal: null })),
        );
      });

      test("is the name of the signal that killed it", async () => {
        const names = [
          "HUP",
          "INT",
          "QUIT",
          "ABRT",
          "KILL",
          "USR1",
          "SEGV",
          "PIPE",
          "ALRM",
          "TERM",
        ];
        const exits = names.map(
          async (signal) => (await start(`ulimit -c 0; kill -${signal} $$`)).pty.exited,
        );
        expect(await Promise.all(exits)).toEqual(
          names.map((signal) => ({ exitCode: null, signal: `SIG${signal}` })),
        );
      });
    });

    describe(`output of a PTY of ${name}`, () => {
      test("is complete at the exit, each of many times", async () => {
        const runs = Array.from({ length: 30 }, async () => {
          const program = await start(scripts.count);
          const exit = await program.pty.exited;
          return { exit, complete: program.text() === COUNTED };
        });
        expect(await Promise.all(runs)).toEqual(
          runs.map(() => ({ exit: { exitCode: 3, signal: null }, complete: true })),
        );
      });

      test("is complete when a signal kills the process, each of many times", async () => {
        const runs = Array.from({ length: 30 }, async () => {
          const program = await start("seq 1 30000; kill -9 $$");
          const exit = await program.pty.exited;
          return { exit, complete: program.text() === COUNTED };
        });
        expect(await Promise.all(runs)).toEqual(
          runs.map(() => ({ exit: { exitCode: null, signal: "SIGKILL" }, complete: true })),
        );
      });

      test("is complete at the exit though another process still holds the terminal", async () => {
        const program = await start("trap '' HUP; sleep 1000 & seq 1 30000; exit 4");
        expect(await program.pty.exited).toEqual({ exitCode: 4, signal: null });
        expect(program.text()).toBe(COUNTED);
      });

      test("is every byte as the process wrote it", async () => {
        const script = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 2000)";
        const program = await start(`stty raw; python3 -c '${script}'`);
        await program.pty.exited;
        const expected = Uint8Array.from({ length: 512_000 }, (_, index) => index % 256);
        expect(program.bytes).toBe(expected.length);
        expect(firstDifference(program.all(), expected)).toBeNull();
      });

      test("stays as it was given", async () => {
        // The pieces are put together only at the end: an adapter that reads into one buffer would show.
        const program = await start("stty -opost; seq 1 500000");
        await program.pty.exited;
        expect(firstDifference(program.all(), encode(lines(500_000)))).toBeNull();
      });

      test("is given as soon as it is there", async () => {
        const program = await start("stty -echo; printf '> '; read x; printf 'got %s' $x; read y");
        await program.shows("> ");
        await program.type("it\n");
        await program.shows("> got it");
      });
    });

    describe(`a PTY of ${name} whose output is not taken`, () => {
      test("makes the process wait, and loses nothing when it goes on", async () => {
        const gate = new Gate();
        let early = 0;
        const program = await start(["python3", "-c", BLOCKED_WRITER], {
          onData: () => {
            if (gate.entered && !gate.open) early++;
            return gate.pass();
          },
        });
        await until(() => gate.entered, "output");
        await pause(800);
        gate.release();
        expect(await program.pty.exited).toEqual({ exitCode: 0, signal: null });
        const [, text, longestMs] = /^(.*)longest (\d+)\n$/s.exec(program.text()) ?? [];
        expect(early).toBe(0);
        expect(text).toBe(lines(400_000));
        expect(Number(longestMs)).toBeGreaterThan(500);
      });

      test("needs no more memory however much the process has to say", async () => {
        let pieces = 0;
        await start("exec yes", {
          onData: () => {
            pieces++;
            return new Promise(() => undefined);
          },
        });
        await until(() => pieces > 0, "output");
        const before = process.memoryUsage().rss;
        await pause(1_000);
        expect(pieces).toBe(1);
        expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(16);
      });

      test("keeps the rest of a process that ends meanwhile until it is asked for", async () => {
        const gate = new Gate();
        let early = 0;
        const program = await start("stty -echo; echo $$; read x; seq 1 2000; exit 7", {
          onData: () => {
            if (gate.entered && !gate.open) early++;
            return gate.pass();
          },
        });
        let exit: PtyExit | null = null;
        program.pty.exited.then((value) => {
          exit = value;
        });
        await until(() => gate.entered, "output");
        const pid = program.text().trim();
        await program.type("go\n");
        await until(async () => (await running([pid])).length === 0, "the end of the process");
        await pause(600);
        expect({ exit, early }).toEqual({ exit: null, early: 0 });
        gate.release();
        expect(await program.pty.exited).toEqual({ exitCode: 7, signal: null });
        expect(program.text()).toBe(`${pid}\n${lines(2000)}`);
      });

      test("loses nothing of a process that ends with all buffers full", async () => {
        const gate = new Gate();
        const file = (await ask("mktemp")).trim();
        const program = await start(
          ["sh", "-c", 'stty -opost -echo; echo $$; exec python3 -c "$0" "$1"', FILLER, file],
          { onData: () => gate.pass() },
        );
        await until(() => gate.entered, "output");
        const pid = program.text().trim();
        await program.type("go\n");
        await until(async () => (await running([pid])).length === 0, "the end of the process");
        await pause(300);
        gate.release();
        expect(await program.pty.exited).toEqual({ exitCode: 9, signal: null });
        const written = Number(await ask(`cat ${file}; rm ${file}`));
        expect(written).toBeGreaterThan(4_000);
        const expected = encode(`${pid}\n${lines(400_000).slice(0, written)}`);
        expect(firstDifference(program.all(), expected)).toBeNull();
      });

      test("gives the rest of a process that has ended piece by piece to a slow consumer", async () => {
        let [pending, mostPending] = [0, 0];
        const program = await start("stty -opost; seq 1 6000; exit 7", {
          onData: async () => {
            mostPending = Math.max(mostPending, ++pending);
            await pause(150);
            pending--;
          },
        });
        expect(await program.pty.exited).toEqual({ exitCode: 7, signal: null });
        expect(program.text()).toBe(lines(6000));
        expect({ pending, mostPending }).toEqual({ pending: 0, mostPending: 1 });
      });

      test("leaves no process when it is closed", async () => {
        const program = await start("echo $$; exec yes", {
          onData: () => new Promise(() => undefined),
        });
        await until(() => program.text().includes("\n"), "output");
        const pid = program.text().split("\n")[0] as string;
        await within(CLOSE_MS, program.pty.close());
        await program.pty.exited;
        expect(await running([pid])).toEqual([]);
      });
    });

    describe(`input of a PTY of ${name}`, () => {
      test("is pending until the program has made room for all of it", async () => {
        const bytes = 300_000;
        const file = (await ask("mktemp -u")).trim();
        const reader = await start(
          `stty raw -echo; echo ready; until [ -e ${file} ]; do sleep 0.05; done; head -c ${bytes} | cksum`,
        );
        await reader.shows("ready\n");
        let taken = false;
        const write = reader.pty.write(pattern(bytes)).then(() => {
          taken = true;
        });
        await pause(300);
        expect(taken).toBe(false);
        await ask(`touch ${file}`);
        await write;
        await reader.pty.exited;
        await ask(`rm ${file}`);
        expect(reader.text()).toBe(`ready\n${checksum(pattern(bytes))} ${bytes}\n`);
      });

      test("arrives whole through a program that reads slowly", async () => {
        const bytes = 100_000;
        const slow = `import os, sys, time
data = b""
while len(data) < ${bytes}:
    data += os.read(0, 1000)
    time.sleep(0.002)
print(all(data[i] == ${PATTERN_IN_PYTHON} for i in range(len(data))), len(data))`;
        const program = await start([
          "sh",
          "-c",
          'stty raw -echo; echo ready; exec python3 -c "$0"',
          slow,
        ]);
        await program.shows("ready\n");
        const whole = pattern(bytes);
        const writes = [0, 1, 2, 3].map((part) =>
          program.pty.write(whole.subarray((part * bytes) / 4, ((part + 1) * bytes) / 4)),
        );
        await Promise.all(writes);
        await program.pty.exited;
        expect(program.text()).toBe(`ready\nTrue ${bytes}\n`);
      });

      test("that nobody reads costs next to no CPU, and is refused when the PTY is closed", async () => {
        const program = await start(`stty raw -echo; ${scripts.wait}`);
        await program.shows("ready\n");
        const write = settled(program.pty.write(new Uint8Array(2 ** 20).fill(0x78)));
        await pause(200);
        const before = process.cpuUsage();
        await pause(1_000);
        const { user, system } = process.cpuUsage(before);
        expect((user + system) / 1_000).toBeLessThan(250);
        await program.pty.close();
        expect(await write).toMatchObject({ code: "CLOSED" });
      });

      test("that was not taken is refused when the process ends by itself", async () => {
        const program = await start("stty raw -echo; echo ready; sleep 0.3; exit 6");
        await program.shows("ready\n");
        const writes = [1, 2, 3].map(() => settled(program.pty.write(new Uint8Array(500_000))));
        expect(await program.pty.exited).toEqual({ exitCode: 6, signal: null });
        for (const outcome of await Promise.all(writes)) {
          expect(outcome).toMatchObject({ code: "CLOSED" });
        }
      });

      test("is dropped when its signal is aborted while nobody reads, and the next comes after it", async () => {
        const [bytes, file] = [500_000, (await ask("mktemp -u")).trim()];
        const program = await start(
          `stty raw -echo; echo ready; until [ -e ${file} ]; do sleep 0.05; done; exec python3 -c '${RECEIVER}'`,
        );
        await program.shows("ready\n");
        const over = new AbortController();
        const first = settled(program.pty.write(pattern(bytes), over.signal));
        const second = settled(program.pty.write(pattern(bytes), over.signal));
        const next = program.type("\n<next>\n");
        expect(await Promise.race([first, second, next, pause(200)])).toBeUndefined();
        over.abort();
        expect(await within(100, first)).toMatchObject({ code: "NOT_RUNNING" });
        expect(await within(100, second)).toMatchObject({ code: "NOT_RUNNING" });
        await ask(`touch ${file}`);
        await next;
        await program.pty.exited;
        await ask(`rm ${file}`);
        const [count = "", sum] = program.text().slice("ready\n".length).trim().split(" ");
        expect(Number(count)).toBeLessThan(bytes / 2);
        expect(sum).toBe(`${checksum(pattern(Number(count)))}`);
      });

      test("is dropped alone: what was written before and without the signal arrives", async () => {
        const bytes = 200_000;
        const file = (await ask("mktemp -u")).trim();
        const program = await start(
          `stty raw -echo; echo ready; until [ -e ${file} ]; do sleep 0.05; done; head -c ${bytes + 4} | cksum`,
        );
        await program.shows("ready\n");
        const first = program.pty.write(pattern(bytes));
        const over = new AbortController();
        const dropped = settled(program.pty.write(new Uint8Array(bytes), over.signal));
        const last = program.type("last");
        over.abort();
        expect(await within(100, dropped)).toMatchObject({ code: "NOT_RUNNING" });
        await ask(`touch ${file}`);
        await Promise.all([first, last]);
        await program.pty.exited;
        await ask(`rm ${file}`);
        const all = new Uint8Array(bytes + 4);
        all.set(pattern(bytes));
        all.set(encode("last"), bytes);
        expect(program.text()).toBe(`ready\n${checksum(all)} ${bytes + 4}\n`);
      });

      test("that was dropped makes room for other input", async () => {
        const program = await start(`stty raw -echo; ${scripts.wait}`);
        await program.shows("ready\n");
        const over = new AbortController();
        const most = new Uint8Array(16 * 2 ** 20);
        const first = settled(program.pty.write(most, over.signal));
        await expect(program.pty.write(most)).rejects.toMatchObject({ code: "BUSY" });
        over.abort();
        expect(await first).toMatchObject({ code: "NOT_RUNNING" });
        const second = settled(program.pty.write(most));
        expect(await Promise.race([second, pause(100)])).toBeUndefined();
        await program.pty.close();
        expect(await second).toMatchObject({ code: "CLOSED" });
      });

      test("is refused as BUSY beyond 16 MiB, and only what is beyond", async () => {
        const program = await start(`stty raw -echo; ${scripts.wait}`);
        await program.shows("ready\n");
        const mebibyte = new Uint8Array(2 ** 20);
        const writes = Array.from({ length: 16 }, () => settled(program.pty.write(mebibyte)));
        await expect(program.pty.write(mebibyte)).rejects.toMatchObject({ code: "BUSY" });
        const first = await Promise.race([...writes, pause(100)]);
        expect(first).toBeUndefined();
        await program.pty.close();
        expect((await Promise.all(writes)).map((outcome) => outcome?.code)).toEqual(
          writes.map(() => "CLOSED"),
        );
      });

      test("is taken again after BUSY when the program has read", async () => {
        const total = 17 * 2 ** 20;
        const program = await start(`stty raw -echo; echo ready; head -c ${total} | wc -c`);
        await program.shows("ready\n");
        const first = program.pty.write(new Uint8Array(16 * 2 ** 20));
        await expect(program.pty.write(new Uint8Array(2 ** 20))).rejects.toMatchObject({
          code: "BUSY",
        });
        await first;
        await program.pty.write(new Uint8Array(2 ** 20));
        await program.pty.exited;
        expect(program.text().replaceAll(" ", "")).toBe(`ready\n${total}\n`);
      });
    });

    describe(`the size of a PTY of ${name}`, () => {
      test("is seen by the program, which is told of each change", async () => {
        const program = await start(["python3", "-c", SIZE_TELLER]);
        await program.shows("ready\n");
        program.pty.resize(101, 33);
        await program.shows("ready\n33 101\n");
        program.pty.resize(1, 1);
        await program.shows("ready\n33 101\n1 1\n");
      });

      test("may be set at any moment around the end of the process", async () => {
        const program = await start("echo ready; read x");
        await program.shows("ready\n");
        let over = false;
        program.pty.exited.then(() => {
          over = true;
        });
        await program.type("\n");
        for (let cols = 20; !over; cols = 20 + ((cols + 1) % 100)) {
          program.pty.resize(cols, 10);
          await pause(1);
        }
        program.pty.resize(80, 24);
      });
    });

    describe(`a signal through a PTY of ${name}`, () => {
      test("reaches the program under its own name", async () => {
        const names: SignalName[] = [
          "SIGINT",
          "SIGTERM",
          "SIGTSTP",
          "SIGHUP",
          "SIGQUIT",
          "SIGCONT",
        ];
        const program = await start(["python3", "-c", SIGNAL_TELLER]);
        await program.shows("ready\n");
        let expected = "ready\n";
        for (const name of names) {
          expect(await program.pty.signal(name)).toBe(true);
          expected += `${name}\n`;
          await program.shows(expected);
        }
        expect(await program.pty.signal("SIGKILL")).toBe(true);
        expect(await program.pty.exited).toEqual({ exitCode: null, signal: "SIGKILL" });
      });

      test("reaches the whole foreground group and nothing else", async () => {
        const shell = await start(BASH, { env: { ...ENV, PS1: "" } });
        await shell.type("stty -echo; sleep 1000 & echo job $!\n");
        const job = await shell.finds(/job (\d+)/);
        const member = (name: string): string =>
          `sh -c 'echo ${name} $$ >/dev/tty; exec sleep 1001'`;
        await shell.type(`${member("one")} | ${member("two")}\n`);
        const group = [await shell.finds(/one (\d+)/), await shell.finds(/two (\d+)/)];
        expect(await shell.pty.signal("SIGTERM")).toBe(true);
        await shell.type("echo status $?\n");
        await shell.finds(/status 143/);
        expect(await running([job, ...group])).toEqual([job]);
      });
    });

    describe(`what a PTY of ${name} sees`, () => {
      const seen = async (
        pty: Pty,
        leader: string,
        facts: Omit<PtyState, "foregroundGroup">,
      ): Promise<void> => {
        const expected: PtyState = { ...facts, foregroundGroup: Number(leader) };
        let state: PtyState | null = null;
        const same = async (): Promise<boolean> => {
          state = await pty.inspect();
          return JSON.stringify(sorted(state)) === JSON.stringify(sorted(expected));
        };
        await until(same, `state ${JSON.stringify(expected)}`).catch(() => undefined);
        expect(state).toEqual(expected);
      };

      /** Starts bash; its process id too. */
      const startBash = async (): Promise<[Started, string]> => {
        const shell = await start(BASH, { env: { ...ENV, PS1: "" } });
        await shell.type("stty -echo; echo shell $$\n");
        return [shell, await shell.finds(/shell (\d+)/)];
      };

      /** Starts a program; its process id too. */
      const startAlone = async (program: string): Promise<[Started, string]> => {
        const started = await start(`echo alone $$; exec ${program}`);
        return [started, await started.finds(/alone (\d+)/)];
      };

      test("of bash at its prompt: it reads", async () => {
        const [shell, bash] = await startBash();
        await seen(shell.pty, bash, {
          stopped: false,
          foreground: true,
          interruptible: false,
          readSize: expect.any(Number),
        });
      });

      test("of bash with a job in the foreground: another has the terminal", async () => {
        const [shell, bash] = await startBash();
        await shell.type("sh -c 'echo first $$; exec sleep 1000'\n");
        const first = await shell.finds(/first (\d+)/);
        await seen(shell.pty, first, {
          stopped: false,
          foreground: false,
          interruptible: true,
          readSize: null,
        });
        await shell.pty.signal("SIGINT");
        await seen(shell.pty, bash, {
          stopped: false,
          foreground: true,
          interruptible: false,
          readSize: expect.any(Number),
        });
        await shell.type("sh -c 'echo second $$; exec cat'\n");
        const second = await shell.finds(/second (\d+)/);
        await seen(shell.pty, second, {
          stopped: false,
          foreground: false,
          interruptible: true,
          readSize: null,
        });
      });

      test("of a pipeline in the foreground: its first program leads the group", async () => {
        const [shell] = await startBash();
        const member = (name: string): string =>
          `sh -c 'echo ${name} $$ >/dev/tty; exec sleep 1000'`;
        await shell.type(`${member("one")} | ${member("two")}\n`);
        const [one] = [await shell.finds(/one (\d+)/), await shell.finds(/two (\d+)/)];
        await seen(shell.pty, one, {
          stopped: false,
          foreground: false,
          interruptible: true,
          readSize: null,
        });
      });

      test("of bash with a job in the background: it has the terminal itself", async () => {
        const [shell, bash] = await startBash();
        await shell.type("sleep 1000 & echo job $!\n");
        await shell.finds(/job (\d+)/);
        await seen(shell.pty, bash, {
          stopped: false,
          foreground: true,
          interruptible: false,
          readSize: expect.any(Number),
        });
      });

      test("of bash that works itself: it has the terminal and does not read", async () => {
        const [shell, bash] = await startBash();
        await shell.type("echo busy; while :; do :; done\n");
        await shell.finds(/busy\n/);
        await seen(shell.pty, bash, {
          stopped: false,
          foreground: true,
          interruptible: false,
          readSize: null,
        });
      });

      test("of sleep: it does not read, though there is input", async () => {
        const [program, sleep] = await startAlone("sleep 1000");
        await program.type("unread\n");
        await seen(program.pty, sleep, {
          stopped: false,
          foreground: true,
          interruptible: true,
          readSize: null,
        });
      });

      test("of cat: it reads", async () => {
        const [program, cat] = await startAlone("cat");
        await seen(program.pty, cat, {
          stopped: false,
          foreground: true,
          interruptible: true,
          readSize: expect.any(Number),
        });
      });

      test("of a program that reads something else: it does not read the terminal", async () => {
        const [program, cat] = await startAlone("cat 9<>/dev/ptmx <&9");
        await seen(program.pty, cat, {
          stopped: false,
          foreground: true,
          interruptible: true,
          readSize: null,
        });
      });

      test.each([
        ["ignores", "trap '' INT"],
        ["catches", "trap : INT"],
      ])("of a program that %s SIGINT: it does not end it", async (_, trap) => {
        const [shell] = await startBash();
        await shell.type(`sh -c '${trap.replaceAll("'", "'\\''")}; echo job $$; read line; :'\n`);
        const job = await shell.finds(/job (\d+)/);
        const facts = { stopped: false, foreground: false, readSize: null };
        await seen(shell.pty, job, { ...facts, interruptible: false });
      });

      test("of bash that suspended itself: it is stopped, and runs again once it is repaired", async () => {
        const [shell, bash] = await startBash();
        await seen(shell.pty, bash, {
          stopped: false,
          foreground: true,
          interruptible: false,
          readSize: expect.any(Number),
        });
        await shell.type("suspend -f\n");
        await seen(shell.pty, bash, {
          stopped: true,
          foreground: true,
          interruptible: false,
          readSize: null,
        });
        await shell.pty.repair();
        await seen(shell.pty, bash, {
          stopped: false,
          foreground: true,
          interruptible: false,
          readSize: expect.any(Number),
        });
      });
    });

    describe(`the reader of a PTY of ${name}`, () => {
      /** Waits until a process is found reading, and found again where it was. */
      const readerOf = async ({ pty }: Started): Promise<TerminalReader> => {
        let [last, reader]: (TerminalReader | null)[] = [null, null];
        const same = async (): Promise<boolean> => {
          [last, reader] = [reader ?? null, await pty.reader()];
          return reader !== null && reader.wait === last?.wait;
        };
        await until(same, "a reader").catch(() => undefined);
        expect(reader).not.toBeNull();
        return reader as unknown as TerminalReader;
      };

      /** Looks many times for a process that reads; the last that was found. */
      const found = async ({ pty }: Started): Promise<TerminalReader | null> => {
        let reader: TerminalReader | null = null;
        for (const end = performance.now() + WATCHED_MS; performance.now() < end; await pause(3)) {
          reader = (await pty.reader()) ?? reader;
        }
        return reader;
      };

      test.each([
        ["cat", "cat"],
        ["cat", "cat /dev/tty"],
        ["bash", "bash -c 'read line'"],
        ["bash", "bash --norc -c 'read -e line'"],
        ["bash", "bash --norc -c 'read -t 1000 line'"],
        ["python3", "python3 -c 'input()'"],
        ["python3", "env PYTHON_BASIC_REPL=1 python3"],
        ["python3", `python3 -c '${IDLE_THREADS}'`],
        ["python3", `python3 -c '${POLLER}' 0`],
        ["less", "less /etc/passwd"],
        ["vim", "vim --clean"],
        ["ssh-keygen", "ssh-keygen -t ed25519"],
      ])("is %s, run as: %s", async (program, command) => {
        const started = await start(`echo alone $$; exec ${command}`);
        const pid = Number(await started.finds(/alone (\d+)/));
        expect(await readerOf(started)).toMatchObject({ pid, program });
      });

      test("is a shell within a shell, with line editing", async () => {
        const program = await start("echo outer $$; bash --norc --noprofile; :");
        const outer = Number(await program.finds(/outer (\d+)/));
        const reader = await readerOf(program);
        expect(reader.program).toBe("bash");
        expect(reader.pid).not.toBe(outer);
      });

      test("is the one of a pipeline that reads the terminal", async () => {
        const program = await start("cat | sleep 1000");
        expect((await readerOf(program)).program).toBe("cat");
      });

      test("is one that asks for a password with more rights than ours", async () => {
        const program = await start(ASK_PASSWORD);
        await program.finds(/password:/i);
        expect((await readerOf(program)).program).toBe("su");
        expect(await program.pty.modes()).toEqual({ echo: false, lines: true });
      });

      test("stays in the same wait until it moves, then is in another", async () => {
        const program = await start("stty -echo; echo ready; exec cat");
        await program.shows("ready\n");
        const first = await readerOf(program);
        for (let look = 0; look < 20; look++) expect(await program.pty.reader()).toEqual(first);
        const waits = [first.wait];
        for (const line of ["one", "two", "three"]) {
          await program.type(`${line}\n`);
          await program.finds(new RegExp(`${line}\n`));
          const { wait, ...reader } = await readerOf(program);
          expect({ wait: first.wait, ...reader }).toEqual(first);
          waits.push(wait);
        }
        expect(new Set(waits).size).toBe(4);
      });

      const nobody: Record<string, string | readonly [string, ...string[]]> = {
        "a program that does not read": scripts.wait,
        "a program that reads a pipe": "echo ready; sleep 1000 | wc -l",
        "a program that reads what comes later":
          "(echo ready >/dev/tty; sleep 1000; echo late) | cat",
        "a program that reads another terminal": "echo ready; exec cat 9<>/dev/ptmx <&9",
        "a shell that reads a process":
          "exec bash -c 'echo ready; while read line; do :; done < <(sleep 1000)'",
        "a program that follows a file": "echo ready; exec tail -f /etc/passwd",
        "a pager that follows a file": "echo ready; exec less +F /etc/passwd",
        "a loop that looks for keys":
          "exec bash -c 'echo ready; while :; do read -t 0.2 -n 1 key; done'",
        "a program that polls for keys": ["python3", "-c", POLLER, "0", "200"],
        "a program that waits for input or a client": ["python3", "-c", SELECTOR, "read"],
        "a program that waits for input or room": ["python3", "-c", SELECTOR, "write"],
        "a program that polls the terminal and another": [
          "bash",
          "-c",
          'exec python3 -c "$0" 0 -1 9 9<>/dev/ptmx',
          POLLER,
        ],
        "a thread that asks, beside one that serves": ["python3", "-c", SERVING_THREAD],
        "a thread that asks, beside one that sleeps": ["python3", "-c", SLEEPING_THREAD],
        "a thread that asks, beside one that works now and then": ["python3", "-c", TIMED_THREAD],
        "a server": [node, "-e", SERVER],
        "a server that listens for keys": [
          node,
          "-e",
          `process.stdin.setRawMode(true).resume(); ${SERVER}`,
        ],
        "a compilation": ["bash", "-c", COMPILATION],
      };

      for (const [what, command] of Object.entries(nobody)) {
        test(`is nobody in ${what}`, async () => {
          const program = await start(command);
          await program.finds(/ready/);
          expect(await found(program)).toBeNull();
          expect(await program.pty.inspect(), program.text()).not.toBeNull();
        });
      }

      test("is nobody in the background", async () => {
        const shell = await start(BASH, { env: { ...ENV, PS1: "", POLLER } });
        await shell.type("stty -echo; echo shell $$; cat & echo job $!\n");
        const bash = Number(await shell.finds(/shell (\d+)/));
        const job = await shell.finds(/job (\d+)/);
        // The kernel stops who reads, not who waits until there is something to read.
        await shell.type('python3 -c "$POLLER" 0 &\n');
        await shell.finds(/ready/);
        await until(async () => (await ask(`ps -o stat= -p ${job}`)).startsWith("T"), "its stop");
        expect((await readerOf(shell)).pid).toBe(bash);
        await shell.type("sleep 1000\n");
        await until(async () => (await shell.pty.inspect())?.foreground === false, "sleep");
        expect(await found(shell)).toBeNull();
      });

      test("is nobody who is stopped", async () => {
        const program = await start("exec cat");
        const { pid } = await readerOf(program);
        await ask(`kill -STOP ${pid}`);
        await until(async () => (await program.pty.inspect())?.stopped === true, "its stop");
        expect(await found(program)).toBeNull();
      });
    });

    describe(`the modes of a PTY of ${name}`, () => {
      test.each([
        ["as it was opened", "echo", { echo: true, lines: true }],
        ["where a password is read", "stty -echo", { echo: false, lines: true }],
        ["where keys are read", "stty -icanon", { echo: true, lines: false }],
        ["in raw mode", "stty raw -echo", { echo: false, lines: false }],
      ])("are told %s", async (_, setting, modes) => {
        const program = await start(`${setting}; echo ready; read line`);
        await program.finds(/ready/);
        expect(await program.pty.modes()).toEqual(modes);
      });

      test("are unknown after its end, though another terminal may have its name", async () => {
        const ended = await start(scripts.count);
        await ended.pty.exited;
        for (let others = 0; others < 5; others++) {
          await (await start(scripts.wait)).shows("ready\n");
          expect(await ended.pty.modes()).toBeNull();
        }
      });
    });

    describe(`the repair of a PTY of ${name}`, () => {
      test("lets lines arrive whole again", async () => {
        const program = await start(
          "stty -echo -icrnl inlcr eof a kill b; echo ready; read line; echo got $line",
        );
        await program.shows("ready\n");
        await program.pty.repair();
        await program.type("a banana\n");
        await program.finds(/got a banana/);
      });
    });

    describe(`closing a PTY of ${name}`, () => {
      const stubborn: Record<string, string> = {
        "a program in the foreground": "echo pid $$; exec sleep 1000",
        "a program that ignores HUP, TERM and INT":
          "trap '' HUP TERM INT; echo pid $$; while :; do sleep 0.1; done",
        "children that ignore HUP and TERM":
          "trap '' HUP TERM; sleep 1000 & echo pid $!; sleep 1001 & echo pid $!; echo pid $$; wait",
        "a job under nohup": "nohup sleep 1000 >/dev/null 2>&1 & echo pid $!; echo pid $$; wait",
        "jobs in groups of their own":
          "set -m; sleep 1000 & echo pid $!; sleep 1001 | sleep 1002 & echo pid $!; echo pid $$; wait",
        "a stopped job":
          "set -m; sleep 1000 & kill -STOP $!; echo pid $!; echo pid $$; exec sleep 1001",
        "a stopped job that ignores HUP and TERM":
          "set -m; trap '' HUP TERM; sleep 1000 & kill -STOP $!; echo pid $!; echo pid $$; exec sleep 1001",
        "a session leader that stopped itself": "echo pid $$; kill -STOP $$",
        "what an ended session leader left behind": "trap '' HUP; sleep 1000 & echo pid $!; exit 0",
        "a process in a session of its own": `setsid -f sh -c 'echo pid $$; exec sleep 1000'; exec sleep 1001`,
        "a job in a session of its own": `setsid sh -c 'echo pid $$; exec sleep 1000' & echo pid $$; wait`,
        "a daemon": `${DAEMON} sh -c 'echo pid $$; exec sleep 1000'; echo pid $$; exec sleep 1001`,
        "the children of a daemon": `${DAEMON} sh -c 'sleep 1000 & echo pid $!; echo pid $$; wait'; exec sleep 1001`,
        "a daemon that ignores HUP and TERM": `${DAEMON} sh -c 'trap "" HUP TERM; echo pid $$; exec sleep 1000'; exec sleep 1001`,
        "a child without an environment, in a session of its own, that ignores HUP and TERM": `env -i setsid sh -c 'trap "" HUP TERM; echo pid $$; exec sleep 1000' & wait`,
        "a daemon of an ended session leader":
          "daemon=$(setsid -f sh -c 'echo $$; exec sleep 1000 >/dev/null'); echo pid $daemon; exit 0",
      };

      for (const [what, script] of Object.entries(stubborn)) {
        test(`leaves nothing of ${what}`, async () => {
          const program = await start(script, tagged());
          const pids = (): string[] => program.text().match(/(?<=pid )\d+(?=\n)/g) ?? [];
          const count = script.split("echo pid").length - 1;
          await until(() => pids().length === count, "the process ids");
          if (script.endsWith("exit 0")) await program.pty.exited;
          expect((await running(pids())).sort()).toEqual(pids().sort());
          await program.pty.close();
          expect(await endedHere(pids())).toEqual([]);
          await program.pty.exited;
        });
      }

      test("leaves alone what was started from another terminal", async () => {
        const script = `setsid -f sh -c 'echo pid $$; exec sleep 1000'; exec sleep 1001`;
        const program = await start(script, tagged());
        const other = await start(script, tagged());
        const pid = await program.finds(/pid (\d+)\n/);
        const otherPid = await other.finds(/pid (\d+)\n/);
        await program.pty.close();
        expect(await running([pid, otherPid])).toEqual([otherPid]);
        await other.pty.close();
        expect(await endedHere([otherPid])).toEqual([]);
      });

      test("with keepDetached leaves alone what has made itself independent, and nothing else", async () => {
        const script =
          "nohup sleep 1000 >/dev/null 2>&1 & echo kept $!; disown; " +
          "setsid -f sh -c 'echo kept $$; exec sleep 1001'; " +
          `${DAEMON} sh -c 'sleep 1002 & echo kept $!; echo kept $$; wait'; ` +
          "sleep 1003 & echo ended $!; (trap '' TERM; exec sleep 1004) & echo ended $!; disown; " +
          "(trap 'echo hung up' HUP; while :; do sleep 0.1; done) & echo ended $!; " +
          "trap '' HUP; echo ended $$; exec sleep 1005";
        const program = await start(["bash", "-c", script], { ...tagged(), keepDetached: true });
        const kept = (): string[] => program.text().match(/(?<=kept )\d+(?=\n)/g) ?? [];
        const ended = (): string[] => program.text().match(/(?<=ended )\d+(?=\n)/g) ?? [];
        await until(() => kept().length === 4 && ended().length === 4, "the process ids");
        // By then nohup has done its work.
        const isSleep = async (pid = ""): Promise<boolean> =>
          (await ask(`ps -o comm= -p ${pid}`)) === "sleep\n";
        await until(() => isSleep(kept()[0]), "the program under nohup");
        await program.pty.close();
        const left = await endedHere([...kept(), ...ended()]);
        expect(left.sort()).toEqual(kept().sort());
      });

      test("is possible right after it was opened, many at once", async () => {
        const programs = await Promise.all(
          Array.from({ length: 10 }, async () => {
            const program = await start("trap '' HUP; echo $$; sleep 1000");
            await program.pty.close();
            return program;
          }),
        );
        await Promise.all(programs.map(({ pty }) => pty.exited));
        const pids = programs.flatMap((program) => program.text().match(/\d+/g) ?? []);
        if (pids.length > 0) expect(await running(pids)).toEqual([]);
      });

      test("does not wait for those who can be ended gently longer than they need", async () => {
        const shell = await start(BASH);
        await until(async () => (await shell.pty.inspect())?.readSize != null, "the prompt");
        const startedAt = performance.now();
        await shell.pty.close();
        expect(performance.now() - startedAt).toBeLessThan(1_000);
      });

      test("gives back every descriptor of the host", async () => {
        const count = async (): Promise<number> => Number(await ask("ls /proc/$PPID/fd | wc -l"));
        const cycle = async (script: string): Promise<void> => {
          const program = await start(script);
          await until(() => program.text().includes("ready"), "output");
          await program.pty.close();
        };
        await cycle(scripts.wait);
        const before = await count();
        for (let round = 0; round < 10; round++) {
          await Promise.all([
            cycle(scripts.wait),
            cycle("echo ready; exit 1"),
            cycle(scripts.wait),
          ]);
        }
        expect(await count()).toBe(before);
      });
    });
  }
}

const ENV = { PATH: "/usr/local/bin:/usr/bin:/bin", TERM: "xterm-256color", LC_ALL: "C.UTF-8" };

/** What marks the processes of one terminal. */
function tagged(): Pick<PtyRequest, "env" | "tag"> {
  const tag = crypto.randomUUID();
  return { env: { ...ENV, TERMINAL_TAG: `outer:${tag}` }, tag };
}

/** Runs the program that follows as a daemon: away from its session and from the process that started it. */
const DAEMON = `python3 -c '
import os, sys
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.execvp(sys.argv[1], sys.argv[1:])'`;

const BASH = ["bash", "--noprofile", "--norc", "--noediting", "-i"] as const;

/** Writes 400 000 numbered lines, then how many milliseconds the longest write took. */
const BLOCKED_WRITER = `
import os, time
data = "".join(f"{i}\\n" for i in range(1, 400001)).encode()
longest = 0
while data:
    before = time.monotonic()
    written = os.write(1, data[:4096])
    longest = max(longest, time.monotonic() - before)
    data = data[written:]
print("longest", int(longest * 1000))`;

/** After a line of input it writes numbered lines until nothing more is taken; how many bytes, to a file. */
const FILLER = `
import os, sys, time
input()
data = "".join(f"{i}\\n" for i in range(1, 400001)).encode()
os.set_blocking(1, False)
written, refused = 0, 0
while refused < 5:
    try:
        written += os.write(1, data[written : written + 1000])
        refused = 0
    except BlockingIOError:
        refused += 1
        time.sleep(0.02)
open(sys.argv[1], "w").write(str(written))
sys.exit(9)`;

/** Reads up to the line `<next>`; prints how many bytes came before that and their CRC (see `checksum`). */
const RECEIVER = `
import os, subprocess
end, data = b"\\n<next>\\n", b""
while not data.endswith(end):
    data += os.read(0, 65536)
data = data[: -len(end)]
print(len(data), subprocess.run(["cksum"], input=data, capture_output=True).stdout.split()[0].decode())`;

/** Prints the size of the terminal each time that it has changed. */
const SIZE_TELLER = `
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})
print("ready", flush=True)
while True:
    signal.sigwait({signal.SIGWINCH})
    size = os.get_terminal_size(0)
    print(size.lines, size.columns, flush=True)`;

/** Prints the name of each signal that comes. */
const SIGNAL_TELLER = `
import signal
names = ["SIGINT", "SIGTERM", "SIGTSTP", "SIGHUP", "SIGQUIT", "SIGCONT"]
signals = {signal.Signals[name] for name in names}
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
print("ready", flush=True)
while True:
    print(signal.Signals(signal.sigwait(signals)).name, flush=True)`;

/** Waits for input on descriptors; with a negative one before them, for other events on those after it. */
const POLLER = `
import select, sys
poll, events = select.poll(), select.POLLIN
numbers = [int(text) for text in sys.argv[1:]]
timeout = numbers.pop() if numbers[-1] >= 100 else None
for number in numbers:
    if number < 0:
        events = 0
    else:
        poll.register(number, events)
print("ready", flush=True)
while not poll.poll(timeout):
    pass`;

/** Waits for input, and for a client or for room in a pipe. */
const SELECTOR = `
import os, select, socket, sys
server = socket.create_server(("127.0.0.1", 0))
out = os.pipe()[1]
os.set_blocking(out, False)
try:
    while True:
        os.write(out, bytes(4096))
except BlockingIOError:
    pass
print("ready", flush=True)
if sys.argv[1] == "read":
    select.select([0, server], [], [])
else:
    select.select([0], [out], [])`;

/** Asks for a line while other threads wait to be woken by this one. */
const IDLE_THREADS = `
import os, select, threading
epoll = select.epoll()
epoll.register(os.eventfd(0), select.EPOLLIN)
threading.Thread(target=epoll.poll, daemon=True).start()
threading.Thread(target=threading.Event().wait, daemon=True).start()
input()`;

const SERVING_THREAD = `
import http.server, threading
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
input("ready")`;

const SLEEPING_THREAD = `
import threading, time
threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
input("ready")`;

const TIMED_THREAD = `
import threading
def work():
    while not threading.Event().wait(0.1):
        pass
threading.Thread(target=work, daemon=True).start()
input("ready")`;

const SERVER = `
const server = require("node:http").createServer();
server.listen(0, "127.0.0.1", () => console.log("ready"));`;

const COMPILATION = `
compile="g++ -O2 -include bits/stdc++.h -x c++ -S -o /dev/null /dev/null"
make -f <(printf "all:\\n\\t@echo ready; for i in 1 2 3 4 5 6 7 8 9; do $compile; done\\n")`;

/** An ordinary user asks for the rights of root. */
export const ASK_PASSWORD = `
[ "$(id -u)" != 0 ] && exec su root
exec setpriv --reuid=65534 --regid=65534 --clear-groups su root`;

/** How long nobody may be seen. */
const WATCHED_MS = 400;

/** A program that was started, and what it has printed. */
class Started {
  readonly pty: Pty;
  readonly #chunks: readonly Uint8Array[];

  constructor(pty: Pty, chunks: readonly Uint8Array[]) {
    this.pty = pty;
    this.#chunks = chunks;
  }

  get bytes(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  all(): Uint8Array {
    const all = new Uint8Array(this.bytes);
    let at = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    return all;
  }

  /** As text, with the newlines of a terminal as the program wrote them. */
  text(): string {
    return new TextDecoder().decode(this.all()).replaceAll("\r\n", "\n");
  }

  type(text: string): Promise<void> {
    return this.pty.write(encode(text));
  }

  /** Waits until exactly this is what it has printed. */
  async shows(text: string): Promise<void> {
    await until(() => this.text() === text, "output").catch(() => undefined);
    expect(this.text()).toBe(text);
  }

  /** Waits until it has printed something like this; returns the first group. */
  async finds(wanted: RegExp): Promise<string> {
    await until(() => wanted.test(this.text()), "output").catch(() => undefined);
    expect(this.text()).toMatch(wanted);
    return wanted.exec(this.text())?.[1] ?? "";
  }
}

/** Holds up all who come, until it is opened. */
class Gate {
  entered = false;
  open = false;
  #opened: () => void = () => undefined;
  readonly #opening = new Promise<void>((resolve) => {
    this.#opened = resolve;
  });

  pass(): Promise<void> | void {
    this.entered = true;
    if (!this.open) return this.#opening;
  }

  release(): void {
    this.open = true;
    this.#opened();
  }
}

export async function until(fact: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!(await fact())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${LIMIT_MS} ms`);
    await pause(5);
  }
}

/** What a promise resolves to, which has to be within the time. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What a promise rejects with; undefined if it resolves. */
function settled(promise: Promise<void>): Promise<{ code?: string } | undefined> {
  return promise.then(
    () => undefined,
    (error: { code?: string }) => error,
  );
}

function lines(count: number): string {
  return Array.from({ length: count }, (_, index) => `${index + 1}\n`).join("");
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Bytes that tell their place, roughly. */
function pattern(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => 33 + ((index * 7 + (index >> 8)) % 90));
}

const PATTERN_IN_PYTHON = "33 + ((i * 7 + (i >> 8)) % 90)";

/** The CRC of cksum (POSIX). */
function checksum(bytes: Uint8Array): number {
  let crc = 0;
  const add = (byte: number): void => {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  };
  for (const byte of bytes) add(byte);
  for (let length = bytes.length; length > 0; length = Math.floor(length / 256)) add(length % 256);
  return ~crc >>> 0;
}

/** Where two arrays differ first, for a message that can be read; null if they do not. */
function firstDifference(actual: Uint8Array, expected: Uint8Array): string | null {
  const length = Math.max(actual.length, expected.length);
  for (let at = 0; at < length; at++) {
    if (actual[at] !== expected[at]) return `at ${at}: ${actual[at]} instead of ${expected[at]}`;
  }
  return null;
}

function sorted(state: PtyState | null): unknown {
  if (state === null) return null;
  const { stopped, foreground, foregroundGroup, interruptible, readSize } = state;
  return [stopped, foreground, foregroundGroup, interruptible, readSize !== null];
}
