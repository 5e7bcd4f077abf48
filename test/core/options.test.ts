import { describe, expect, test } from "vitest";
import {
  resolveRunOptions,
  resolveShellOptions,
  resolveWaitOptions,
} from "../../src/core/options.ts";

const defaults = resolveShellOptions({});

/** Options as a caller without types may give them. */
// biome-ignore lint/suspicious/noExplicitAny: wrong options are what this is about
type Anything = any;

function refused(message: RegExp): Error {
  return expect.objectContaining({
    name: "EvershellError",
    code: "BAD_OPTION",
    message: expect.stringMatching(message),
  });
}

describe("the options of a shell", () => {
  test("are all there without being given", () => {
    expect(defaults).toEqual({
      timeoutMs: 300_000,
      maxOutputChars: 1_000_000,
      keep: "head",
      onTimeout: "reset",
      onAbort: "reset",
      env: {},
      cols: 120,
      rows: 40,
      rc: "none",
      bash: "bash",
      backend: null,
      onShellEnd: "reopen",
      startTimeoutMs: 10_000,
      graceMs: 3_000,
      keepDetached: false,
      scrub: {},
    });
  });

  test("are taken as given", () => {
    const given = {
      timeoutMs: null,
      maxOutputChars: 1,
      keep: "both",
      onTimeout: "interrupt",
      onAbort: "interrupt",
      cwd: "/tmp",
      env: { A: "1", B: undefined },
      cols: 1000,
      rows: 1,
      rc: "user",
      bash: "/bin/bash",
      backend: ["ssh", "-tt", "host"],
      onShellEnd: "close",
      spillDir: "/tmp",
      startTimeoutMs: 1,
      graceMs: 2 ** 31 - 1,
      keepDetached: true,
      scrub: { allow: ["A_TOKEN"], deny: ["B_*"] },
    } as const;
    expect(resolveShellOptions(given)).toEqual(given);
  });

  test.each<[string, Anything, RegExp]>([
    ["an unknown name", { timeout: 5 }, /^openShell: timeout is no option/],
    ["no time", { timeoutMs: 0 }, /^openShell: timeoutMs must be at least 1 ms; received 0$/],
    ["half a millisecond", { timeoutMs: 0.5 }, /timeoutMs must be a whole number.*received 0\.5$/],
    ["more than a timer can wait", { timeoutMs: 2 ** 31 }, /timeoutMs must be at most 2147483647/],
    ["NaN", { graceMs: Number.NaN }, /graceMs must be .*received NaN$/],
    ["endless time", { timeoutMs: Infinity }, /timeoutMs must be .*received Infinity$/],
    ["text for a number", { cols: "80" }, /cols must be a number of cells; received "80"$/],
    ["no column", { cols: 0 }, /cols must be 1 to 1000 cells; received 0$/],
    ["too many rows", { rows: 1001 }, /rows must be 1 to 1000 cells; received 1001$/],
    ["no limit of output", { maxOutputChars: null }, /maxOutputChars must be a number of char/],
    [
      "an unknown policy",
      { onTimeout: "kill" },
      /onTimeout must be "reset" or "interrupt".*"kill"/,
    ],
    ["an unknown part", { keep: "middle" }, /keep must be "head" or "tail" or "both"/],
    ["an empty folder", { cwd: "" }, /cwd must not be empty/],
    ["an environment of numbers", { env: { PORT: 80 } }, /env\.PORT must be a string or undefined/],
    ["an environment of null", { env: { PORT: null } }, /env\.PORT must be a string or undefined/],
    ["waitMs, which is of a run", { waitMs: 5 }, /waitMs is no option/],
    ["null", null, /options/],
    ["a string", "cwd", /options/],
  ])("refuse %s, with name, rule and value", (_, options, message) => {
    expect(() => resolveShellOptions(options)).toThrow(refused(message));
  });
});

describe("the options of a command", () => {
  test("are those of the shell without being given", () => {
    const shell = resolveShellOptions({ timeoutMs: 5, keep: "tail", onAbort: "interrupt" });
    expect(resolveRunOptions({}, shell)).toEqual({
      timeoutMs: 5,
      maxOutputChars: 1_000_000,
      keep: "tail",
      onTimeout: "reset",
      onAbort: "interrupt",
      waitMs: null,
      signal: null,
      onOutput: null,
    });
  });

  test("win over those of the shell, null included", () => {
    const shell = resolveShellOptions({ timeoutMs: 5, maxOutputChars: 7 });
    const { signal } = new AbortController();
    const onOutput = (): void => undefined;
    const given = { timeoutMs: null, maxOutputChars: 9, waitMs: 3, signal, onOutput };
    expect(resolveRunOptions(given, shell)).toMatchObject(given);
  });

  test.each<[string, Anything, RegExp]>([
    ["an unknown name", { cwd: "/" }, /^run: cwd is no option/],
    ["no waiting", { waitMs: 0 }, /^run: waitMs must be at least 1 ms; received 0$/],
    ["a signal that is none", { signal: {} }, /signal must be an AbortSignal/],
    ["a listener that is none", { onOutput: "log" }, /onOutput must be a function/],
    ["null for a policy", { onAbort: null }, /onAbort must be "reset" or "interrupt"/],
  ])("refuse %s, with name, rule and value", (_, options, message) => {
    expect(() => resolveRunOptions(options, defaults)).toThrow(refused(message));
  });
});

describe("the options of waiting", () => {
  test("are no limit and no signal without being given", () => {
    expect(resolveWaitOptions({})).toEqual({ waitMs: null, signal: null, onOutput: null });
  });

  test.each<[string, Anything, RegExp]>([
    ["an unknown name", { timeoutMs: 5 }, /^wait: timeoutMs is no option/],
    ["a negative time", { waitMs: -1 }, /^wait: waitMs must be at least 1 ms; received -1$/],
  ])("refuse %s, with name, rule and value", (_, options, message) => {
    expect(() => resolveWaitOptions(options)).toThrow(refused(message));
  });
});
