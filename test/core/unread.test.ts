/** Output that is read in parts: together they are the whole, and what is lost is told. */

import { describe, expect, test } from "vitest";
import { Unread } from "../../src/core/unread.ts";
import { random } from "../random.ts";
import { bytesOf, everyCut } from "./pieces.ts";

const TEXT = "\ufeffaé漢😀z\u0301👩‍💻ß\0\r\n";

describe("what nobody dropped", () => {
  test("is read once, in parts that are the whole, cut at every byte", () => {
    for (const pieces of everyCut(bytesOf(TEXT))) {
      const unread = new Unread(1_000);
      const parts = pieces.map((piece) => {
        unread.push(piece);
        return unread.take(false);
      });
      parts.push(unread.take(true));
      expect(parts.map(({ text }) => text).join("")).toBe(TEXT);
      expect(parts.some(({ dropped }) => dropped)).toBe(false);
      expect(unread.take(true)).toEqual({ text: "", dropped: false });
    }
  });

  test("never shows a part of a character before the rest has come", () => {
    const unread = new Unread(1_000);
    const parts = Array.from(bytesOf("漢"), (byte) => {
      unread.push(Uint8Array.of(byte));
      return unread.take(false).text;
    });
    expect(parts).toEqual(["", "", "漢"]);
  });

  test("shows what is no character as such: at once, or at the end if more could have come", () => {
    const unread = new Unread(1_000);
    unread.push(Uint8Array.of(0x61, 0xff, 0xe6, 0xbc));
    expect(unread.take(false).text).toBe("a\ufffd");
    expect(unread.take(false).text).toBe("");
    expect(unread.take(true).text).toBe("\ufffd");
    expect(unread.take(true).text).toBe("");
  });

  test("is the whole in whatever pieces it comes and is read", () => {
    for (let seed = 0; seed < 300; seed++) {
      const { below, pick } = random(seed);
      const text = Array.from({ length: below(100) }, () =>
        pick(["a", "\n", "é", "漢", "😀"]),
      ).join("");
      const bytes = bytesOf(text);
      const unread = new Unread(1_000);
      let read = "";
      for (let at = 0; at < bytes.length; ) {
        const size = below(9);
        unread.push(bytes.subarray(at, at + size));
        at += size;
        if (below(3) === 0) read += unread.take(false).text;
      }
      expect({ seed, read: read + unread.take(true).text }).toEqual({ seed, read: text });
    }
  });

  test("may be as long as the limit", () => {
    const unread = new Unread(10);
    unread.push(bytesOf("0123456789"));
    expect(unread.take(false)).toEqual({ text: "0123456789", dropped: false });
    unread.push(bytesOf("0123456789"));
    expect(unread.take(false)).toEqual({ text: "0123456789", dropped: false });
  });
});

describe("what was dropped", () => {
  test("is told once, with the end of what there was", () => {
    const unread = new Unread(10);
    for (const letter of "abcdefghijklmnopqrstuvwxyz".repeat(10)) unread.push(bytesOf(letter));
    expect(unread.take(false)).toEqual({ text: "qrstuvwxyz", dropped: true });
    expect(unread.take(false)).toEqual({ text: "", dropped: false });
    unread.push(bytesOf("more"));
    expect(unread.take(true)).toEqual({ text: "more", dropped: false });
  });

  test("is dropped at once if it comes at once", () => {
    const unread = new Unread(4);
    unread.push(bytesOf("abcdefgh"));
    expect(unread.take(false)).toEqual({ text: "efgh", dropped: true });
  });

  test("ends before a character, at every limit", () => {
    const bytes = bytesOf(TEXT.repeat(3));
    for (let maxBytes = 1; maxBytes < bytes.length; maxBytes++) {
      for (const size of [1, 2, 3, 5, 7, bytes.length]) {
        const unread = new Unread(maxBytes);
        for (let at = 0; at < bytes.length; at += size) unread.push(bytes.subarray(at, at + size));
        const { text, dropped } = unread.take(true);
        expect(dropped).toBe(true);
        expect(text).not.toContain("\ufffd");
        expect(TEXT.repeat(3).endsWith(text)).toBe(true);
        // At most a character is lost beyond what there is no room for.
        expect(bytesOf(text).length).toBeGreaterThan(maxBytes - 4);
        expect(bytesOf(text).length).toBeLessThanOrEqual(maxBytes);
      }
    }
  });

  test("takes half of a character with it that was read before, and leaves no trace of it", () => {
    const unread = new Unread(4);
    unread.push(bytesOf("漢").subarray(0, 2));
    expect(unread.take(false)).toEqual({ text: "", dropped: false });
    unread.push(bytesOf("漢").subarray(2));
    unread.push(bytesOf("0123456789"));
    expect(unread.take(false)).toEqual({ text: "6789", dropped: true });
  });

  test("does not keep the rest from being read in parts", () => {
    const unread = new Unread(6);
    unread.push(bytesOf("x".repeat(100)));
    unread.push(bytesOf("漢").subarray(0, 1));
    const first = unread.take(false);
    expect(first).toEqual({ text: "xxxxx", dropped: true });
    unread.push(bytesOf("漢").subarray(1));
    expect(unread.take(true)).toEqual({ text: "漢", dropped: false });
  });
});
