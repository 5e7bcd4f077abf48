import { expect, test } from "vitest";
import { commandLines, setUp } from "../../src/core/bash.ts";

/** macOS takes 1 024 bytes of a line of input (MAX_CANON), its newline included. */
const MAX_LINE_BYTES = 1000;

function longestLine(text: string): number {
  return Math.max(...text.split("\n").map((line) => Buffer.byteLength(`${line}\n`)));
}

test("no line of the set-up is too long for a terminal", () => {
  expect(longestLine(setUp("0123456789abcdef".repeat(2), "user", true))).toBeLessThanOrEqual(
    MAX_LINE_BYTES,
  );
});

test.each([
  ["ASCII", "x"],
  ["quotes and controls", "'\t"],
  ["three bytes a character", "世"],
  ["surrogate pairs", "😀"],
])("no line of a command of any size is too long for a terminal: %s", (_, unit) => {
  for (let size = 1; size < 3_000; size += 7) {
    const command = { text: unit.repeat(size), number: 2 ** 31, id: "a1b2c3d4" };
    const line = commandLines({ ...command, hush: true, traced: true });
    expect(longestLine(new TextDecoder().decode(line)), `${size}`).toBeLessThanOrEqual(
      MAX_LINE_BYTES,
    );
  }
});
