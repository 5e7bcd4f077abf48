import { describe, expect, test } from "vitest";
import { Screen } from "../../src/core/screen.ts";
import { bytesOf, everyCut } from "./pieces.ts";

function open(cols: number, rows: number, onReply: (answer: string) => void = () => {}): Screen {
  return new Screen(cols, rows, onReply, true);
}

/** All text of a page: what scrolled off, then the rest. */
function textOf(screen: Screen, pieces: readonly Uint8Array[]): string {
  return pieces.map((piece) => screen.write(piece)).join("") + screen.rest();
}

describe("the text of a page", () => {
  test.each([
    ["a line", "hello", "hello"],
    ["lines", "a\nb\nc", "a\nb\nc"],
    ["CR LF", "a\r\nb\r\n", "a\nb\n"],
    ["trailing blanks are dropped", "a  \nb\t\n", "a\nb\n"],
    ["an overwritten line", "10%\r100%\n", "100%\n"],
    ["a backspace", "abc\b\bX", "aXc"],
    ["a row that wraps is one line", "0123456789abc\nx", "0123456789abc\nx"],
    ["a row filled exactly", "0123456789\nx", "0123456789\nx"],
    ["two rows filled exactly", "01234567890123456789\nx", "01234567890123456789\nx"],
    ["blanks where a row wraps", "012345678 abc", "012345678 abc"],
    ["a wide character that fits no more", "012345678漢b", "012345678漢b"],
    ["a wide character that just fits", "01234567漢b", "01234567漢b"],
    ["a wide character takes two cells", "漢\x1b[3Gx", "漢x"],
    ["a combining mark at the edge", "012345678e\u0301b", "012345678e\u0301b"],
    ["more than a screen", "1\n2\n3\n4\n5\n6\n7\n8", "1\n2\n3\n4\n5\n6\n7\n8"],
    ["a wrapped line that scrolls off", `${"x".repeat(45)}\n2\n3`, `${"x".repeat(45)}\n2\n3`],
    ["blank lines that scroll off", `a\n\n\n\n\n\nb`, "a\n\n\n\n\n\nb"],
    ["the cursor moved up", "a\nb\nc\x1b[2AX", "aX\nb\nc"],
    ["text below the cursor", "a\nb\nc\x1b[1;1H", "a\nb\nc"],
    ["an erased screen", "gone\x1b[2J\x1b[Hhere", "here"],
    ["scrolled off, then erased", "1\n2\n3\n4\n5\n6\x1b[2J\x1b[Hx", "1\n2\nx"],
    ["the scrollback thrown away", "1\n2\n3\n4\n5\n6\x1b[H\x1b[2J\x1b[3Jx", "1\n2\nx"],
    ["a reset", "1\n2\n3\n4\n5\n6\x1bcx", "1\n2\nx"],
    ["the alternate screen left again", "a\n\x1b[?1049hfull\x1b[?1049lb", "a\nb"],
    ["the alternate screen kept", "a\n\x1b[?1049h\x1b[Hfull", "full"],
    ["a scroll region at the top", "\x1b[1;2r1\n2\n3\n4", "1\n2\n3\n4"],
    ["a scroll region below the top", "\x1b[2;3r\x1b[2;1H1\n2\n3\n4", "\n3\n4"],
    ["line drawing", "\x1b(0lqk\x1b(B", "┌─┐"],
    ["controls without effect, DEL among them", "a\x00\x01\x05\x7fb\x1c", "ab"],
  ])("is what a person would see, wherever it is cut: %s", (_, output, text) => {
    const screen = open(10, 4);
    for (const pieces of everyCut(bytesOf(output))) {
      screen.turnPage();
      expect({ cuts: pieces.length, text: textOf(screen, pieces) }).toEqual({
        cuts: pieces.length,
        text,
      });
    }
  });

  test("is complete when it is far longer than the scrollback", () => {
    const lines = Array.from({ length: 30_000 }, (_, i) => `${i}`);
    expect(textOf(open(80, 24), [bytesOf(lines.join("\n"))])).toBe(lines.join("\n"));
  });

  test("is complete when one line is far longer than the scrollback", () => {
    const text = "0123456789".repeat(60_000);
    expect(textOf(open(120, 40), [bytesOf(text)]) === text).toBe(true);
  });

  test("is complete when rows are one cell wide", () => {
    const text = "x".repeat(20_000);
    expect(textOf(open(1, 1), [bytesOf(text)]) === text).toBe(true);
  });

  test("is handed out once", () => {
    const screen = open(10, 2);
    expect(screen.write(bytesOf("1\n2\n3\n4"))).toBe("1\n2\n");
    expect(screen.write(bytesOf("\n5"))).toBe("3\n");
    expect(screen.rest()).toBe("4\n5");
    expect(screen.rest()).toBe("4\n5");
  });

  test("scrolls off after the alternate screen as before it", () => {
    const screen = open(10, 2);
    const before = screen.write(bytesOf("1\n2\n3\n\x1b[?1049h"));
    expect(screen.write(bytesOf("a\nb\nc\nd\n"))).toBe("");
    const after = screen.write(bytesOf("\x1b[?1049l4\n5\n"));
    expect(before + after + screen.rest()).toBe("1\n2\n3\n4\n5\n");
  });
});

describe("a page", () => {
  test("starts blank, whatever the one before has left", () => {
    const screen = open(10, 3);
    const blank = screen.view();
    screen.write(
      bytesOf("1\n2\n3\n4\x1b(0\x1b[2;3r\x1b[?1h\x1b[?6h\x1b[?7l\x1b[4h\x1b[7m\x1b[?1049h\x1b]0;t"),
    );
    screen.turnPage();
    expect(screen.view()).toEqual(blank);
    expect(textOf(screen, [bytesOf("lqk\n0123456789ab\n3\n4\nx\x1b[1Gy")])).toBe(
      "lqk\n0123456789ab\n3\n4\ny",
    );
  });

  test.each([
    ["CSI", "\x1b["],
    ["OSC", "\x1b]0;title"],
    ["DCS", "\x1bP"],
    ["APC", "\x1b_"],
  ])("starts afresh after an unfinished %s", (_, unfinished) => {
    const screen = open(10, 3);
    screen.write(bytesOf(`a${unfinished}`));
    screen.turnPage();
    expect(textOf(screen, [bytesOf("text")])).toBe("text");
  });

  test("starts afresh after a part of a character", () => {
    const screen = open(10, 3);
    screen.write(bytesOf("€").subarray(0, 2));
    screen.turnPage();
    expect(textOf(screen, [bytesOf("text")])).toBe("text");
  });

  test("keeps its text when the size changes", () => {
    const screen = open(10, 4);
    const written = screen.write(bytesOf("1\n2\n3\n4"));
    screen.resize(20, 2);
    expect(written + screen.write(bytesOf("\n5\n6")) + screen.rest()).toBe("1\n2\n3\n4\n5\n6");
    expect(screen.view()).toMatchObject({ cols: 20, rows: 2, lines: ["5", "6"] });
  });

  test("tells what is visible, and where the cursor is", () => {
    const screen = open(10, 3);
    screen.write(bytesOf("1\n2\n3\n4  \nab"));
    expect(screen.view()).toEqual({
      cols: 10,
      rows: 3,
      lines: ["3", "4", "ab"],
      cursor: { x: 2, y: 2 },
      alternate: false,
      applicationCursorKeys: false,
    });
    screen.write(bytesOf("\x1b[?1049h\x1b[?1h\x1b[2;4Hx"));
    expect(screen.view()).toEqual({
      cols: 10,
      rows: 3,
      lines: ["", "   x", ""],
      cursor: { x: 4, y: 1 },
      alternate: true,
      applicationCursorKeys: true,
    });
  });
});

describe("the terminal's answers", () => {
  test.each([
    ["the cursor's position", "ab\x1b[6n", ["\x1b[1;3R"]],
    ["the state", "\x1b[5n", ["\x1b[0n"]],
    ["what it is", "\x1b[c", ["\x1b[?1;2c"]],
    ["the version of it", "\x1b[>c", ["\x1b[>0;276;0c"]],
    ["a mode", "\x1b[?25$p", ["\x1b[?25;1$y"]],
    ["nothing asked", "text\n", []],
  ])("tell %s", (_, output, answers) => {
    const told: string[] = [];
    open(10, 3, (answer) => told.push(answer)).write(bytesOf(output));
    expect(told).toEqual(answers);
  });
});

describe("a sequence with a huge count costs no more than the page is large", () => {
  test.each([
    ["REP", "b", 20_000_000],
    ["SU", "S", 300_000],
    ["SD", "T", 300_000],
    ["IL", "L", 300_000],
    ["DL", "M", 300_000],
  ])("%s", (_, final, count) => {
    const screen = open(120, 40);
    const before = performance.now();
    screen.write(bytesOf(`x\x1b[${count}${final}`));
    expect(performance.now() - before).toBeLessThan(200);
  });
});
