import { describe, expect, test } from "vitest";
import type { Clipped, Keep } from "../../src/core/clip.ts";
import type { ForeignEnding } from "../../src/core/foreign-ending.ts";
import { Screen } from "../../src/core/screen.ts";
import { Span } from "../../src/core/span.ts";
import { type Random, random } from "../random.ts";
import { bytesOf, everyCut } from "./pieces.ts";

const COLS = 40;
const ROWS = 10;
const FOREVER = 100_000_000;

function blankScreen(): Screen {
  return new Screen(COLS, ROWS, () => {}, true);
}

const EXIT: ForeignEnding = { line: "exit", lines: 1, glued: false, followed: false };
const GLUED: ForeignEnding = { ...EXIT, glued: true };
const FOLLOWED: ForeignEnding = { ...GLUED, followed: true };

interface Given {
  readonly foreign?: ForeignEnding;
  readonly maxChars?: number;
  readonly keep?: Keep;
}

function spanOf(pieces: readonly Uint8Array[], given: Given = {}): Clipped {
  const page = blankScreen();
  const span = new Span(() => page, given.maxChars ?? FOREVER, given.keep ?? "head");
  for (const piece of pieces) span.push(piece);
  span.end(given.foreign ?? null);
  return span.take();
}

describe("the text of an output", () => {
  test.each([
    ["plain", "a\tb  \nc\n", "a\tb  \nc"],
    ["a long line, not wrapped", `${"0123456789".repeat(20)}\nx`, `${"0123456789".repeat(20)}\nx`],
    ["coloured", "\x1b[31mred\x1b[0m\n", "red"],
    ["painted", "10%\r100%\n", "100%"],
    ["painted after plain lines", "a\nb\n10%\r100%\n", "a\nb\n100%"],
    ["plain lines after painting", "10%\r100%\na\nb", "100%\na\nb"],
    ["painted over a plain line", "one\ntwo\x1b[A\rONE\n", "ONE\ntwo"],
    ["a character cut off at the end", "a\u00e4".slice(0, 2), "aä"],
  ])("is the same wherever it is cut: %s", (_, output, text) => {
    for (const pieces of everyCut(bytesOf(output))) expect(spanOf(pieces).text).toBe(text);
  });

  test("shows that a character was cut off at its end", () => {
    expect(spanOf([Uint8Array.of(0x61, 0xe2, 0x82)]).text).toBe("a\ufffd");
  });

  test("that paints after 1 MB has all of its lines", () => {
    const lines = Array.from({ length: 40_000 }, (_, i) => `this is line ${i}`).join("\n");
    const { text } = spanOf([bytesOf(`${lines}\n`), bytesOf("10%\r100%")]);
    expect(text === `${lines}\n100%`).toBe(true);
  });
});

describe("an ending that is not the command's", () => {
  test.each<[string, string, ForeignEnding, string]>([
    ["is left out", "out\nexit\n", EXIT, "out"],
    ["is left out alone", "exit\n", EXIT, ""],
    ["stays within a line", "no exit\n", EXIT, "no exit"],
    ["is left out within a line", "outexit\n", GLUED, "out"],
    ["stays where it is no ending", "exit\nout\n", EXIT, "exit\nout"],
    ["is left out of a painted page", "a\b\nexit\n", EXIT, "a"],
    ["is left out before other lines", "out\nexit\nbye\n", FOLLOWED, "out\nbye"],
    ["is left out first of other lines", "exit\nbye\n", FOLLOWED, "bye"],
    ["is left out of a painted page, before others", "a\b\nexit\nbye\n", FOLLOWED, "a\nbye"],
    ["stays a part of other lines", "an exit\nbye\n", FOLLOWED, "an exit\nbye"],
    ["stays before other lines if none may follow", "exit\nbye\n", GLUED, "exit\nbye"],
  ])("%s", (_, output, foreign, text) => {
    expect(spanOf([bytesOf(output)], { foreign }).text).toBe(text);
  });
});

describe("a clipped output", () => {
  test.each<[Keep, string]>([
    ["head", "01234567"],
    ["tail", "cdefghij"],
    ["both", "0123\n[… 12 characters left out …]\nghij"],
  ])("keeps its %s, plain or painted", (keep, text) => {
    const expected = { text, shownChars: 8, totalChars: 20 };
    const output = "0123456789abcdefghij";
    expect(spanOf([bytesOf(output)], { maxChars: 8, keep })).toEqual(expected);
    expect(spanOf([bytesOf(`\x1b[s${output}`)], { maxChars: 8, keep })).toEqual(expected);
  });
});

describe("results that come before the end", () => {
  test.each([
    ["plain", ""],
    ["painted", "\x1b[s"],
  ])("bring each line once, %s", (_, start) => {
    const page = blankScreen();
    const span = new Span(() => page, FOREVER, "head");
    const texts = ["a\nb\n", "c\n", "", `${"d\n".repeat(20)}`, "e"].map((output, i) => {
      span.push(bytesOf((i === 0 ? start : "") + output));
      return span.take().text;
    });
    span.end(null);
    expect(texts.map((text) => text.trim()).join("\n")).toBe(
      `a\nb\nc\n\n${"d\n".repeat(20).trim()}\ne`,
    );
    expect(span.take().text).toBe("");
  });

  test("bring the page as it stands when it was painted over", () => {
    const page = blankScreen();
    const span = new Span(() => page, FOREVER, "head");
    span.push(bytesOf("title\n10%"));
    expect(span.take().text).toBe("title\n10%");
    span.push(bytesOf("\r20%"));
    expect(span.take().text).toBe("20%");
  });
});

describe("plain text and the screen's text", () => {
  test("agree wherever both apply, for random outputs", () => {
    for (let seed = 0; seed < 1_500; seed++) {
      const output = randomOutput(random(seed));
      const plain = spanOf(cut(bytesOf(output.written), seed)).text;
      const painted = spanOf(cut(bytesOf(`\x1b[s${output.written}`), seed)).text;
      expect({ seed, plain }).toEqual({ seed, plain: output.plain.replace(/\n$/, "") });
      expect({ seed, painted: withoutBlanks(painted) }).toEqual({
        seed,
        painted: withoutBlanks(output.shown),
      });
    }
  });

  test("agree for an output of 200 000 lines", () => {
    const text = Array.from({ length: 200_000 }, (_, i) => `${i}`).join("\n");
    expect(spanOf([bytesOf(text)]).text === text).toBe(true);
    expect(spanOf([bytesOf(`\x1b[s${text}`)]).text === text).toBe(true);
  });
});

/** An output that only appends, its text, and its text with tabs as the blanks that a screen shows. */
interface Output {
  readonly written: string;
  readonly plain: string;
  readonly shown: string;
}

/** Text and the cells it takes. Joiners and other invisible characters are no part of what a screen shows. */
const CHARACTERS: readonly (readonly [string, number])[] = [
  ["a", 1],
  [" ", 1],
  ["   ", 3],
  ["word ", 5],
  ["0123456789", 10],
  ["x".repeat(COLS), COLS],
  ["ä", 1],
  ["e\u0301", 1],
  ["€", 1],
  ["漢", 2],
  ["漢字", 4],
  ["ｶ", 1],
];

const INVISIBLE: readonly string[] = [
  "\x1b[31m",
  "\x1b[0m",
  "\x1b[38;5;200m",
  "\x1b[K",
  "\x1b[J",
  "\x1b]0;a title\x07",
  "\x1b]2;another\x1b\\",
  "\x1b]8;;http://example.org\x1b\\",
  "\x1b(B",
  "\x1b[?25l",
  "\x07",
  "\x00",
];

function randomOutput(cases: Random): Output {
  const { below, pick } = cases;
  let written = "";
  let plain = "";
  let shown = "";
  for (let lines = below(30); lines >= 0; lines--) {
    const line = below(4) === 0 ? tabbed(cases) : untabbed(cases);
    const newline = pick(["\n", "\n", "\r\n", "\r\r\n"]);
    written += line.written + newline;
    plain += `${line.plain}\n`;
    shown += `${line.shown}\n`;
  }
  return { written, plain, shown };
}

/** A line of any length. */
function untabbed({ below, pick }: Random): Output {
  let written = "";
  let plain = "";
  for (let parts = below(12); parts > 0; parts--) {
    if (below(3) === 0) written += pick(INVISIBLE);
    const [text] = pick([...CHARACTERS, ["😀", 2]] as const);
    written += text;
    plain += text;
  }
  return { written, plain, shown: plain };
}

/** A line with tabs, shorter than a row: at its end a screen has no tab stops. */
function tabbed({ below, pick }: Random): Output {
  let written = "";
  let plain = "";
  let shown = "";
  let column = 0;
  for (;;) {
    const tab = below(3) === 0;
    const [text, cells] = tab ? ["\t", 8 - (column % 8)] : pick(CHARACTERS);
    if (column + cells >= COLS - 8) return { written, plain, shown };
    written += below(3) === 0 ? pick(INVISIBLE) + text : text;
    plain += text;
    shown += tab ? " ".repeat(cells) : text;
    column += cells;
  }
}

function withoutBlanks(text: string): string {
  return text.replace(/ +$/gm, "").replace(/\n+$/, "");
}

/** The bytes in pieces of a size that depends on the seed. */
function cut(bytes: Uint8Array, seed: number): Uint8Array[] {
  const size = [1, 3, 17, 100, bytes.length][seed % 5] || 1;
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  );
}
