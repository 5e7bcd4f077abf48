import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ForeignEnding } from "../../src/core/foreign-ending.ts";
import { Watcher } from "../../src/core/watcher.ts";
import { bytesOf, everyCut } from "./pieces.ts";

const EXIT: ForeignEnding = { line: "exit", lines: 1, glued: false, followed: false };

/** Longer than a line is held back. */
const A_MOMENT_MS = 1_000;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function watch(): { watcher: Watcher; heard: string[] } {
  const heard: string[] = [];
  return { watcher: new Watcher((text) => void heard.push(text)), heard };
}

describe("one who watches", () => {
  test("hears the output with its sequences, in whole characters, wherever it is cut", () => {
    const output = "\x1b[31mä€漢😀\x1b[0m\r\nexits\n";
    for (const pieces of everyCut(bytesOf(output))) {
      const { watcher, heard } = watch();
      for (const piece of pieces) expect(watcher.push(piece)).toBeUndefined();
      watcher.end(null);
      expect(heard.join("")).toBe(output);
      expect(heard.join("|")).not.toMatch(/\ufffd/);
      expect(heard).not.toContain("");
    }
  });

  test("hears the output at once", () => {
    const { watcher, heard } = watch();
    watcher.push(bytesOf("a"));
    expect(heard).toEqual(["a"]);
    watcher.push(bytesOf("b\n"));
    expect(heard).toEqual(["a", "b\n"]);
  });

  test("misses something when it throws, and hears the rest", () => {
    const heard: string[] = [];
    const watcher = new Watcher((text) => {
      heard.push(text);
      throw new Error("a watcher that fails");
    });
    expect(watcher.push(bytesOf("a"))).toBeUndefined();
    expect(watcher.push(bytesOf("b"))).toBeUndefined();
    expect(() => watcher.end(null)).not.toThrow();
    expect(heard).toEqual(["a", "b"]);
  });

  test("holds the command up no longer when its promise is rejected", async () => {
    const heard: string[] = [];
    const watcher = new Watcher(async (text) => {
      heard.push(text);
      throw new Error("a watcher that fails");
    });
    await expect(watcher.push(bytesOf("a"))).resolves.toBeUndefined();
    await expect(watcher.push(bytesOf("b\nexit\n"))).resolves.toBeUndefined();
    watcher.end(null);
    expect(heard).toEqual(["a", "b\n", "exit\n"]);
    await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  });

  test("holds the command up while its promise is pending", async () => {
    let settle: () => void = () => undefined;
    const watcher = new Watcher(() => new Promise<void>((resolve) => (settle = resolve)));
    let free = false;
    const held = (watcher.push(bytesOf("a")) as Promise<void>).then(() => {
      free = true;
    });
    await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
    expect(free).toBe(false);
    settle();
    await held;
    expect(free).toBe(true);
  });

  test("does not hold up the end, though its promise never settles", () => {
    const heard: string[] = [];
    const watcher = new Watcher((text) => {
      heard.push(text);
      return new Promise(() => undefined);
    });
    expect(watcher.push(bytesOf("a\nexit\n"))).toBeInstanceOf(Promise);
    expect(watcher.end(null)).toBeUndefined();
    expect(heard).toEqual(["a\n", "exit\n"]);
  });
});

describe("a last line that may be the shell's", () => {
  test("is not told when it is", async () => {
    const { watcher, heard } = watch();
    watcher.push(bytesOf("out\nexit\n"));
    expect(heard).toEqual(["out\n"]);
    watcher.end(EXIT);
    await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
    expect(heard).toEqual(["out\n"]);
  });

  test("is told at the end when it is not", () => {
    const { watcher, heard } = watch();
    watcher.push(bytesOf("exit\n"));
    expect(heard).toEqual([]);
    watcher.end(null);
    expect(heard).toEqual(["exit\n"]);
  });

  test("is told in its place when more comes", () => {
    const { watcher, heard } = watch();
    watcher.push(bytesOf("exit\n"));
    watcher.push(bytesOf("more\n"));
    expect(heard.join("")).toBe("exit\nmore\n");
    watcher.end(EXIT);
    expect(heard.join("")).toBe("exit\nmore\n");
  });

  test("is told after a moment when nothing more comes, and once", async () => {
    const { watcher, heard } = watch();
    watcher.push(bytesOf("out\nexit\n"));
    await vi.advanceTimersByTimeAsync(200);
    expect(heard).toEqual(["out\n"]);
    await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
    expect(heard).toEqual(["out\n", "exit\n"]);
    watcher.push(bytesOf("more\n"));
    watcher.end(EXIT);
    await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
    expect(heard).toEqual(["out\n", "exit\n", "more\n"]);
  });

  test("leaves no timer behind after the end", () => {
    const { watcher } = watch();
    watcher.push(bytesOf("exit\n"));
    watcher.end(EXIT);
    expect(vi.getTimerCount()).toBe(0);
  });
});
