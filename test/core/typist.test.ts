import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Typist, type TypistHost } from "../../src/core/typist.ts";
import { type FakePty, fakePtys } from "../contract/fake-pty.ts";
import { bytesOf } from "./pieces.ts";

const TIMEOUT_MS = 1_000;
const SET_UP = "<set-up>\n";
const START_OVER = `\x03\n${SET_UP}`;
const KILL_LINE = "\x15";

const never = new AbortController().signal;

/** A typist, the terminal that it types into, and what it has told its host. */
interface Desk {
  readonly typist: Typist;
  readonly pty: FakePty;
  readonly told: string[];
  /** What was typed since the last call. */
  readonly typed: () => string;
}

async function sitDown(): Promise<Desk> {
  const { openPty, opened } = fakePtys();
  await openPty({
    argv: ["sh"],
    cwd: "/",
    env: {},
    cols: 80,
    rows: 24,
    tag: "none",
    keepDetached: false,
    onData: () => undefined,
  });
  const pty = opened[0] as FakePty;
  const told: string[] = [];
  const host: TypistHost = {
    pty,
    timeoutMs: TIMEOUT_MS,
    // All that is typed is echoed at once.
    received: () => pty.writtenText.length,
    setUp: () => {
      told.push("set-up");
      return bytesOf(SET_UP);
    },
    beforeLine: (line) => void told.push(`line of ${line.length}`),
    onLost: () => void told.push("lost"),
  };
  let seen = 0;
  const typed = (): string => {
    const text = pty.writtenText.slice(seen);
    seen += text.length;
    return text;
  };
  return { typist: new Typist(host), pty, told, typed };
}

/** Lets that much time pass. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe("a typist", () => {
  test("types the set-up", async () => {
    const { typist, typed, told, pty } = await sitDown();
    typist.typeSetUp();
    expect(typed()).toBe(SET_UP);
    await pass(10 * TIMEOUT_MS);
    expect({ told, repairs: pty.repairs, more: typed() }).toEqual({
      told: ["set-up"],
      repairs: 0,
      more: "",
    });
  });

  test("types a command that is taken, and nothing more", async () => {
    const { typist, typed, told, pty } = await sitDown();
    typist.typeCommand(bytesOf("true\n"));
    expect(typed()).toBe("true\n");
    typist.taken();
    typist.refused();
    typist.typeAgain();
    await pass(10 * TIMEOUT_MS);
    expect({ told, repairs: pty.repairs, more: typed() }).toEqual({
      told: ["line of 5"],
      repairs: 0,
      more: "",
    });
  });

  test("types a long line whole, in pieces that the terminal has room for", async () => {
    const { typist, typed, pty, told } = await sitDown();
    const line = `${"0123456789".repeat(10_000)}\n`;
    typist.typeCommand(bytesOf(line));
    await pass(100);
    typist.taken();
    expect(typed() === line).toBe(true);
    expect(Math.max(...pty.written.map((piece) => piece.length))).toBeLessThanOrEqual(16 * 1024);
    expect(told).toEqual([`line of ${line.length}`]);
  });

  test("waits with the next piece until the terminal has taken one, and gives time for each", async () => {
    const { typist, typed, pty, told } = await sitDown();
    const line = `${"0123456789".repeat(6_000)}\n`;
    pty.holdInput();
    typist.typeCommand(bytesOf(line));
    for (let piece = 0; piece < 4; piece++) {
      await pass(TIMEOUT_MS - 10);
      expect(typed()).toBe("");
      pty.releaseInput();
      expect(typed()).toBe(line.slice(piece * 16_384, (piece + 1) * 16_384));
      pty.holdInput();
      await pass(0);
    }
    typist.taken();
    expect({ told, repairs: pty.repairs }).toEqual({
      told: [`line of ${line.length}`],
      repairs: 0,
    });
  });

  test("types no more of a line that is no longer of interest", async () => {
    const { typist, typed, pty } = await sitDown();
    pty.holdInput();
    typist.typeCommand(bytesOf("x".repeat(50_000)));
    typist.forget();
    pty.releaseInput();
    await pass(10 * TIMEOUT_MS);
    expect(typed()).toHaveLength(16_384);
    expect(pty.repairs).toBe(0);
  });
});

describe("a command that the shell does not take", () => {
  test("is typed once more after a repair, when its time is over", async () => {
    const { typist, typed, pty, told } = await sitDown();
    typist.typeCommand(bytesOf("true\n"));
    await pass(TIMEOUT_MS - 1);
    expect(pty.repairs).toBe(0);
    await pass(100);
    expect({ repairs: pty.repairs, typed: typed() }).toEqual({
      repairs: 1,
      typed: `true\n${START_OVER}`,
    });
    typist.typeAgain();
    expect(typed()).toBe("true\n");
    typist.taken();
    await pass(10 * TIMEOUT_MS);
    expect({ told, more: typed() }).toEqual({
      told: ["line of 5", "set-up", "line of 5"],
      more: "",
    });
  });

  test("is typed once more soon after the prompt has come without it", async () => {
    const { typist, typed, pty } = await sitDown();
    typist.typeCommand(bytesOf("true\n"));
    typist.refused();
    await pass(20);
    expect(pty.repairs).toBe(0);
    await pass(200);
    expect({ repairs: pty.repairs, typed: typed() }).toEqual({
      repairs: 1,
      typed: `true\n${START_OVER}`,
    });
  });

  test("is not typed again when its begin comes soon after that prompt", async () => {
    const { typist, typed, pty } = await sitDown();
    typist.typeCommand(bytesOf("true\n"));
    typist.refused();
    await pass(20);
    typist.taken();
    await pass(10 * TIMEOUT_MS);
    expect({ repairs: pty.repairs, typed: typed() }).toEqual({ repairs: 0, typed: "true\n" });
  });

  test("is not typed again when the repair alone lets the shell take it", async () => {
    const { typist, typed, pty } = await sitDown();
    typist.typeCommand(bytesOf("true\n"));
    await pass(TIMEOUT_MS);
    expect(pty.repairs).toBe(1);
    typist.taken();
    await pass(10 * TIMEOUT_MS);
    expect({ repairs: pty.repairs, typed: typed() }).toEqual({ repairs: 1, typed: "true\n" });
  });

  test.each([
    ["the set-up is not answered", false],
    ["the command is not taken again either", true],
  ])("is lost when %s, once", async (_, answers) => {
    const { typist, pty, told } = await sitDown();
    typist.typeCommand(bytesOf("true\n"));
    await pass(TIMEOUT_MS + 100);
    if (answers) typist.typeAgain();
    expect(told).not.toContain("lost");
    await pass(TIMEOUT_MS + 100);
    expect(told.filter((each) => each === "lost")).toHaveLength(1);
    await pass(10 * TIMEOUT_MS);
    expect(told.filter((each) => each === "lost")).toHaveLength(1);
    expect(pty.repairs).toBe(1);
  });

  test("is lost soon when it is refused after the repair too", async () => {
    const { typist, told } = await sitDown();
    typist.typeCommand(bytesOf("true\n"));
    typist.refused();
    await pass(200);
    typist.typeAgain();
    typist.refused();
    await pass(200);
    expect(told.at(-1)).toBe("lost");
  });

  test("has a repair of its own, whatever the command before needed", async () => {
    const { typist, pty, told } = await sitDown();
    for (let command = 1; command <= 2; command++) {
      typist.typeCommand(bytesOf("true\n"));
      await pass(TIMEOUT_MS + 100);
      typist.typeAgain();
      typist.taken();
      expect(pty.repairs).toBe(command);
    }
    expect(told).not.toContain("lost");
  });

  test("is not repaired when it is forgotten meanwhile", async () => {
    const { typist, typed, told } = await sitDown();
    typist.typeCommand(bytesOf("true\n"));
    await pass(TIMEOUT_MS);
    typist.forget();
    await pass(10 * TIMEOUT_MS);
    expect({ told, typed: typed() }).toEqual({ told: ["line of 5"], typed: "true\n" });
  });

  test("is typed again from its beginning, and nothing of the first copy after that", async () => {
    const { typist, typed, pty } = await sitDown();
    const line = `${"0123456789".repeat(6_000)}\n`;
    pty.holdInput();
    typist.typeCommand(bytesOf(line));
    await pass(TIMEOUT_MS + 100);
    expect(pty.repairs).toBe(1);
    pty.releaseInput();
    await pass(10);
    typist.typeAgain();
    await pass(100);
    typist.taken();
    const [first = "", second = ""] = typed().split(START_OVER);
    expect(line.startsWith(first)).toBe(true);
    expect({ length: second.length, whole: second === line }).toEqual({
      length: line.length,
      whole: true,
    });
  });
});

describe("input for a program", () => {
  test("is typed in the order of the calls, one after another", async () => {
    const { typist, typed, pty } = await sitDown();
    pty.holdInput();
    const inputs = ["a", "b", "c"].map((text) => typist.typeInput(bytesOf(text), never));
    await pass(0);
    expect(typed()).toBe("");
    pty.releaseInput();
    await Promise.all(inputs);
    expect(typed()).toBe("abc");
  });

  test("that is dropped is refused, and the next is typed", async () => {
    const { typist, typed, pty } = await sitDown();
    pty.holdInput();
    const over = new AbortController();
    const dropped = typist.typeInput(bytesOf("dropped"), over.signal);
    const behind = typist.typeInput(bytesOf("behind"), over.signal);
    const next = typist.typeInput(bytesOf("next"), never);
    const outcomes = Promise.allSettled([dropped, behind]);
    await pass(0);
    over.abort();
    expect(await outcomes).toMatchObject([
      { status: "rejected", reason: { code: "NOT_RUNNING" } },
      { status: "rejected", reason: { code: "NOT_RUNNING" } },
    ]);
    await pass(0);
    pty.releaseInput();
    await next;
    expect(typed()).toBe("next");
  });

  test("is refused when the terminal has ended", async () => {
    const { typist, pty } = await sitDown();
    pty.end();
    await pty.delivered();
    await expect(typist.typeInput(bytesOf("a"), never)).rejects.toMatchObject({ code: "CLOSED" });
  });
});

describe("the line of a command", () => {
  test("discards what was typed for the program before, once", async () => {
    const { typist, typed } = await sitDown();
    await typist.typeInput(bytesOf("unread"), never);
    typist.typeCommand(bytesOf("true\n"));
    typist.taken();
    typist.typeCommand(bytesOf("false\n"));
    typist.taken();
    expect(typed()).toBe(`unread${KILL_LINE}true\nfalse\n`);
  });

  test("discards also what was dropped in part", async () => {
    const { typist, typed } = await sitDown();
    await typist.typeInput(bytesOf("a"), AbortSignal.abort()).catch(() => undefined);
    typist.typeCommand(bytesOf("true\n"));
    typist.taken();
    expect(typed()).toBe(`${KILL_LINE}true\n`);
  });

  test("starts over after a command that was forgotten before it was taken", async () => {
    const { typist, typed } = await sitDown();
    typist.typeCommand(bytesOf("cat <<EOF\n"));
    typist.forget();
    typist.typeCommand(bytesOf("true\n"));
    typist.taken();
    typist.forget();
    typist.typeCommand(bytesOf("false\n"));
    typist.taken();
    expect(typed()).toBe("cat <<EOF\n\x03\ntrue\nfalse\n");
  });

  test("needs none of that after the shell has been made ours again", async () => {
    const { typist, typed } = await sitDown();
    await typist.typeInput(bytesOf("unread"), never);
    typist.startOver();
    typist.typeCommand(bytesOf("true\n"));
    typist.taken();
    expect(typed()).toBe(`unread${START_OVER}true\n`);
  });
});
