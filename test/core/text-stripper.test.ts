import { describe, expect, test } from "vitest";
import { TextStripper } from "../../src/core/text-stripper.ts";
import { bytesOf, everyCut } from "./pieces.ts";

function strip(pieces: readonly Uint8Array[]): string {
  const stripper = new TextStripper();
  return pieces.map((piece) => stripper.strip(piece)).join("");
}

describe("the text of a stream", () => {
  test.each<[string, string, string]>([
    ["is all of plain text", "plain\ttext\n", "plain\ttext\n"],
    ["has whole characters", "ä€漢😀e\u0301\n", "ä€漢😀e\u0301\n"],
    ["has a byte order mark where it stands", "\ufeffa\ufeffb", "\ufeffa\ufeffb"],
    ["is without colours", "\x1b[1;31mred\x1b[0m.", "red."],
    ["is without colours in sub-parameters", "\x1b[38:2:1:2:3mx", "x"],
    ["is without private modes", "\x1b[?25la\x1b[>4;2mb\x1b[=1cc", "abc"],
    ["is without sequences with intermediates", "\x1b[2 qa\x1b[!pb\x1b[?25$pc", "abc"],
    ["is without movements", "\x1b[2K\x1b[1Gdone\x1b[5;7H!", "done!"],
    ["is without titles, ended by BEL", "\x1b]0;title\x07text", "text"],
    ["is without titles, ended by ST", "\x1b]2;title\x1b\\text", "text"],
    ["is without titles of any characters", "\x1b]2;ä漢😀\x1b\\text", "text"],
    ["is without links", "\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\.", "link."],
    [
      "is without DCS, SOS, PM and APC",
      "\x1bPq1\x1b\\a\x1bXs\x1b\\b\x1b^p\x1b\\c\x1b_a\x1b\\d",
      "abcd",
    ],
    ["goes on after a string that CAN ends", "\x1b]0;title\x18text", "text"],
    ["goes on after a string that SUB ends", "\x1bPdata\x1atext", "text"],
    ["goes on after a string that another sequence ends", "\x1b]0;title\x1b[31mtext", "text"],
    ["is without character sets", "\x1b(0\x1b)Btext\x1b#8.", "text."],
    ["is without short sequences", "\x1b7a\x1b8b\x1b=c\x1bMd\x1bce", "abcde"],
    ["is without controls", "a\x00b\x07c\x0bd\x0ce\x7ff\x18g", "abcdefg"],
    ["is without CR", "a\r\nb\r\r\nc\r", "a\nb\nc"],
    ["is without discarded characters", "\b \b\b \btext", "text"],
    ["is without a lone backspace", "a\bb", "ab"],
    ["has what follows a lone ESC at a newline", "a\x1b\nb", "a\nb"],
  ])("%s, wherever it is cut", (_, stream, text) => {
    for (const pieces of everyCut(bytesOf(stream))) {
      expect({ cuts: pieces.length, first: pieces[0]?.length, text: strip(pieces) }).toEqual({
        cuts: pieces.length,
        first: pieces[0]?.length,
        text,
      });
    }
  });

  test.each<[string, string]>([
    ["CSI", "\x1b[12;"],
    ["CSI with an intermediate", "\x1b[2 "],
    ["OSC", "\x1b]0;title"],
    ["OSC with half of its end", "\x1b]0;title\x1b"],
    ["DCS", "\x1bPdata"],
    ["escape sequence", "\x1b("],
    ["ESC", "\x1b"],
  ])("holds back an unfinished %s", (_, unfinished) => {
    const stripper = new TextStripper();
    expect(stripper.strip(bytesOf(`text${unfinished}`))).toBe("text");
    expect(stripper.strip(bytesOf(""))).toBe("");
  });

  test("holds back a part of a character", () => {
    const stripper = new TextStripper();
    const [first, second] = [bytesOf("a€").subarray(0, 2), bytesOf("a€").subarray(2)];
    expect(stripper.strip(first)).toBe("a");
    expect(stripper.strip(second)).toBe("€");
  });

  test("is not held back for long by what only begins like a sequence", () => {
    const text = "x".repeat(10_000);
    for (const size of [1, 100, 10_000]) {
      const bytes = bytesOf(`\x1b]${text}\nmore\n`);
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      expect(strip(pieces).endsWith("\nmore\n") || strip(pieces) === "").toBe(true);
    }
  });

  test("takes little time whatever comes", () => {
    for (const unit of ["\x1b", "\x1b[", "\x1b]", "\x1b[1;", "\b", "\b ", "\x1b ", "\x1bP\x1b"]) {
      const bytes = bytesOf(unit.repeat(50_000));
      const before = performance.now();
      strip([bytes]);
      expect({ unit, quick: performance.now() - before < 500 }).toEqual({ unit, quick: true });
    }
  });
});
