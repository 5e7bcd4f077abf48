/** The last bytes of an output as text: cut at every byte of UTF-8. */

import { describe, expect, test } from "vitest";
import { Tail } from "../../src/core/tail.ts";
import { random } from "../random.ts";
import { bytesOf, everyCut } from "./pieces.ts";

function tailOf(pieces: Iterable<Uint8Array>, maxBytes: number): Tail {
  const tail = new Tail(maxBytes);
  for (const piece of pieces) tail.push(piece);
  return tail;
}

/** The longest end of a text that takes no more than so many bytes. */
function endOf(text: string, maxBytes: number): string {
  const characters = [...text];
  let end = "";
  while (characters.length > 0) {
    const longer = characters.pop() + end;
    if (bytesOf(longer).length > maxBytes) break;
    end = longer;
  }
  return end;
}

describe("a tail", () => {
  test("of nothing is empty", () => {
    const tail = new Tail(4);
    expect([tail.text(), tail.totalBytes, tail.truncated]).toEqual(["", 0, false]);
  });

  test("of what fits is all of it, to the byte", () => {
    const text = "\ufeffé漢😀\0\r\n";
    const { length } = bytesOf(text);
    for (const pieces of everyCut(bytesOf(text))) {
      const tail = tailOf(pieces, length);
      expect([tail.text(), tail.totalBytes, tail.truncated]).toEqual([text, length, false]);
    }
  });

  test("is never cut inside of a character, whatever the limit and the pieces", () => {
    const text = "aé漢😀z\u0301👩‍💻ß";
    const bytes = bytesOf(text);
    for (let maxBytes = 1; maxBytes < bytes.length; maxBytes++) {
      for (const pieces of everyCut(bytes)) {
        const tail = tailOf(pieces, maxBytes);
        expect([maxBytes, tail.text()]).toEqual([maxBytes, endOf(text, maxBytes)]);
        expect([tail.totalBytes, tail.truncated]).toEqual([bytes.length, true]);
      }
    }
  });

  test("can be read at any time, and goes on", () => {
    const text = "eins zwei drei ä ö ü 漢字 😀".repeat(20);
    const tail = new Tail(50);
    let so = new Uint8Array();
    for (const byte of bytesOf(text)) {
      tail.push(Uint8Array.of(byte));
      so = Uint8Array.from([...so, byte]);
      const kept = so.slice(-50);
      const start = so.length > 50 ? kept.findIndex((each) => (each & 0xc0) !== 0x80) : 0;
      expect(tail.text()).toBe(
        new TextDecoder("utf-8", { ignoreBOM: true }).decode(kept.slice(start)),
      );
    }
    expect(tail.totalBytes).toBe(bytesOf(text).length);
  });

  test("shows what is no UTF-8 as U+FFFD, a whole cut off from its beginning too", () => {
    expect(tailOf([Uint8Array.of(0x61, 0xff, 0x62)], 10).text()).toBe("a\ufffdb");
    expect(tailOf([Uint8Array.of(0x61, 0xe6, 0xbc)], 10).text()).toBe("a\ufffd");
    expect(tailOf([new Uint8Array(100).fill(0xff)], 10).text()).toBe("\ufffd".repeat(10));
    // A run of bytes that only continue is no character that was cut off.
    expect(tailOf([new Uint8Array(100).fill(0x80)], 10).text()).toMatch(/^\ufffd{7,10}$/);
  });

  test("is the same in whatever pieces it comes", () => {
    for (let seed = 0; seed < 300; seed++) {
      const { below, pick } = random(seed);
      const text = Array.from({ length: below(200) }, () =>
        pick(["a", "\n", "é", "漢", "😀"]),
      ).join("");
      const bytes = bytesOf(text);
      const pieces: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; ) {
        const size = below(9);
        pieces.push(bytes.subarray(at, at + size));
        at += size;
      }
      const maxBytes = 1 + below(120);
      const tail = tailOf(pieces, maxBytes);
      expect({ seed, text: tail.text(), total: tail.totalBytes }).toEqual({
        seed,
        text: endOf(text, maxBytes),
        total: bytes.length,
      });
    }
  });

  test("of a million pieces of a byte takes little time", () => {
    const tail = new Tail(64_000);
    const start = performance.now();
    for (let i = 0; i < 1_000_000; i++) tail.push(Uint8Array.of(0x61 + (i % 26)));
    expect(tail.text()).toHaveLength(64_000);
    expect(tail.totalBytes).toBe(1_000_000);
    expect(performance.now() - start).toBeLessThan(3_000);
  });
});
