import { describe, expect, test } from "vitest";
import { type Mark, MarkScanner, markInShell, parseMark } from "../../src/core/marks.ts";
import { bytesOf, everyCut } from "./pieces.ts";

const NONCE = "0123abcd";

/** What bash's `printf` makes of a mark as it stands in the shell. */
function mark(fields: string, nonce: string = NONCE): string {
  return markInShell(nonce, fields)
    .replace("\\030", "\x18")
    .replace("\\033", "\x1b")
    .replace("\\a", "\x07");
}

/** Output and marks in order, with neighbouring output joined. */
function scan(pieces: readonly Uint8Array[]): (string | Mark)[] {
  const scanner = new MarkScanner(NONCE);
  const found: (Uint8Array | Mark)[] = [];
  const take = (item: Uint8Array | Mark): void => void found.push(item);
  for (const piece of pieces) scanner.scan(piece, take, take);
  const joined: (string | Mark)[] = [];
  let bytes: number[] = [];
  const flush = (): void => {
    if (bytes.length > 0) joined.push(Buffer.from(bytes).toString("latin1"));
    bytes = [];
  };
  for (const item of found) {
    if (item instanceof Uint8Array) bytes.push(...item);
    else {
      flush();
      joined.push(item);
    }
  }
  flush();
  return joined;
}

const start: Mark = { kind: "start", id: "a1" };
const end = {
  kind: "end",
  id: "a1",
  status: 3,
  bare: true,
  cwd: "/tmp",
} as const satisfies Mark;

describe("marks in a stream", () => {
  test.each<[string, string, (string | Mark)[]]>([
    ["none", "plain text\n", ["plain text\n"]],
    ["one between outputs", `a${mark("S;a1")}b`, ["a", start, "b"]],
    ["two next to each other", mark("S;a1") + mark("E;a1;3;b;/tmp"), [start, end]],
    ["one after a CAN of the output", `a\x18${mark("S;a1")}`, ["a\x18", start]],
    ["one after an unfinished OSC", `\x1b]0;title${mark("S;a1")}x`, ["\x1b]0;title", start, "x"]],
    ["one after an unfinished mark", `\x18\x1b]81${mark("S;a1")}`, ["\x18\x1b]81", start]],
    ["of another shell", mark("S;a1", "ffffffff"), [mark("S;a1", "ffffffff")]],
    ["of an unknown kind", `a${mark("X;1")}b`, ["ab"]],
    ["without CAN", mark("S;a1").slice(1), [mark("S;a1").slice(1)]],
  ])("%s, wherever the stream is cut", (_, text, expected) => {
    for (const pieces of everyCut(bytesOf(text))) expect(scan(pieces)).toEqual(expected);
  });

  test("the bytes of the output are untouched, whatever they are", () => {
    const every = Uint8Array.from({ length: 512 }, (_, i) => i);
    const stream = Buffer.concat([every, bytesOf(mark("S;a1")), every]);
    const text = Buffer.from(every).toString("latin1");
    for (const pieces of everyCut(stream)) expect(scan(pieces)).toEqual([text, start, text]);
  });

  test("the beginning of a mark is held back until it is known to be none", () => {
    expect(scan([bytesOf("a\x18\x1b]81")])).toEqual(["a"]);
    expect(scan([bytesOf("a\x18\x1b]81"), bytesOf("99;")])).toEqual(["a\x18\x1b]8199;"]);
  });

  test("a mark that never ends is given out as output", () => {
    const stream = `${mark("S;").slice(0, -1)}${"x".repeat(40_000)}`;
    expect(scan([bytesOf(stream)])).toEqual([stream]);
    expect(scan([bytesOf(stream), bytesOf(mark("S;a1"))])).toEqual([stream, start]);
  });

  test("a path of 4 096 bytes, each escaped, fits into a mark", () => {
    const path = `/${"\x01".repeat(4_095)}`;
    const quoted = `$'/${"\\001".repeat(4_095)}'`;
    expect(scan([bytesOf(mark(`E;a1;3;b;${quoted}`))])).toEqual([{ ...end, cwd: path }]);
  });
});

describe("what a mark says", () => {
  test.each<[string, Mark | null]>([
    ["R;4711;2", { kind: "ready", pid: 4711, promptLines: 3 }],
    ["B;a1", { kind: "begin", id: "a1" }],
    ["S;a1", start],
    ["P;4711;130", { kind: "prompt", pid: 4711, status: 130 }],
    ["E;a1;3;b;/tmp", end],
    ["Q;4711", { kind: "promptStart", pid: 4711 }],
    ["E;a1;0;;", { ...end, status: 0, bare: false, cwd: null }],
    ["E;a1;0;b;", { ...end, status: 0, cwd: null }],
    ["E;a1;130;;/tmp", { ...end, status: 130, bare: false }],
    ["E;a1;3;b;/a\\;b\\ c", { ...end, cwd: "/a;b c" }],
    ["E;a1;3;b;/a;b", { ...end, cwd: "/a;b" }],
    ["E;a1;3;b;$'/a\\nb'", { ...end, cwd: "/a\nb" }],
    ["E;a1;3;b;''", { ...end, cwd: "" }],
    ["", null],
    ["X;1", null],
    ["constructor;1", null],
  ])("%j", (body, expected) => {
    expect(parseMark(body)).toEqual(expected);
  });
});
