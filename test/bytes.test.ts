/** Every byte of a command and of its output arrives as it was sent. */

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openShell, type Shell } from "../src/node.ts";
import { type Random, random } from "./random.ts";
import { temporaryFolder } from "./reference.ts";

const TEXTS = 200;

const folder = temporaryFolder();
let shell: Shell;

beforeAll(async () => {
  shell = await openShell({ cwd: folder.path });
});

afterAll(async () => {
  await shell.close();
  folder[Symbol.dispose]();
});

/** Ways in which a command carries a text into the file `f`. */
const WAYS: readonly { name: string; command: (text: string) => string; adds: string }[] = [
  {
    name: "a here-document",
    command: (text) => `cat > f <<'END_OF_TEXT'\n${text}\nEND_OF_TEXT`,
    adds: "\n",
  },
  { name: "a quoted argument", command: (text) => `printf %s ${quoted(text)} > f`, adds: "" },
  { name: "a variable", command: (text) => `v=${quoted(text)}; printf %s "$v" > f`, adds: "" },
];

describe.each(WAYS)("a text in $name", ({ command, adds }) => {
  test(`is written as it is, for ${TEXTS} random texts`, async () => {
    for (let seed = 0; seed < TEXTS; seed++) {
      const text = randomText(random(seed), lengthOf(seed));
      const { output, end } = await shell.run(command(text));
      expect({ seed, output, end }).toEqual({
        seed,
        output: "",
        end: { kind: "finished", exitCode: 0 },
      });
      const written = readFileSync(`${folder.path}/f`);
      expect({ seed, hash: sha256(written) }).toEqual({ seed, hash: sha256(text + adds) });
    }
  }, 60_000);

  test("may hold every byte from 0x01 to 0x7f, alone and between others", async () => {
    const bytes = Array.from({ length: 0x7f }, (_, i) => String.fromCharCode(i + 1));
    const text = `${bytes.join("")}${bytes.map((byte) => `a${byte}${byte}b`).join("\n")}`;
    await shell.run(command(text));
    expect(readFileSync(`${folder.path}/f`, "utf8")).toBe(text + adds);
  });
});

describe("the output of a file", () => {
  test.each([
    ["tabs and trailing blanks", "a\tb\t\tc\n  lead\ntrail   \n\t\n   \n\nend \t "],
    ["lines of 10 000 columns", `${"x".repeat(10_000)}\n${"ab cd\t".repeat(2_000)}\nend`],
    ["lines that fill a row of 120 cells exactly", `${"y".repeat(120)}\n${"z".repeat(240)}\n!`],
    ["wide, combining and joined characters", "漢字 ｶﾅ e\u0301 👩‍👩‍👧‍👦 🇩🇪 \u200b\ufeff x"],
    ["a byte order mark at the start", "\ufefftext"],
    ["50 000 short lines", Array.from({ length: 50_000 }, (_, i) => `line ${i}`).join("\n")],
    ["only newlines", "\n".repeat(50)],
  ])("comes back identical: %s", async (_, text) => {
    writeFileSync(`${folder.path}/in`, `${text}\n`);
    const { output, clip } = await shell.run("cat in");
    expect(clip).toBeNull();
    expect(sha256(output)).toBe(sha256(text));
  });

  test("comes back identical for random lines of plain text", async () => {
    for (let seed = 1000; seed < 1050; seed++) {
      const text = randomText(random(seed), 2_000).replace(/[\x00-\x08\x0b-\x1f\x7f]/g, "");
      writeFileSync(`${folder.path}/in`, `${text}\n`);
      const { output } = await shell.run("cat in");
      expect({ seed, output }).toEqual({ seed, output: text });
    }
  });
});

test("a command of 8 MB runs", async () => {
  const length = 8 * 1024 * 1024;
  const { output, end } = await shell.run(`v='${"0123456 ".repeat(length / 8)}'; echo \${#v}`);
  expect({ output, end }).toEqual({
    output: String(length),
    end: { kind: "finished", exitCode: 0 },
  });
  expect((await shell.run("unset v; echo next")).output).toBe("next");
}, 60_000);

test("nothing of a long command's echo comes with its output on a busy machine", async () => {
  const busy = Array.from({ length: 4 }, () => spawn("bash", ["-c", "while :; do :; done"]));
  try {
    for (let i = 0; i < 30; i++) {
      const { output } = await shell.run(`: '${"word ".repeat(40_000)}'; echo out`);
      expect(output.slice(-300)).toBe("out");
    }
  } finally {
    for (const process of busy) process.kill("SIGKILL");
  }
}, 60_000);

/** Mostly short, some beyond the limits of a line, a page and a pipe, two of a megabyte. */
function lengthOf(seed: number): number {
  if (seed % 100 === 99) return 1024 * 1024;
  if (seed % 20 === 19) return 20_000 + seed * 50;
  return (seed * seed) % 1_500;
}

/** Text of about so many bytes. No line of it can be the end of the here-document. */
function randomText({ below, pick }: Random, bytes: number): string {
  const characters: (() => string)[] = [
    () => String.fromCharCode(1 + below(0x7f)),
    () => String.fromCharCode(0x20 + below(0x5f)),
    () =>
      pick(["\\", "'", '"', "`", "$", "!", "#", "\n", "\t", "\r", "\x1b", "\x03", "\x04", "\x7f"]),
    () =>
      pick(["\\\n", "\\\\", "''", "$'", "$(", "${x}", "<<E", "'\\''", "\\001", "\\x41", "  \n"]),
    () => pick(["ä", "€", "é", "漢", "\u00a0", "\u2028", "\ufeff", "\ue000", "\uffff", "\u0301"]),
    () => pick(["😀", "👩‍👧", "🇩🇪", "𝕏", "\u{10ffff}"]),
    () => "word ",
  ];
  let text = "";
  for (let size = 0; size < bytes; ) {
    const character = pick(characters)();
    text += character;
    size += Buffer.byteLength(character);
  }
  return text;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
