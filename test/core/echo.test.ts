import { describe, expect, test } from "vitest";
import { Echo, LateEcho } from "../../src/core/echo.ts";
import { random } from "../random.ts";
import { bytesOf, everyCut } from "./pieces.ts";

const ID = "a1b2c3";
const LINE = `{ run ${ID} 'ä€'; } >/dev/null && close ${ID}\n`;

function split(line: string, pieces: readonly Uint8Array[]): { output: string; rest: string } {
  const echo = new Echo(bytesOf(line));
  for (const piece of pieces) echo.push(piece, false);
  const { others, rest } = echo.split();
  const output = Buffer.concat(others.map(({ bytes }) => bytes)).toString();
  return { output, rest: Buffer.from(rest).toString() };
}

describe("an echo", () => {
  test.each<[string, string, string, string]>([
    ["alone is no output", LINE, "", ""],
    ["before output", `${LINE}out\n`, "out\n", ""],
    ["after output", `out\n${LINE}`, "out\n", ""],
    ["between output", `out\n${LINE}put\n`, "out\nput\n", ""],
    ["that has not come is the rest", "", "", LINE],
    ["that has not come leaves output whole", "job", "job", LINE],
    ["that has not come leaves a line of output whole", "job\n", "job\n", LINE],
    ["that has not come leaves several lines whole", "a\nb }\nc;\n", "a\nb }\nc;\n", LINE],
    ["of which a part has come", LINE.slice(0, 12), "", LINE.slice(12)],
    ["of which a part has come before output", `${LINE.slice(0, 12)}job`, "job", LINE.slice(12)],
    [
      "of which a part has come before a line",
      `${LINE.slice(0, 12)}job\n`,
      "job\n",
      LINE.slice(12),
    ],
    ["in pieces", `${LINE.slice(0, 12)}A${LINE.slice(12, 24)}B${LINE.slice(24)}C`, "ABC", ""],
    ["after what begins like it", `${LINE.slice(0, 11)}X\n${LINE}`, `${LINE.slice(0, 11)}X\n`, ""],
    [
      "whose beginning is in the output",
      `{ x; }${LINE.slice(0, 30)}Y${LINE.slice(30)}`,
      "{ x; }Y",
      "",
    ],
    ["a run that is too short is output", `${LINE.slice(0, 7)}x`, `${LINE.slice(0, 7)}x`, LINE],
    ["a copy of it is output", `${LINE}${LINE}`, LINE, ""],
  ])("%s, wherever it is cut", (_, stream, output, rest) => {
    for (const pieces of everyCut(bytesOf(stream))) {
      expect({ cuts: pieces.length, ...split(LINE, pieces) }).toEqual({
        cuts: pieces.length,
        output,
        rest,
      });
    }
  });

  test.each<[string, string, string]>([
    ["has come whole", LINE, ""],
    ["has not come", "", LINE],
    ["has come in part", LINE.slice(0, 12), LINE.slice(12)],
  ])("that %s leaves much output whole", (_, echo, rest) => {
    const job = "a line of output\n".repeat(2_500);
    const found = split(LINE, [bytesOf(job), bytesOf(echo), bytesOf(job)]);
    expect({ whole: found.output === job + job, rest: found.rest }).toEqual({ whole: true, rest });
  });

  test("is told from what belongs to a prompt and what does not, in order", () => {
    const echo = new Echo(bytesOf(LINE));
    echo.push(bytesOf(`$ ${LINE.slice(0, 12)}`), true);
    echo.push(bytesOf(`job\n${LINE.slice(12, 24)}`), false);
    echo.push(bytesOf(`[1] Done\n${LINE.slice(24)}`), true);
    echo.push(bytesOf("more\n"), false);
    const { others, rest } = echo.split();
    const texts = others.map(({ bytes, ofPrompt }) => [Buffer.from(bytes).toString(), ofPrompt]);
    expect(texts).toEqual([
      ["$ ", true],
      ["job\n", false],
      ["[1] Done\n", true],
      ["more\n", false],
    ]);
    expect(rest).toHaveLength(0);
  });

  test("of a long command is removed, with output between its lines", () => {
    const words = Array.from({ length: 2_000 }, (_, i) => `$'word ${i} word' \\\n`);
    const stream = words.flatMap((word, i) => (i % 100 === 0 ? [word, `job ${i}\n`] : [word]));
    const jobs = words.flatMap((_, i) => (i % 100 === 0 ? [`job ${i}\n`] : []));
    const line = words.join("") + LINE;
    const before = performance.now();
    expect(split(line, [bytesOf(stream.join("") + LINE)])).toEqual({
      output: jobs.join(""),
      rest: "",
    });
    expect(performance.now() - before).toBeLessThan(500);
  });

  test("of nothing takes nothing out", () => {
    expect(split("", [bytesOf("out\n")])).toEqual({ output: "out\n", rest: "" });
  });

  test("is found wherever pieces of it stand among random output", () => {
    for (let seed = 0; seed < 500; seed++) {
      const { below, pick } = random(seed);
      const noise = (): string =>
        Array.from({ length: below(4) }, () =>
          pick(["job", "\n", "%", "===", "7", "no echo"]),
        ).join("");
      const cuts = [13 + below(4), 28 + below(4)];
      const parts = [LINE.slice(0, cuts[0]), LINE.slice(cuts[0], cuts[1]), LINE.slice(cuts[1])];
      const noises = [noise(), noise(), noise(), noise()];
      const stream = noises.map((each, i) => each + (parts[i] ?? "")).join("");
      const found = split(LINE, [bytesOf(stream)]);
      expect({ seed, ...found }).toEqual({ seed, output: noises.join(""), rest: "" });
    }
  });
});

/** The echo of which the first bytes came before the command started. */
function echoed(line: string, came: number): LateEcho | null {
  const echo = new Echo(bytesOf(line));
  echo.push(bytesOf(line).subarray(0, came), false);
  return LateEcho.of(echo.split().rest, ID);
}

function remove(late: LateEcho | null, pieces: readonly Uint8Array[]): string {
  return Buffer.concat(pieces.map((piece) => (late?.remove(piece) ?? piece).slice())).toString();
}

const STREAMS: readonly [string, (echo: string) => string, string][] = [
  ["before the output", (echo) => `${echo}output\n`, "output\n"],
  ["between the output", (echo) => `out\n${echo}put\n`, "out\nput\n"],
  ["after the output", (echo) => `output\n${echo}`, "output\n"],
  ["alone", (echo) => echo, ""],
];

describe("an echo that comes after the command has started", () => {
  const line = `{ run ${ID}; } >/dev/null && close ${ID}\n`;

  test.each(STREAMS)("is left out in one piece: %s", (_, stream, output) => {
    for (const came of [0, 10, 15]) {
      const echo = line.slice(came);
      const text = remove(echoed(line, came), [bytesOf(stream(echo)), bytesOf("more\n")]);
      expect({ came, text }).toEqual({ came, text: `${output}more\n` });
    }
  });

  test.each(STREAMS)("is left out in a piece of its own: %s", (_, stream, output) => {
    const pieces = stream("|").split("|").map(bytesOf);
    const all = [pieces[0] as Uint8Array, bytesOf(line), pieces[1] as Uint8Array];
    expect(remove(echoed(line, 0), all)).toBe(output);
  });

  test("is left out once", () => {
    expect(remove(echoed(line, 0), [bytesOf(line), bytesOf(line)])).toBe(line);
  });

  test("is looked for only while it may still come", () => {
    const late = echoed(line, 0);
    expect(remove(late, [bytesOf("x".repeat(100_000)), bytesOf(line)])).toBe(
      "x".repeat(100_000) + line,
    );
  });

  test("is none when all of it came before, or when it does not name the command", () => {
    expect(echoed(line, line.length)).toBeNull();
    expect(echoed("echo hi\n", 0)).toBeNull();
    expect(LateEcho.of(new Uint8Array(), ID)).toBeNull();
  });
});

test("pieces of a long echo of which the kernel has lost parts are no output", () => {
  const words = Array.from({ length: 400 }, () => `$'${"x".repeat(640)}'`).join(" \\\n");
  const line = `{ run ${ID} ${words}; } >/dev/null && close ${ID}\n`;
  // As cut as it may be: within a word, over the end of a line, and twice in a row.
  const cuts: [number, number][] = [
    [30_000, 31_500],
    [31_700, 33_333],
    [100_000, 164_000],
    [200_000, 200_100],
  ];
  let left = line;
  for (const [from, to] of cuts.reverse()) left = left.slice(0, from) + left.slice(to);
  expect(split(line, [bytesOf(left)]).output).toBe("");
  expect(split(line, [bytesOf(`${left}job output\n`)]).output).toBe("job output\n");
});
