/** Bytes become text: characters cut anywhere, bytes that are none, and locales of any kind. */

import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openShell } from "../../src/node.ts";
import { brief, Chance, folder, Listener, open, output, outputs } from "../support.ts";

/** A python program that writes pieces of bytes with pauses between them. */
function writes(pieces: readonly Uint8Array[], pauseS = 0.02): string {
  const list = pieces.map((piece) => `'${Buffer.from(piece).toString("hex")}'`).join(",");
  return `python3 -c "import os,time
for p in [${list}]: os.write(1, bytes.fromhex(p)); time.sleep(${pauseS})"`;
}

/** Cuts bytes at every position that chance picks. */
function cut(bytes: Uint8Array, chance: Chance, pieces: number): Uint8Array[] {
  const at = Array.from({ length: pieces - 1 }, () => chance.int(bytes.length + 1)).sort(
    (a, b) => a - b,
  );
  return [0, ...at].map((from, i) => bytes.subarray(from, at[i] ?? bytes.length));
}

describe("UTF-8", () => {
  test("a character that comes in two parts is one [ENC-116]", async () => {
    const command = `python3 -c "import os,time; os.write(1,b'x \\xe2'); time.sleep(.05); os.write(1,b'\\x80\\x94 y')"`;
    expect(await output(await open(), command)).toBe("x — y");
  });

  test.each([61, 62, 63, 64])(
    "a text cut at any bytes is whole, live and in the result (seed %i) [ENC-116]",
    async (seed) => {
      const chance = new Chance(seed);
      const shell = await open();
      const text = `|${chance.text(60, ["é", "中", "─", "👍", "👨‍👩‍👧", "a", "\n", "\u0301", "\ufeff", "\x1b[31m", "\x1b[0m"])}|`;
      const listener = new Listener();
      const command = writes(cut(new TextEncoder().encode(text), chance, 12), 0.01);
      const shown = await output(shell, command, 0, { onOutput: listener.onOutput });
      expect(shown, `seed ${seed}`).toBe(text.replace(/\x1b\[\d+m/g, ""));
      expect(listener.text, `seed ${seed}`).toBe(text);
    },
  );

  test("200 rows of 200 box characters have no replacement characters [ENC-117]", async () => {
    const text = await output(
      await open(),
      `for i in $(seq 200); do printf '─%.0s' $(seq 200); echo; done`,
    );
    expect(text).toBe(Array(200).fill("─".repeat(200)).join("\n"));
  });

  test("every length of text before a wide character is right [ENC-117]", async () => {
    const shell = await open();
    const text = await output(
      shell,
      `for ((i = 0; i < 300; i++)); do printf '%*s' $i; echo 👍中é; done`,
    );
    expect(text).toBe(Array.from({ length: 300 }, (_, i) => `${" ".repeat(i)}👍中é`).join("\n"));
  });
});

describe("bytes that are no text", () => {
  test("NUL is left out; a program's bytes are text that JSON can hold [ENC-119]", async () => {
    const shell = await open();
    expect(await output(shell, "printf 'a\\0b\\n'")).toBe("ab");
    const run = await shell.run("head -c 4096 /bin/ls");
    expect(run.end).toEqual({ kind: "finished", exitCode: 0 });
    expect(JSON.parse(JSON.stringify(run))).toEqual(run);
    expect(run.output).not.toMatch(/\p{Surrogate}/u);
    expect(await output(shell, "echo next")).toBe("next");
  });

  test("bytes of another encoding are replacement characters [ENC-120]", async () => {
    const command = "printf 'Fran\\347ais\\n'; printf '\\xff\\xfe\\n'; echo ok";
    expect(await output(await open(), command)).toBe("Fran\ufffdais\n\ufffd\ufffd\nok");
  });

  test.each([71, 72, 73, 74, 75])(
    "any bytes at all end no command and leave nothing behind (seed %i) [ENC-119]",
    async (seed) => {
      const chance = new Chance(seed);
      const cwd = folder();
      const shell = await open({ cwd });
      for (let round = 0; round < 8; round++) {
        const bytes = Uint8Array.from({ length: 1 + chance.int(3000) }, () => chance.int(256));
        writeFileSync(join(cwd, "bytes"), bytes);
        const run = await shell.run("cat bytes; (exit 5)", { timeoutMs: 5_000 });
        const at = `round ${round} of seed ${seed}`;
        expect(run.end, at).toEqual({ kind: "finished", exitCode: 5 });
        expect(brief(await shell.run("echo next", { timeoutMs: 5_000 })), at).toEqual(["next", 0]);
      }
    },
  );

  test.each([81, 82, 83])(
    "any control sequences end no command and leave nothing behind (seed %i) [ENC-119]",
    async (seed) => {
      const chance = new Chance(seed);
      const cwd = folder();
      const shell = await open({ cwd });
      const parts = [
        "\x1b[",
        "\x1b]",
        "\x1bP",
        "\x1b_",
        "\x1b",
        "?",
        ";",
        "1",
        "9",
        "h",
        "l",
        "H",
        "J",
        "K",
        "m",
        "r",
        "c",
        "n",
        "q",
        "t",
        "\x07",
        "\x18",
        "\x1b\\",
        "\r",
        "\n",
        "\b",
        "\t",
        "\x0e",
        "\x0f",
        "text",
        "中",
        "\x1b[?1049h",
        "\x1b[?6h",
        "\x1b[5;9r",
        "\x1bc",
        "\x1b[6n",
        "\x1b[c",
        "\x1b(0",
        "\x1b[?25l",
        "\x1b[4h",
        "\x1b[?7l",
        "\x9b",
        "\x84",
      ];
      for (let round = 0; round < 20; round++) {
        writeFileSync(join(cwd, "bytes"), chance.text(1 + chance.int(60), parts));
        const run = await shell.run("cat bytes; (exit 5)", { timeoutMs: 5_000 });
        const at = `round ${round} of seed ${seed}`;
        expect(run.end, at).toEqual({ kind: "finished", exitCode: 5 });
        const next = await shell.run("echo next; printf '\\r\\e[Kpainted'", { timeoutMs: 5_000 });
        expect(brief(next), at).toEqual(["next\npainted", 0]);
        expect(next.background, at).toBe("");
      }
    },
  );
});

describe("unfinished sequences", () => {
  test.each([
    "\\e",
    "\\e[",
    "\\e[3;",
    "\\e]0;a",
    "\\eP",
    "\\eP1q",
    "\\e_G",
    "\\e^",
    "\\eX",
    "\\e(",
    "\\xe4\\xb8",
    "\\xf0\\x9f",
  ])(
    "%s, left on a painted page or a plain one, does not change the next command's output [ENC-119]",
    async (sequence) => {
      const shell = await open();
      for (const before of ["", "x\\b"]) {
        for (const command of ["printf 'next\\n'", "printf 'next\\n\\rpainted\\n'"]) {
          await output(shell, `printf '${before}${sequence}'`);
          const expected = command.includes("painted") ? "next\npainted" : "next";
          expect(await output(shell, command), `${command} after ${before}`).toBe(expected);
        }
      }
    },
  );
});

describe("locales", () => {
  test("without a locale in the host's environment characters still work [ENC-121]", async () => {
    for (const name of ["LANG", "LC_ALL", "LC_CTYPE"]) vi.stubEnv(name, undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    const shell = await open();
    expect(await output(shell, "echo 'ABC你好DEF' | xxd -p")).toBe("414243e4bda0e5a5bd4445460a");
    expect(await output(shell, "mkdir 中文 && touch 中文/f && ls 中文")).toBe("f");
    expect(await output(shell, "x=你好; echo ${#x} ${x:1}")).toBe("2 好");
    expect(await output(shell, "ls")).toBe("中文");
  });

  test.each(["C", "POSIX", "en_US.ISO-8859-1", "nonsense"])(
    "names stay intact where the locale is %s [ENC-123]",
    async (locale) => {
      const cwd = folder();
      const shell = await open({ cwd, env: { LC_ALL: locale } });
      writeFileSync(join(cwd, "提交版.txt"), "");
      expect(await output(shell, "ls | cat")).toBe("提交版.txt");
      expect(await output(shell, "echo *; echo 'é 👍'")).toBe("提交版.txt\né 👍");
      await output(shell, "mkdir -p 'd é/中'; cd 'd é/中'");
      const run = await shell.run("touch 中");
      expect(run.cwd).toBe(join(cwd, "d é/中"));
      expect(readdirSync(join(cwd, "d é/中"))).toEqual(["中"]);
    },
  );

  test("the locale may change in the middle [ENC-123]", async () => {
    const shell = await open();
    for (const locale of ["C", "C.UTF-8", "POSIX", "C.UTF-8"])
      expect(
        await outputs(
          shell,
          `export LC_ALL=${locale}`,
          "echo '中é👍'",
          `printf %s '${"中".repeat(900)}'`,
        ),
      ).toEqual(["", "中é👍", "中".repeat(900)]);
  });

  test("a folder with any name may be the working directory, and is named exactly [ENC-121]", async () => {
    const parent = folder();
    const shell = await openShell({ cwd: parent });
    onTestFinished(() => shell.close());
    const names = [
      "a b",
      "中文",
      "x'y\"z",
      "new\nline",
      "tab\t",
      "a;b",
      "$(echo no)",
      "é\\n",
      "-n",
      "\x1b[31m",
      "👍",
      "!x",
      "a=b",
      "*",
    ];
    for (const name of names) {
      const word = `$'${[...new TextEncoder().encode(name)].map((byte) => `\\x${byte.toString(16)}`).join("")}'`;
      const run = await shell.run(`mkdir -- ${word} && cd -- ${word}`);
      expect(run.cwd, JSON.stringify(name)).toBe(join(parent, name));
      expect(existsSync(join(parent, name))).toBe(true);
      expect((await shell.run("cd ..")).cwd).toBe(parent);
    }
  });
});
