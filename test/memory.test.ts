import { createReadStream, statSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { openShell, type Shell, type ShellOptions } from "../src/node.ts";
import { heapMb, lines, pause, peakResidentMb, residentMb } from "./processes-support.ts";

const shells: Shell[] = [];

async function open(options: ShellOptions = {}): Promise<Shell> {
  const shell = await openShell(options);
  shells.push(shell);
  return shell;
}

afterEach(async () => {
  await Promise.all(shells.splice(0).map((shell) => shell.close()));
});

describe("the memory of the host", () => {
  /** How far it grows at its peak beyond what smaller commands of the same kind have taken. */
  const growthMb = async (shell: Shell, warmUp: string, command: string): Promise<number> => {
    for (let time = 0; time < 3; time++) await shell.run(warmUp);
    const before = residentMb();
    return (await peakResidentMb(() => shell.run(command))) - before;
  };

  test("hardly grows for 1 GB of short lines", async () => {
    const growth = await growthMb(
      await open(),
      "yes | head -c 50000000",
      "yes | head -c 1000000000",
    );
    expect(growth).toBeLessThan(32);
  }, 60_000);

  test("hardly grows for 600 MB of long lines, of which head and tail are kept, with the true size", async () => {
    const shell = await open({ keep: "both", maxOutputChars: 100_000 });
    const command = (bytes: number): string =>
      `yes 'a fairly long line to fill the buffer' | head -c ${bytes}`;
    await shell.run(command(50_000_000));
    const before = residentMb();
    let run: Awaited<ReturnType<Shell["run"]>> | undefined;
    const peak = await peakResidentMb(async () => {
      run = await shell.run(command(600_000_000));
    });
    expect(peak - before).toBeLessThan(32);
    expect(run?.end).toEqual({ kind: "finished", exitCode: 0 });
    expect(run?.clip).toMatchObject({ totalChars: 600_000_000, shownChars: 100_000 });
    expect(run?.output.startsWith("a fairly long line to fill the buffer\na fairly")).toBe(true);
    const cut = 600_000_000 % "a fairly long line to fill the buffer\n".length;
    const ending = `the buffer\n${"a fairly long line to fill the buffer\n".slice(0, cut)}`;
    expect(run?.output.endsWith(ending)).toBe(true);
  }, 60_000);

  test("hardly grows for one line of 200 MB", async () => {
    const growth = await growthMb(
      await open(),
      "head -c 50000000 /dev/zero | tr '\\0' x",
      "head -c 200000000 /dev/zero | tr '\\0' x",
    );
    expect(growth).toBeLessThan(32);
  }, 60_000);

  test("hardly grows for output that paints, 8 MB of it", async () => {
    const shell = await open();
    const paint = (count: number): string =>
      `yes "$(printf '\\033[2J\\033[1;1Hpainted')" | head -n ${count}`;
    const growth = await growthMb(shell, paint(50_000), paint(400_000));
    expect(growth).toBeLessThan(48);
  }, 60_000);

  test("does not grow with the number of commands: 20 000 in one shell", async () => {
    const shell = await open();
    const many = async (count: number): Promise<void> => {
      for (let time = 0; time < count; time++) {
        const { output } = await shell.run(`echo ${time}`);
        if (output !== String(time)) throw new Error(`${time}: ${output}`);
      }
    };
    await many(2_000);
    const before = { heap: heapMb(), resident: residentMb() };
    await many(20_000);
    expect(heapMb() - before.heap).toBeLessThan(2);
    expect(residentMb() - before.resident).toBeLessThan(24);
  }, 60_000);

  test("stays bounded for what background jobs print between two commands", async () => {
    const shell = await open();
    await shell.run("yes | head -c 5000000 & sleep 0.3");
    await shell.run("wait");
    const before = residentMb();
    const peak = await peakResidentMb(async () => {
      await shell.run("(sleep 0.1; yes | head -c 100000000; printf 'the end') >/dev/tty &");
      for (let late = ""; !late.endsWith("the end"); late = (await shell.run("true")).background) {
        await pause(200);
      }
    });
    expect(peak - before).toBeLessThan(48);
  }, 60_000);
});

describe("a slow listener", () => {
  test("slows the command down, gets every character, and costs hardly any memory", async () => {
    const shell = await open();
    await shell.run("yes | head -c 20000000", { onOutput: () => undefined });
    const before = residentMb();
    const pattern = "y\n".repeat(500_000);
    let [chars, wrong, pending, mostPending] = [0, 0, 0, 0];
    let result: Awaited<ReturnType<Shell["run"]>> | undefined;
    const peak = await peakResidentMb(async () => {
      result = await shell.run("yes | head -c 200000000", {
        onOutput: async (text) => {
          mostPending = Math.max(mostPending, ++pending);
          const from = chars % 2;
          if (text !== pattern.slice(from, from + text.length)) wrong++;
          chars += text.length;
          if (chars % 50 === 0) await pause(1);
          pending--;
        },
      });
    });
    expect({ chars, wrong, mostPending }).toEqual({
      chars: 200_000_000,
      wrong: 0,
      mostPending: 1,
    });
    expect(result?.end).toEqual({ kind: "finished", exitCode: 0 });
    expect(peak - before).toBeLessThan(32);
  }, 60_000);

  test("makes the command wait while it does not take what came", async () => {
    const shell = await open();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let pieces = 0;
    let over = false;
    // The command tells how long it took by its own clock.
    const command =
      "begin=${EPOCHREALTIME/./}; seq 1 100000; echo $((${EPOCHREALTIME/./} - begin))";
    const run = shell.run(command, {
      onOutput: () => {
        pieces++;
        return held;
      },
    });
    run.finally(() => {
      over = true;
    });
    await pause(1_000);
    expect({ pieces, over }).toEqual({ pieces: 1, over: false });
    release();
    const { output } = await run;
    const last = output.lastIndexOf("\n");
    expect(output.slice(0, last)).toBe(lines(100_000));
    expect(Number(output.slice(last))).toBeGreaterThan(800_000);
  });
});

describe("long output", () => {
  test("is exact far beyond the scrollback of a screen", async () => {
    const shell = await open();
    const { output, clip } = await shell.run("seq 1 20000");
    expect(clip).toBeNull();
    expect(output).toBe(lines(20_000));
  });

  for (const keep of ["head", "tail", "both"] as const) {
    test(`is cut to the limit, and says so (${keep})`, async () => {
      const shell = await open({ maxOutputChars: 10_000, keep });
      const all = lines(20_000);
      const { output, clip } = await shell.run("seq 1 20000");
      const gap = /\n\[[^\]]*\]\n/;
      const [head = "", tail = ""] =
        keep === "both" ? output.split(gap) : keep === "head" ? [output] : ["", output];
      expect(head.length + tail.length).toBe(10_000);
      expect(all.startsWith(head) && all.endsWith(tail)).toBe(true);
      expect(clip).toMatchObject({
        shownChars: 10_000,
        totalChars: all.length,
        lostPrefix: false,
      });
      expect(output.length).toBeLessThan(10_100);
    });

    test(`is never cut inside of a character (${keep})`, async () => {
      for (const maxOutputChars of [999, 1000, 1001]) {
        const shell = await open({ maxOutputChars, keep });
        const { output } = await shell.run("for i in {1..1000}; do printf 'a😀中'; done");
        expect(output).not.toMatch(/\p{Surrogate}|\ufffd/u);
        expect(output.length).toBeGreaterThan(maxOutputChars - 3);
      }
    });
  }

  test("is in the spill file, complete, where the result shows a part", async () => {
    const shell = await open();
    const { clip } = await shell.run("seq 1 3000000");
    expect(clip?.spillPath).toEqual(expect.any(String));
    const path = clip?.spillPath as string;
    let at = 0;
    let expected = 1;
    let rest = "";
    for await (const chunk of createReadStream(path, "utf8")) {
      const rows = (rest + chunk).split("\n");
      rest = rows.pop() ?? "";
      for (const row of rows) if (row.trimEnd() === String(expected)) expected++;
      at += chunk.length;
    }
    expect({ rows: expected - 1, rest, at }).toEqual({
      rows: 3_000_000,
      rest: "",
      at: statSync(path).size,
    });
  });
});
