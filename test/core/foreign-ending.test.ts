import { describe, expect, test } from "vitest";
import { END_LINE } from "../../src/core/bash.ts";
import {
  type ForeignEnding,
  foreignEnding,
  possibleEndingAt,
  withoutEnding,
} from "../../src/core/foreign-ending.ts";
import type { RunEnd } from "../../src/core/result.ts";

const PROMPT: ForeignEnding = { line: null, lines: 1, glued: false, followed: false };
const EXITED: RunEnd = { kind: "shellExited", exitCode: 3, signal: null };
const KILLED: RunEnd = { kind: "shellExited", exitCode: null, signal: "SIGKILL" };

const OURS: ForeignEnding = { line: END_LINE, lines: 1, glued: true, followed: false };
const TOLD: ForeignEnding = { line: "exit", lines: 1, glued: true, followed: true };
const UNTOLD: ForeignEnding = { line: "exit", lines: 1, glued: false, followed: false };

describe("what the shell may print at the end of an output", () => {
  test.each<[string, RunEnd, string, ForeignEnding | null]>([
    ["our line when the command finished", { kind: "finished", exitCode: 0 }, "exit", OURS],
    ["its exit when the command says so", EXITED, "echo a; exit 3", TOLD],
    ["its exit in a word of its own", EXITED, "echo a;exit", TOLD],
    ["its exit when a function does", EXITED, "leave 3", UNTOLD],
    ["its exit when a word is only like it", EXITED, "exit_now; exiting", UNTOLD],
    ["nothing after a last exec", EXITED, "[ -e x ] && exit; exec false", null],
    ["its exit after an exec", EXITED, "exec 3>&1; exit 3", TOLD],
    ["nothing when it was killed", KILLED, "exit", null],
    ["a prompt when it was interrupted", { kind: "interrupted", exitCode: 130 }, "exit", PROMPT],
    ["nothing when its time was over", { kind: "timedOut", shellKept: false }, "exit", null],
  ])("is %s", (_, end, command, foreign) => {
    expect(foreignEnding(end, command, 1)).toEqual(foreign);
  });
});

describe("a text", () => {
  test.each([
    ["out\n(venv) $ ", "out\n"],
    ["out\n", "out\n"],
    ["out", "out"],
    ["", ""],
  ])("%j loses a prompt that stands on a line of its own", (text, rest) => {
    expect(withoutEnding(text, PROMPT)).toBe(rest);
  });

  test("loses as many lines as its prompt takes", () => {
    const prompt = { ...PROMPT, lines: 2 };
    expect(withoutEnding("out\n~/folder\n$ ", prompt)).toBe("out\n");
    expect(withoutEnding("\n~/folder\n$ ", prompt)).toBe("\n");
  });

  test.each<[string, string, ForeignEnding | null, string]>([
    ["of nothing foreign stays", "out\nexit\n", null, "out\nexit\n"],
    ["loses the line at its end", "out\nexit\n", UNTOLD, "out\n"],
    ["loses it on a screen too", "out\nexit", UNTOLD, "out\n"],
    ["loses it alone", "exit\n", UNTOLD, ""],
    ["loses it once", "exit\nexit\n", UNTOLD, "exit\n"],
    ["keeps another line", "out\n", UNTOLD, "out\n"],
    ["keeps its own end", "no exit\n", UNTOLD, "no exit\n"],
    ["loses a glued line", "outexit\n", TOLD, "out"],
    ["loses a followed line", "out\nexit\nbye\n", TOLD, "out\nbye\n"],
    ["loses a followed line at its beginning", "exit\nbye\n", TOLD, "bye\n"],
    ["loses the last of followed lines", "exit\na\nexit\nbye\n", TOLD, "exit\na\nbye\n"],
    ["keeps a followed line that is longer", "exit 3\nbye\n", TOLD, "exit 3\nbye\n"],
    ["keeps a line within if none may follow", "exit\nbye\n", UNTOLD, "exit\nbye\n"],
    ["loses our line", `out\n${END_LINE}\n`, OURS, "out\n"],
    ["loses our line glued", `out${END_LINE}\n`, OURS, "out"],
    ["keeps our line within", `${END_LINE}\nout\n`, OURS, `${END_LINE}\nout\n`],
    ["of nothing stays", "", TOLD, ""],
  ])("%s", (_, text, foreign, rest) => {
    expect(withoutEnding(text, foreign)).toBe(rest);
  });
});

describe("a text is held back", () => {
  test.each<[string, string, string]>([
    ["from a last line that is the exit", "out\nexit\n", "exit\n"],
    ["from one that the exit is glued to", "out\nno exit\n", "no exit\n"],
    ["from our line", `out\n${END_LINE}\n`, `${END_LINE}\n`],
    ["whole if it is one such line", "exit\n", "exit\n"],
    ["not at all without a newline", "out\nexit", ""],
    ["not at all before other lines", "exit\nout\n", ""],
    ["not at all if it is empty", "", ""],
  ])("%s", (_, text, held) => {
    expect(text.slice(possibleEndingAt(text))).toBe(held);
  });
});
