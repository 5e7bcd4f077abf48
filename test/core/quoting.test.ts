import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { escapeForAnsiC, unquote } from "../../src/core/quoting.ts";
import { type Random, random } from "../random.ts";

describe("a text inside of $'…'", () => {
  test.each([
    ["plain text stays", 'abc ä€😀 "$`#', 'abc ä€😀 "$`#'],
    ["quotes and backslashes", "a'b\\c", "a\\'b\\\\c"],
    ["newline, tab, CR and ESC", "\n\t\r\x1b", "\\012\\011\\015\\033"],
    ["a control before a digit", "\x017", "\\0017"],
    ["DEL", "\x7f", "\\177"],
    ["history expansion", "hi!", "hi\\041"],
    ["nothing", "", ""],
  ])("%s", (_, text, escaped) => {
    expect(escapeForAnsiC(text)).toBe(escaped);
  });

  test("is read by bash as that text, for random texts", () => {
    const texts = randomTexts(1);
    const words = texts.map((text) => `$'${escapeForAnsiC(text)}'`).join(" ");
    const read = execFileSync("bash", ["-c", `printf '%s\\0' ${words}`], { encoding: "utf8" });
    expect(read.split("\0").slice(0, -1)).toEqual(texts);
  });
});

describe("a word that printf %q wrote", () => {
  test.each([
    ["/plain/path", "/plain/path"],
    ["/with\\ blank", "/with blank"],
    ["/a\\'b\\\"c\\$d", "/a'b\"c$d"],
    ["\\~", "~"],
    ["''", ""],
    ["", null],
    ["$'/a\\nb'", "/a\nb"],
    ["$'\\E\\a\\t\\\\ \\''", "\x1b\x07\t\\ '"],
    ["$'\\001\\0017'", "\x01\x017"],
    ["$'\\303\\244'", "ä"],
    ["/ä\\ 漢", "/ä 漢"],
    ["$'\\\\001\\n'", "\\001\n"],
    ["$'\\\\303\\\\244\\n'", "\\303\\244\n"],
  ])("%j is %j", (word, text) => {
    expect(unquote(word)).toBe(text);
  });

  test.each(["C", "C.UTF-8"])(
    "is read as bash meant it, for random texts, in locale %s",
    (locale) => {
      const texts = randomTexts(2);
      const words = execFileSync("bash", ["-c", "printf '%q\\n' \"$@\"", "bash", ...texts], {
        encoding: "utf8",
        env: { ...process.env, LC_ALL: locale },
      });
      expect(words.split("\n").slice(0, -1).map(unquote)).toEqual(texts);
    },
  );
});

function randomTexts(seed: number): string[] {
  const cases = random(seed);
  return Array.from({ length: 1_000 }, () => randomText(cases));
}

function randomText({ below, pick }: Random): string {
  return Array.from({ length: 1 + below(12) }, () =>
    pick([
      () => String.fromCharCode(1 + below(0x7f)),
      () => pick(["\\", "'", '"', "$", "!", "~", " ", "\n", "0", "1", "7"]),
      () => pick(["\\001", "\\n", "\\'", "$'", "\\303\\244", "\\\\"]),
      () => pick(["ä", "€", "漢", "😀", "\u00a0"]),
    ])(),
  ).join("");
}
