import { describe, expect, test } from "vitest";
import { Late } from "../../src/core/late.ts";
import { bytesOf, everyCut } from "./pieces.ts";

/** What arrives between two commands, step by step. */
type Step =
  | readonly ["prints", string]
  | readonly ["ends"]
  | readonly ["ends bare"]
  | readonly ["ends bare, noisy"]
  | readonly ["prompts"]
  | readonly ["has prompted"]
  | readonly ["types", string]
  | readonly ["sets up"]
  | readonly ["begins"]
  | readonly ["begins noisy"];

/** The line of a command; runs of 8 bytes and more are taken for its echo. */
const LINE = "{ run 'command'; } && close\n";

function play(
  steps: readonly Step[],
  cut: (bytes: Uint8Array) => readonly Uint8Array[],
): { output: string; rest: string } {
  const late = new Late();
  for (const step of steps) {
    switch (step[0]) {
      case "prints":
        for (const piece of cut(bytesOf(step[1]))) late.push(piece);
        break;
      case "ends":
        late.afterEnd(false, false);
        break;
      case "ends bare":
        late.afterEnd(true, false);
        break;
      case "ends bare, noisy":
        late.afterEnd(true, true);
        break;
      case "prompts":
        late.afterPromptStart();
        break;
      case "has prompted":
        late.afterPrompt();
        break;
      case "types":
        late.beforeTyping(bytesOf(step[1]));
        break;
      case "sets up":
        late.beforeSetUp();
        break;
      case "begins noisy":
        late.afterBegin();
    }
  }
  const { output, restOfEcho } = late.afterStart();
  return { output, rest: Buffer.from(restOfEcho).toString() };
}

const CASES: readonly [string, readonly Step[], string][] = [
  ["output of a job is kept", [["ends bare"], ["prints", "late\n"]], "late"],
  [
    "in the order in which it came",
    [["ends bare"], ["prints", "a\n"], ["has prompted"], ["prints", "b\n"]],
    "a\nb",
  ],
  ["colours are left out", [["ends bare"], ["prints", "\x1b[31mred\x1b[0m\n"]], "red"],
  ["titles are left out", [["ends bare"], ["prints", "\x1b]0;title\x07text\n"]], "text"],
  ["characters of several bytes are whole", [["ends bare"], ["prints", "ä€漢😀\n"]], "ä€漢😀"],
  ["CR before LF is left out", [["ends bare"], ["prints", "a\r\nb\r\n"]], "a\nb"],
  [
    "what moves the cursor is left out",
    [["ends bare"], ["prints", "\x1b[2K\x1b[1Gdone\x1b[5;7H!\n"]],
    "done!",
  ],
  ["a marked prompt is none", [["ends"], ["prints", "user@host $ "], ["has prompted"]], ""],
  [
    "a notice about a job is kept from a prompt",
    [["ends"], ["prints", "[1]+  Done    sleep 1\nuser $ "], ["has prompted"]],
    "[1]+  Done    sleep 1",
  ],
  [
    "several notices too, without the blanks at their ends",
    [["ends"], ["prints", "[1]-  Exit 3    a  \nx\n[2]+  Done    b\n$ "], ["has prompted"]],
    "[1]-  Exit 3    a\n[2]+  Done    b",
  ],
  ["the echo of our lines is none", [["types", LINE], ["prints", LINE], ["begins"]], ""],
  [
    "output between the pieces of the echo is kept",
    [
      ["types", LINE],
      ["prints", `${LINE.slice(0, 9)}X${LINE.slice(9, 19)}Y${LINE.slice(19)}Z`],
    ],
    "XYZ",
  ],
  [
    "output before the echo is kept",
    [["ends bare"], ["types", LINE], ["prints", `job\n${LINE}`], ["begins"]],
    "job",
  ],
  [
    "lines of jobs are kept while the echo has not come",
    [["ends bare"], ["types", LINE], ["prints", "job 1\njob 2\n"], ["prints", LINE]],
    "job 1\njob 2",
  ],
  [
    "the echo is none either when it comes after the begin",
    [
      ["ends bare"],
      ["types", LINE],
      ["prints", LINE.slice(0, 10)],
      ["prints", `${LINE.slice(10)}job\n`],
    ],
    "job",
  ],
  [
    "a prompt before the echo of a line that was typed early is none",
    [["ends"], ["types", LINE], ["prints", "$ "], ["has prompted"], ["prints", LINE], ["begins"]],
    "",
  ],
  [
    "a prompt after the echo of a line that was typed early is none",
    [["ends"], ["types", LINE], ["prints", `${LINE}$ `], ["has prompted"], ["begins"]],
    "",
  ],
  [
    "a prompt within that echo is none",
    [
      ["ends"],
      ["types", LINE],
      ["prints", `${LINE.slice(0, 10)}$ `],
      ["has prompted"],
      ["prints", LINE.slice(10)],
    ],
    "",
  ],
  [
    "a prompt of two lines before that echo is none",
    [["ends"], ["types", LINE], ["prints", "user@host\n$ "], ["has prompted"], ["prints", LINE]],
    "",
  ],
  [
    "output after a prompt and before that echo is kept",
    [["ends"], ["types", LINE], ["prints", "$ "], ["has prompted"], ["prints", `job\n${LINE}`]],
    "job",
  ],
  [
    "a notice in a prompt is kept, a line typed early or not",
    [
      ["ends"],
      ["types", LINE],
      ["prints", "[1]+  Done    a\n$ "],
      ["has prompted"],
      ["prints", LINE],
    ],
    "[1]+  Done    a",
  ],
  [
    "what comes between begin and start is kept",
    [
      ["types", LINE],
      ["prints", LINE],
      ["prints", "job\n"],
    ],
    "job",
  ],
  [
    "but not if our words may leave traces",
    [["types", LINE], ["prints", `a\n${LINE}`], ["begins noisy"], ["prints", "+ trace\n"]],
    "a",
  ],
  [
    "under set -v, what comes after the typing is none",
    [["ends bare, noisy"], ["prints", "job\n"], ["types", LINE], ["prints", `${LINE}trace\n`]],
    "job",
  ],
  [
    "neither is what comes after the begin then",
    [["ends bare, noisy"], ["types", LINE], ["prints", LINE], ["prints", "trace\n"]],
    "",
  ],
  [
    "after the next end it is kept again",
    [["begins noisy"], ["prints", "trace"], ["ends bare"], ["prints", "late"]],
    "late",
  ],
  [
    "while the shell is set up nothing is output",
    [
      ["ends bare"],
      ["prints", "job\n"],
      ["types", LINE],
      ["prints", LINE.slice(0, 10)],
      ["sets up"],
      ["prints", "^C\n> set-up\n"],
    ],
    "job",
  ],
  [
    "nor is the prompt afterwards, and then all is as ever",
    [
      ["sets up"],
      ["prints", "set-up\n"],
      ["ends"],
      ["prints", "$ "],
      ["has prompted"],
      ["prints", "job\n"],
      ["types", LINE],
      ["prints", LINE],
    ],
    "job",
  ],
  [
    "a sequence that a command left unfinished takes nothing from it",
    [["prints", "\x1b]0;unfinished"], ["ends bare"], ["prints", "job\n"]],
    "job",
  ],
  [
    "a prompt of the user's is none",
    [["ends bare"], ["prompts"], ["prints", "$ "], ["has prompted"]],
    "",
  ],
  [
    "output before and after a prompt is kept, in order",
    [
      ["ends bare"],
      ["prints", "a\n"],
      ["prompts"],
      ["prints", "user@host\n$ "],
      ["has prompted"],
      ["prints", "b\n"],
    ],
    "a\nb",
  ],
  [
    "a notice is kept in its place",
    [
      ["ends bare"],
      ["prints", "a\n"],
      ["prompts"],
      ["prints", "[1]+  Done    x\n$ "],
      ["has prompted"],
      ["prints", "b\n"],
    ],
    "a\n[1]+  Done    x\nb",
  ],
  [
    "what PROMPT_COMMAND prints is none, in front of a prompt or without one",
    [["ends"], ["prints", "status line\n"], ["prompts"], ["prints", "$ "], ["has prompted"]],
    "",
  ],
];

describe("between two commands", () => {
  test.each(CASES)("%s", (_, steps, text) => {
    expect(play(steps, (bytes) => [bytes]).output).toBe(text);
  });

  test.each(CASES)("%s, in whatever pieces it comes", (_, steps, text) => {
    const longest = Math.max(...steps.map((step) => (step[0] === "prints" ? step[1].length : 0)));
    for (let at = 1; at < longest; at++) {
      const cut = (bytes: Uint8Array): Uint8Array[] => [bytes.subarray(0, at), bytes.subarray(at)];
      expect({ at, text: play(steps, cut).output }).toEqual({ at, text });
    }
  });

  test("each text is taken once", () => {
    const late = new Late();
    late.push(bytesOf("once\n"));
    expect(late.afterStart().output).toBe("once");
    expect(late.afterStart().output).toBe("");
    late.push(bytesOf("again\n"));
    expect(late.afterStart().output).toBe("again");
  });

  test("of much output the end is kept, with a word about the rest", () => {
    const late = new Late();
    for (let i = 0; i < 5_000; i++) late.push(bytesOf(`line ${i}\n`));
    const text = late.afterStart().output;
    expect(text).toMatch(/^\[… \d+ characters left out …\]\n/);
    expect(text.endsWith("\nline 4999")).toBe(true);
    expect(text.length).toBeLessThan(16_100);
  });

  test("the end is kept also when it all comes at once", () => {
    const late = new Late();
    late.push(bytesOf("y\n".repeat(30_000)));
    const text = late.afterStart().output;
    expect(text).toMatch(/^\[… 43999 characters left out …\]\n/);
    expect(text.length).toBeLessThan(16_100);
  });
});

describe("much output", () => {
  test("that comes before a line is read is not all kept in memory", () => {
    const late = new Late();
    late.afterEnd(true, false);
    late.beforeTyping(bytesOf(LINE));
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 2_000; i++) late.push(new Uint8Array(65_536).fill(0x79));
    expect((process.memoryUsage().arrayBuffers - before) / 2 ** 20).toBeLessThan(32);
    expect(late.afterStart().output.length).toBeLessThan(16_100);
  });
});

describe("what has not been echoed at the start", () => {
  test.each<[string, string, string]>([
    ["is nothing after the whole echo", LINE, ""],
    ["is the whole line without one", "", LINE],
    ["is the whole line after output alone", "job\n", LINE],
    ["is the end of the line after a part", LINE.slice(0, 11), LINE.slice(11)],
    ["is that too with output after the part", `${LINE.slice(0, 11)}job\n`, LINE.slice(11)],
  ])("%s", (_, printed, rest) => {
    for (const pieces of everyCut(bytesOf(printed))) {
      const steps: Step[] = [["ends bare"], ["types", LINE], ["prints", printed], ["begins"]];
      expect(play(steps, () => pieces).rest).toBe(rest);
    }
  });

  test("is nothing after the next end", () => {
    const steps: Step[] = [["types", LINE], ["ends bare"]];
    expect(play(steps, (bytes) => [bytes]).rest).toBe("");
  });
});
