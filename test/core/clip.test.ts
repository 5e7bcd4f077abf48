import { describe, expect, test } from "vitest";
import { Clip, type Clipped, type Keep } from "../../src/core/clip.ts";
import { random } from "../random.ts";

function clip(pieces: readonly string[], maxChars: number, keep: Keep): Clipped {
  const collected = new Clip(maxChars, keep);
  for (const piece of pieces) collected.push(piece);
  return collected.finish();
}

describe("a text", () => {
  test.each<[string, string, number, Keep, string, number]>([
    ["that fits is whole", "abc", 3, "head", "abc", 3],
    ["loses one newline at its end", "abc\n", 3, "head", "abc", 3],
    ["loses only one", "abc\n\n", 10, "tail", "abc\n", 4],
    ["keeps a newline in front", "\nabc", 10, "head", "\nabc", 4],
    ["of one newline is empty", "\n", 10, "both", "", 0],
    ["is cut behind its head", "abcdef", 4, "head", "abcd", 6],
    ["is cut before its tail", "abcdef", 4, "tail", "cdef", 6],
    ["is cut in the middle", "abcdef", 4, "both", "ab\n[… 2 characters left out …]\nef", 6],
    [
      "keeps the larger half in front",
      "abcdef",
      3,
      "both",
      "ab\n[… 3 characters left out …]\nf",
      6,
    ],
    ["keeps no half of a pair in front", "ab😀cd", 3, "head", "ab", 6],
    ["keeps no half of a pair behind", "ab😀cd", 3, "tail", "cd", 6],
    ["keeps no half on either side", "a😀bc😀d", 4, "both", "a\n[… 6 characters left out …]\nd", 8],
    ["of one character", "abc", 1, "tail", "c", 3],
    ["shows one character", "abc", 1, "both", "a", 3],
  ])("%s, in pieces of any size", (_, text, maxChars, keep, expected, totalChars) => {
    for (let size = 1; size <= text.length; size++) {
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, "gu")) ?? [];
      const clipped = clip(pieces, maxChars, keep);
      expect({ text: clipped.text, totalChars: clipped.totalChars }).toEqual({
        text: expected,
        totalChars,
      });
    }
  });

  test("is counted and kept alike in whatever pieces it comes", () => {
    for (let seed = 0; seed < 500; seed++) {
      const { below, pick } = random(seed);
      const pieces = Array.from({ length: below(20) }, () =>
        Array.from({ length: below(9) }, () => pick(["a", "b", "\n", "😀", "漢"])).join(""),
      );
      const keep = pick<Keep>(["head", "tail", "both"]);
      const maxChars = 1 + below(40);
      const whole = pieces.join("");
      const clipped = clip(pieces, maxChars, keep);
      expect({ seed, ...clipped }).toEqual({ seed, ...clip([whole], maxChars, keep) });
      const text = whole.replace(/\n$/, "");
      expect(clipped.totalChars).toBe(text.length);
      expect(clipped.shownChars).toBeLessThanOrEqual(maxChars);
      expect(clipped.shownChars).toBeGreaterThanOrEqual(Math.min(text.length, maxChars - 2));
      expect(clipped.text).not.toMatch(/\p{Surrogate}/u);
      if (text.length <= maxChars) expect(clipped.text).toBe(text);
      else if (keep === "head") expect(text.startsWith(clipped.text)).toBe(true);
      else if (keep === "tail") expect(text.endsWith(clipped.text)).toBe(true);
    }
  });

  test("of 200 MB is clipped without being kept", () => {
    const collected = new Clip(1_000, "both");
    const piece = "x".repeat(100_000);
    for (let i = 0; i < 2_000; i++) collected.push(piece);
    const { totalChars, shownChars, text } = collected.finish();
    expect({ totalChars, shownChars }).toEqual({ totalChars: 200_000_000, shownChars: 1_000 });
    expect(text.length).toBeLessThan(1_100);
  });
});
