import { describe, expect, test } from "vitest";
import { AppendOnlyReader } from "../../src/core/append-only.ts";
import { bytesOf, everyCut } from "./pieces.ts";

/** The text of the pieces; null once they paint. */
function read(pieces: readonly Uint8Array[]): string | null {
  const reader = new AppendOnlyReader();
  const texts: Uint8Array[] = [];
  for (const piece of pieces) {
    const text = reader.read(piece);
    if (text === null) return null;
    // The reader may hand out its own memory: keep a copy.
    texts.push(text.slice());
  }
  return Buffer.concat(texts).toString();
}

describe("output that only appends", () => {
  test.each([
    ["text", "hello world\n", "hello world\n"],
    ["tabs and blanks", "a\tb  \n \t\n", "a\tb  \n \t\n"],
    ["characters of several bytes", "ä€漢😀\n", "ä€漢😀\n"],
    ["colours", "\x1b[1;31mred\x1b[0m \x1b[mx\x1b[38:2::1:2:3my", "red xy"],
    ["CR before LF", "a\r\nb\r\n", "a\nb\n"],
    ["several CR before LF", "a\r\r\nb", "a\nb"],
    ["CR at the very end", "a\r", "a"],
    ["bells, NUL and DEL", "a\x07b\x00c\x7fd", "abcd"],
    ["other controls without effect", "a\x01\x02\x06\x10\x17\x19\x1c\x1fb", "ab"],
    ["a title ended by BEL", "\x1b]0;title\x07x", "x"],
    ["a title ended by ST", "\x1b]2;title\x1b\\x", "x"],
    ["a title ended by CAN", "\x1b]0;title\x18x", "x"],
    ["a title with a newline inside", "\x1b]0;a\nb\x07x", "x"],
    ["a hyperlink", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\.", "link."],
    ["an OSC that a colour follows", "\x1b]0;t\x1b[1mx", "x"],
    ["erasing to the end of line and screen", "a\x1b[K\x1b[0K\x1b[J\x1b[0Jb", "ab"],
    ["the cursor's look", "\x1b[?25l\x1b[?25h\x1b[?12l\x1b[4 qx", "x"],
    ["bracketed paste", "\x1b[?2004hx\x1b[?2004l", "x"],
    ["tput sgr0", "\x1b(B\x1b[mx", "x"],
    ["the keypad's modes", "\x1b=\x1b>x", "x"],
    ["an unfinished sequence", "x\x1b[3", "x"],
    ["nothing", "", ""],
  ])("is its text, wherever it is cut: %s", (_, output, text) => {
    for (const pieces of everyCut(bytesOf(output))) expect(read(pieces)).toBe(text);
  });
});

describe("output that paints", () => {
  test.each([
    ["CR before text", "50%\r100%"],
    ["CR before a sequence", "a\r\x1b[K"],
    ["backspace", "a\bb"],
    ["vertical tab", "a\vb"],
    ["form feed", "a\fb"],
    ["shift out", "a\x0eb"],
    ["shift in", "a\x0fb"],
    ["cursor up", "a\x1b[A"],
    ["cursor position", "\x1b[1;1H"],
    ["erasing before the cursor", "a\x1b[1K"],
    ["erasing the screen", "\x1b[2J"],
    ["erasing the scrollback", "\x1b[3J"],
    ["the alternate screen", "\x1b[?1049h"],
    ["autowrap off", "\x1b[?7l"],
    ["two modes at once", "\x1b[?25;1049h"],
    ["saving the cursor", "\x1b7"],
    ["saving the cursor (CSI)", "\x1b[s"],
    ["index", "\x1bD"],
    ["reset", "\x1bc"],
    ["line drawing", "\x1b(0lqk"],
    ["a second character set", "\x1b)0"],
    ["repeating", "a\x1b[3b"],
    ["inserting", "\x1b[4h"],
    ["a device control string", "\x1bPq\x1b\\"],
    ["a control inside a sequence", "\x1b[1\r2m"],
    ["a question about the cursor", "\x1b[6n"],
    ["a private colour sequence", "\x1b[>4;1m"],
    ["an endless sequence", `\x1b[${"1;".repeat(200)}m`],
  ])("is none, wherever it is cut: %s", (_, output) => {
    for (const pieces of everyCut(bytesOf(output))) expect(read(pieces)).toBeNull();
  });
});
