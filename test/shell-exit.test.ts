import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { EvershellError, openShell, type PtyExit, type Shell } from "../src/node.ts";
import { each, lines, pause, settle } from "./processes-support.ts";

const shells: Shell[] = [];

async function open(options: Parameters<typeof openShell>[0] = {}): Promise<Shell> {
  const shell = await openShell(options);
  shells.push(shell);
  return shell;
}

afterEach(async () => {
  await Promise.all(shells.splice(0).map((shell) => shell.close()));
});

describe("the output before the shell exits", () => {
  const expectEach = async (
    times: number,
    command: string,
    output: string,
    end: { exitCode: number | null; signal: string | null },
  ): Promise<void> => {
    const bad = await each(times, 10, async () => {
      await using shell = await openShell();
      const run = await shell.run(command);
      const same = run.output === output && run.clip === null;
      const ended = JSON.stringify(run.end) === JSON.stringify({ kind: "shellExited", ...end });
      return same && ended ? null : { end: run.end, length: run.output.length };
    });
    expect(bad.filter((each) => each !== null)).toEqual([]);
  };

  test("is complete 100 times of 100, with the exit code", async () => {
    await expectEach(100, "seq 1 30000; exit 3", lines(30_000), { exitCode: 3, signal: null });
  });

  test("is complete 100 times of 100 when the shell kills itself, with the signal", async () => {
    const end = { exitCode: null, signal: "SIGKILL" };
    await expectEach(100, "seq 1 30000; kill -9 $$", lines(30_000), end);
  });

  test("is complete when the shell becomes another program, which ends", async () => {
    await expectEach(20, "exec seq 1 30000", lines(30_000), { exitCode: 0, signal: null });
  });

  test("is complete though a job still holds the terminal", async () => {
    const command = "(trap '' HUP; exec sleep 1000) & seq 1 3000; exit 4";
    const shell = await open();
    const { output, end } = await shell.run(command);
    expect(output).toMatch(new RegExp(`^\\[1\\] \\d+\n${lines(3000)}$`));
    expect(end).toEqual({ kind: "shellExited", exitCode: 4, signal: null });
  });

  test("is complete for a listener that is slow, and in its result", async () => {
    const shell = await open();
    let heard = "";
    const run = await shell.run("seq 1 8000; exit 5", {
      onOutput: async (text) => {
        heard += text;
        await pause(150);
      },
    });
    expect(run.end).toEqual({ kind: "shellExited", exitCode: 5, signal: null });
    expect(run.output).toBe(lines(8_000));
    expect(heard.replaceAll("\r", "").startsWith(lines(8_000))).toBe(true);
  });
});

describe("the output of a command", () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "evershell-test-"));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  test("ends with its last bytes 200 times of 200", async () => {
    const shell = await open();
    const expected = `${lines(3000)}\nEND`;
    for (let time = 0; time < 200; time++) {
      const { output } = await shell.run("seq 1 3000; printf END");
      expect(output === expected, `time ${time}: ${output.length} characters`).toBe(true);
    }
  });

  test("is a file of 300 KB, byte for byte, 100 times of 100", async () => {
    const text = Array.from(
      { length: 4_000 },
      (_, row) => hash(String(row)) + hash(`-${row}`).slice(53),
    );
    const content = `${text.join("\n")}\n`;
    expect(content.length).toBeGreaterThan(300_000);
    const path = join(folder, "content");
    writeFileSync(path, content);
    const shell = await open();
    const hashes = new Set<string>();
    for (let time = 0; time < 100; time++) {
      hashes.add(hash(`${(await shell.run(`cat ${path}`)).output}\n`));
    }
    expect([...hashes]).toEqual([hash(content)]);
  });
});

describe("a shell that is told to exit", () => {
  test("ends without a word, with code 0", async () => {
    const shell = await open();
    const run = await shell.run("exit");
    expect(run).toMatchObject({
      output: "",
      end: { kind: "shellExited", exitCode: 0, signal: null },
      clip: null,
    });
  });

  test("tells its listeners once for each bash, and opens a fresh one for the next command", async () => {
    const shell = await open();
    const exits: PtyExit[] = [];
    const stop = shell.onExit((exit) => exits.push(exit));
    const first = shell.pid;
    await shell.run("variable=set; exit 9");
    await settle(
      () => shell.pid,
      (pid) => pid === null,
    );
    expect(shell.pid).toBeNull();
    const { output } = await shell.run('echo "$$ ${variable-unset}"');
    expect(output).toBe(`${shell.pid} unset`);
    expect(shell.pid).not.toBe(first);
    await shell.run("kill -TERM $$; kill -HUP $$; sleep 100");
    await settle(
      () => exits.length,
      (length) => length === 2,
    );
    stop();
    await shell.run("exit 3");
    await shell.run("true");
    expect(exits).toEqual([
      { exitCode: 9, signal: null },
      { exitCode: null, signal: "SIGHUP" },
    ]);
  });

  test("is closed for good where the options say so", async () => {
    const shell = await open({ onShellEnd: "close" });
    await shell.run("exit 1");
    await expect(shell.run("true")).rejects.toMatchObject({ code: "CLOSED" });
    expect(shell.pid).toBeNull();
  });

  test("may be resized 50 ms later, and at once", async () => {
    const shell = await open();
    const { end } = await shell.run("true; exit");
    expect(end.kind).toBe("shellExited");
    shell.resize(90, 30);
    await pause(50);
    shell.resize(91, 31);
    expect((await shell.run("stty size")).output).toBe("31 91");
  });

  test("may be resized at any moment while it ends", async () => {
    const shell = await open();
    const run = shell.run("exit 2");
    let over = false;
    run.finally(() => {
      over = true;
    });
    for (let cols = 20; !over; cols = 20 + ((cols + 1) % 100)) {
      shell.resize(cols, 10);
      await pause(1);
    }
    expect((await run).end).toEqual({ kind: "shellExited", exitCode: 2, signal: null });
  });

  test("refuses input afterwards", async () => {
    const shell = await open();
    await shell.run("exit");
    await expect(shell.write("late")).rejects.toBeInstanceOf(EvershellError);
    await expect(shell.write("late")).rejects.toMatchObject({ code: "NOT_RUNNING" });
  });
});

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
