/** What a result shows of an output: plain text exactly, paint as a person sees it, and of too much a part. */

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { brief, Chance, folder, Listener, open, output, outputs, until } from "../support.ts";

describe("plain text", () => {
  test("two thousand lines are exact while the terminal is resized [EMU-72]", async () => {
    const shell = await open({ cols: 80, rows: 24 });
    let sizes = 0;
    const command = 'for i in $(seq 2000); do echo "line $i xxxxxxxxxxxxxxxxxxxx"; done';
    const text = await output(shell, command, 0, {
      onOutput: () => {
        if (sizes < 10) shell.resize(sizes++ % 2 ? 80 : 40, 24);
      },
    });
    expect(sizes).toBeGreaterThan(1);
    expect(text).toBe(
      Array.from({ length: 2000 }, (_, i) => `line ${i + 1} xxxxxxxxxxxxxxxxxxxx`).join("\n"),
    );
  });

  test("a program sees the new size [EMU-72]", async () => {
    const shell = await open({ cols: 90, rows: 20 });
    expect(await output(shell, "stty size")).toBe("20 90");
    shell.resize(200, 50);
    expect(await output(shell, "stty size")).toBe("50 200");
    expect(shell.screen()).toMatchObject({ cols: 200, rows: 50 });
    await shell.run("exit");
    expect(await output(shell, "stty size")).toBe("50 200");
  });

  test("characters of several code points at the edge of the screen stay together [EMU-74] [EMU-75]", async () => {
    const shell = await open({ cols: 80 });
    const first = "👨‍👩‍👧👍🏽❤️1️⃣ end";
    expect(await output(shell, `printf '%078d${first}\\n' 0`)).toBe("0".repeat(78) + first);
    expect(await output(shell, "printf '%079d中y\\n' 0")).toBe(`${"0".repeat(79)}中y`);
  });

  test.each([1, 2, 20, 79, 80, 81, 120])(
    "wide characters wrap without a blank where the screen is %i cells wide and the text is painted [EMU-75]",
    async (cols) => {
      const shell = await open({ cols: Math.max(cols, 2) });
      for (let before = Math.max(0, cols - 3); before <= cols + 3; before++) {
        const text = `${"0".repeat(before)}中y中中 z`;
        expect(await output(shell, `printf 'x\\r${text}\\n'`), `${before} before`).toBe(text);
      }
    },
  );

  test.each([91, 92, 93])(
    "what may be read both ways comes out the same, plain and painted (seed %i) [EMU-74]",
    async (seed) => {
      const chance = new Chance(seed);
      const shell = await open({ cols: chance.pick([10, 37, 80]), rows: chance.pick([3, 10, 40]) });
      for (let round = 0; round < 15; round++) {
        const words = chance.text(chance.int(200), [
          "a",
          "b ",
          "ccc",
          "中",
          "é",
          "\n",
          "\n\n",
          "0123456789",
        ]);
        // Blanks at the ends of lines cannot be seen on a screen.
        const text = `${words.replace(/ +(?=\n|$)/g, "")}.`;
        const plain = await output(shell, `printf '%s' '${text}'`);
        const painted = await output(shell, `printf '%s' '${text}'; printf '\\e[s\\e[u'`);
        expect(plain, `round ${round} of seed ${seed}`).toBe(text);
        expect(painted, `round ${round} of seed ${seed}`).toBe(text);
      }
    },
  );

  test("the screen shows wide characters as they are [EMU-73]", async () => {
    const shell = await open();
    await output(shell, "echo '中文 abc 日本'");
    expect(shell.screen().lines[0]).toBe("中文 abc 日本");
    expect(shell.screen().lines).toHaveLength(40);
  });

  test("tabs, trailing blanks and long lines are exact; colours and bells are left out [EMU]", async () => {
    const shell = await open({ cols: 20 });
    expect(await output(shell, "printf 'a\\tb\\t\\n  c  \\n\\n%0300d\\n' 0")).toBe(
      `a\tb\t\n  c  \n\n${"0".repeat(300)}`,
    );
    expect(await output(shell, "printf '\\e[1;31mred\\e[0m\\a\\n'; printf 'a\\r\\nb\\r\\n'")).toBe(
      "red\na\nb",
    );
    expect(await output(shell, "tput bold; echo b; tput sgr0")).toBe("b");
  });

  test("200,000 lines are exact [LOST-41]", async () => {
    const text = await output(await open(), "seq 1 200000", 0, { maxOutputChars: 2_000_000 });
    expect(text).toBe(Array.from({ length: 200_000 }, (_, i) => i + 1).join("\n"));
  });
});

describe("painted text", () => {
  test.each([
    ["a progress bar", "for i in 1 2 3; do printf '\\r%d of 3' $i; done; echo", "3 of 3"],
    ["a line that is wiped", "printf 'wrong\\r\\e[Kright\\n'", "right"],
    ["backspaces", "printf 'abc\\b\\bX\\n'", "aXc"],
    ["moving up", "printf 'one\\ntwo\\n\\e[2A1\\e[2B\\n'", "1ne\ntwo"],
    ["clear", "echo old; clear; echo new", "old\nnew"],
    [
      "the alternate screen",
      "echo before; printf '\\e[?1049hfull\\e[?1049l'; echo after",
      "before\nafter",
    ],
    ["line drawing", "printf '\\e(0qqq\\e(B\\n'", "───"],
  ])("%s comes out as a person sees it [EMU]", async (name, command, expected) => {
    const text = await output(await open({ rows: 10 }), command);
    if (name === "clear") expect(text.replace(/^old\n+/, "").trim()).toBe("new");
    else expect(text.trimEnd()).toBe(expected);
  });

  test.each([
    "\\e[?1049h",
    "\\e[?6h\\e[5;9r",
    "\\e(0",
    "\\e[4h",
    "\\e[?7l",
    "\\e[?1h",
    "\\e[20h",
    "\\e[?5h",
    "\\e[8m",
    "\\e[10;10H",
    "\\e#8",
    "\\e[3g",
    "\\x0e",
    "\\e[2J",
    "\\e[?25l",
    "\\e[?2026h",
  ])("what %s did to the screen is gone with the next command [EMU]", async (sequence) => {
    const shell = await open({ cols: 20, rows: 5 });
    await shell.run(`printf '${sequence}'`);
    const command = "seq 1 8; printf 'x\\r%030d\\n' 0; printf 'q\\tq\\n'";
    const clean = await output(await open({ cols: 20, rows: 5 }), command);
    expect(await output(shell, command)).toBe(clean);
    expect(clean).toMatch(/^1\n2\n3\n/);
  });

  test("a terminal's answers to a program are never run by the shell [EMU]", async () => {
    const shell = await open();
    for (let i = 0; i < 5; i++) {
      const run = await shell.run("printf '\\e[6n\\e[c\\e[5n\\e]10;?\\a'");
      expect(run.end).toEqual({ kind: "finished", exitCode: 0 });
      expect(brief(await shell.run("echo x"))).toEqual(["x", 0]);
    }
  });

  test("a program gets the answer that it asks for [EMU]", async () => {
    const shell = await open();
    const command =
      "stty -echo -icanon; printf 'ab\\e[6n'; IFS= read -r -d R -t 3 answer; stty sane; printf '%q\\n' \"$answer\"";
    expect(await output(shell, command)).toMatch(/^ab\$'\\E\[1;3'$/);
  });
});

describe("the live view", () => {
  test("is, in one piece, what the command printed [EMU]", async () => {
    const shell = await open();
    for (const command of [
      "echo hi",
      "seq 1 5000",
      "printf 'no newline'",
      "true",
      "printf 'a\\tb\\n\\n'",
    ]) {
      const listener = new Listener();
      const text = await output(shell, command, 0, { onOutput: listener.onOutput });
      expect(listener.text.replace(/\n$/, "")).toBe(text);
    }
  });

  test("never holds text of ours, whatever the settings [MARK]", async () => {
    const shell = await open();
    const settings = [
      "true",
      "stty echo",
      "stty -echo",
      "stty raw",
      "stty sane",
      "set -x",
      "set -v",
      "PS1='> '",
      "PROMPT_COMMAND='echo pc'",
      "trap 'echo D' DEBUG",
      "set -u",
      "exec 2>&1",
      "set +H",
      "bind -p >/dev/null 2>&1",
    ];
    for (const setting of settings) {
      await shell.run(setting);
      for (const command of [
        "echo hi",
        "cat <<E\nhi\nE",
        `echo ${"y".repeat(3000)}`,
        'echo "open',
        "printf hi",
      ]) {
        const listener = new Listener();
        await shell.run(command, { onOutput: listener.onOutput });
        expect(listener.text, `${command} after ${setting}`).not.toMatch(/evsh|8133/);
      }
    }
  });

  test("comes while the command runs [EMU]", async () => {
    const shell = await open();
    const listener = new Listener();
    const running = shell.run("echo first; sleep 30; echo second", {
      onOutput: listener.onOutput,
    });
    await listener.heard("first\n");
    expect(listener.text).toBe("first\n");
    await shell.interrupt();
    const run = await running;
    expect(run.output.trim()).toBe("first");
  });

  test("holds the command up while its listener is busy, and loses nothing [EMU]", async () => {
    const shell = await open();
    let text = "";
    const run = await shell.run("seq 1 60000", {
      onOutput: async (piece) => {
        text += piece;
        await new Promise((resolve) => setTimeout(resolve, 1));
      },
    });
    expect(text).toBe(`${run.output}\n`);
    expect(run.output).toMatch(/^1\n[\s\S]*\n60000$/);
  });

  test("goes on after the waiting is over [EMU]", async () => {
    const shell = await open();
    const listener = new Listener();
    const first = await shell.run("echo a; sleep 0.2; echo b", {
      waitMs: 50,
      onOutput: listener.onOutput,
    });
    expect(brief(first)).toEqual(["a", "running"]);
    await listener.heard("a\nb\n");
    expect(brief(await shell.wait())).toEqual(["b", 0]);
    expect(listener.text).toBe("a\nb\n");
  });

  test("a listener that fails does not harm the command [EMU]", async () => {
    const shell = await open();
    const thrown = await shell.run("seq 1 3", {
      onOutput: () => {
        throw new Error("mine");
      },
    });
    const rejected = await shell.run("seq 1 3", {
      onOutput: () => Promise.reject(new Error("mine")),
    });
    expect([brief(thrown), brief(rejected)]).toEqual([
      ["1\n2\n3", 0],
      ["1\n2\n3", 0],
    ]);
  });
});

describe("clipping", () => {
  const whole = Array.from({ length: 200_000 }, (_, i) => i + 1).join("\n");

  test.each([
    ["head", whole.slice(0, 1000)],
    ["tail", whole.slice(-1000)],
    [
      "both",
      `${whole.slice(0, 500)}\n[… ${whole.length - 1000} characters left out …]\n${whole.slice(-500)}`,
    ],
  ] as const)(
    "keeps the %s, counts exactly, and says where all of it is [LOST-41]",
    async (keep, expected) => {
      const shell = await open();
      const run = await shell.run("seq 1 200000", { maxOutputChars: 1000, keep });
      expect(run.output).toBe(expected);
      expect(run.clip).toMatchObject({
        shownChars: 1000,
        totalChars: whole.length,
        lostPrefix: false,
      });
      expect(readFileSync(run.clip?.spillPath as string, "utf8")).toBe(`${whole}\n`);
    },
  );

  test.each([101, 102, 103])(
    "any text with any limit: parts of the whole, and counts that fit (seed %i) [LOST-41]",
    async (seed) => {
      const chance = new Chance(seed);
      const shell = await open();
      for (let round = 0; round < 30; round++) {
        const text = `${chance.text(chance.int(40), ["👍", "a", "中", "\n", "é", "👨‍👩‍👧", "\t"])}.`;
        const maxOutputChars = 1 + chance.int(text.length + 3);
        const keep = chance.pick(["head", "tail", "both"] as const);
        const { output: shown, clip } = await shell.run(`printf %s '${text}'`, {
          maxOutputChars,
          keep,
        });
        const at = `round ${round} of seed ${seed}: ${JSON.stringify(text)}, ${keep} ${maxOutputChars}`;
        expect(/\p{Surrogate}/u.test(shown), at).toBe(false);
        if (text.length <= maxOutputChars) {
          expect([shown, clip], at).toEqual([text, null]);
          continue;
        }
        expect(clip?.totalChars, at).toBe(text.length);
        expect(clip?.shownChars, at).toBeLessThanOrEqual(maxOutputChars);
        expect(clip?.shownChars, at).toBeGreaterThanOrEqual(
          maxOutputChars - (keep === "both" ? 2 : 1),
        );
        if (keep === "head") expect(text.startsWith(shown), at).toBe(true);
        if (keep === "tail") expect(text.endsWith(shown), at).toBe(true);
        if (keep !== "both") expect(shown.length, at).toBe(clip?.shownChars);
        else {
          const gap = /\n?\[… (\d+) characters left out …\]\n?/.exec(shown);
          const rest =
            gap === null
              ? shown
              : shown.slice(0, gap.index) + shown.slice(gap.index + gap[0].length);
          expect(rest.length, at).toBe(clip?.shownChars);
          if (gap !== null) expect(Number(gap[1]), at).toBe(text.length - rest.length);
        }
        expect(readFileSync(clip?.spillPath as string, "utf8"), at).toBe(text);
      }
    },
  );

  test("an output of exactly the limit is not clipped; its newline does not count [LOST-41]", async () => {
    const shell = await open();
    expect((await shell.run("echo 12345", { maxOutputChars: 5 })).clip).toBeNull();
    const run = await shell.run("echo 123456", { maxOutputChars: 5 });
    expect(run.output).toBe("12345");
    expect(run.clip).toMatchObject({ shownChars: 5, totalChars: 6 });
  });

  test("painted output is clipped as text too [LOST-41]", async () => {
    const shell = await open();
    const run = await shell.run(
      "for i in $(seq 1000); do printf 'wrong\\r\\e[Kline %d\\n' $i; done",
      { maxOutputChars: 50, keep: "tail" },
    );
    const all = Array.from({ length: 1000 }, (_, i) => `line ${i + 1}`).join("\n");
    expect(run.output).toBe(all.slice(-50));
    expect(run.clip).toMatchObject({ shownChars: 50, totalChars: all.length });
  });

  test("complete outputs lie in a private folder, and are removed with the shell [LOST-41]", async () => {
    const spillDir = folder();
    const shell = await open({ spillDir, maxOutputChars: 10 });
    expect(readdirSync(spillDir)).toEqual([]);
    const run = await shell.run("seq 100; echo 中");
    const path = run.clip?.spillPath as string;
    expect(dirname(dirname(path))).toBe(spillDir);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(readFileSync(path, "utf8")).toMatch(/^1\n2\n[\s\S]*\n100\n中\n$/);
    await shell.run("echo short");
    expect(existsSync(path)).toBe(true);
    await shell.close();
    expect(readdirSync(spillDir)).toEqual([]);
  });

  test("the umask of the host and the length of the output do not matter to a file's mode [LOST-41]", async () => {
    const spillDir = folder();
    const shell = await open({ spillDir, maxOutputChars: 10 });
    for (const command of ["seq 20", "seq 100000", "head -c 3000000 /dev/zero | tr '\\0' x"]) {
      const path = (await shell.run(command)).clip?.spillPath as string;
      expect(statSync(path).mode & 0o777, command).toBe(0o600);
    }
    expect(await output(shell, "head -c 9 /dev/zero | tr '\\0' y")).toBe("yyyyyyyyy");
  });

  test("files of outputs that were not clipped do not stay [LOST-41]", async () => {
    const spillDir = folder();
    const shell = await open({ spillDir });
    expect((await shell.run("seq 100000")).clip).toBeNull();
    const files = readdirSync(spillDir, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    );
    expect(files).toEqual([]);
  });

  test("the parts of a command left running are each clipped, and the file holds all of it [LOST-41]", async () => {
    const cwd = folder();
    const shell = await open({ cwd, maxOutputChars: 20 });
    const first = await shell.run("seq 100; until [ -e go ]; do sleep 0.01; done; seq 101 200", {
      waitMs: 200,
    });
    expect(first.end.kind).toBe("running");
    expect(first.clip).toMatchObject({ shownChars: 20 });
    writeFileSync(join(cwd, "go"), "");
    const last = await shell.wait();
    expect(last.end).toEqual({ kind: "finished", exitCode: 0 });
    expect(last.output).toBe("101\n102\n103\n104\n105\n");
    expect(readFileSync(last.clip?.spillPath as string, "utf8")).toBe(
      `${Array.from({ length: 200 }, (_, i) => i + 1).join("\n")}\n`,
    );
  });
});

describe("disks", () => {
  test("where no file can be made, the result comes and says that a part is lost [DISK-179]", async () => {
    const spillDir = folder();
    const shell = await open({ spillDir, maxOutputChars: 100, keep: "tail" });
    rmSync(spillDir, { recursive: true });
    expect(await output(shell, "echo hi")).toBe("hi");
    const run = await shell.run("seq 1 100000");
    expect(run.end).toEqual({ kind: "finished", exitCode: 0 });
    expect(run.output).toMatch(/99999\n100000$/);
    expect(run.clip).toMatchObject({ lostPrefix: true, spillPath: null, shownChars: 100 });
    const head = await shell.run("seq 1 100000", { keep: "head" });
    expect(head.clip).toMatchObject({ lostPrefix: false, spillPath: null });
  });

  test("a disk that fills up in the middle fails no command and leaves no torn file [DISK-179] [DISK-181]", async () => {
    const spillDir = folder();
    const shell = await open({ spillDir, maxOutputChars: 100, keep: "tail" });
    // A file that may not grow is what a full disk is to the writer.
    const limit = (bytes: string): Buffer =>
      execFileSync("prlimit", ["--pid", String(process.pid), `--fsize=${bytes}:`]);
    limit("200000");
    onTestFinished(() => void limit("unlimited"));
    expect(await output(shell, "echo hi")).toBe("hi");
    expect(await output(shell, "df . | head -1")).toMatch(/^Filesystem/);
    const run = await shell.run("seq 1 300000");
    expect(run.end).toEqual({ kind: "finished", exitCode: 0 });
    expect(run.clip).toMatchObject({ spillPath: null, lostPrefix: true, totalChars: 1_988_894 });
    await until("no part of a file is left", () =>
      readdirSync(spillDir, { recursive: true, withFileTypes: true }).every(
        (each) => !each.isFile(),
      ),
    );
    const small = await shell.run("seq 1 200");
    expect(small.output.length).toBe(100);
    expect(small.clip).toMatchObject({ lostPrefix: false, totalChars: 691 });
  });

  test("a shell on a full disk reports what the commands report [DISK-179]", async () => {
    const shell = await open();
    expect(await output(shell, "echo x >/dev/full", 1)).toMatch(/No space left on device/);
    expect(await outputs(shell, "echo hi")).toEqual(["hi"]);
  });
});
