import { describe, expect, test } from "vitest";
import { keyBytes } from "../../src/core/keys.ts";

describe("a key", () => {
  test.each([
    ["Enter", "\r"],
    ["Return", "\r"],
    ["Tab", "\t"],
    ["BTab", "\x1b[Z"],
    ["Escape", "\x1b"],
    ["Esc", "\x1b"],
    ["Space", " "],
    ["Backspace", "\x7f"],
    ["Delete", "\x1b[3~"],
    ["Insert", "\x1b[2~"],
    ["PageUp", "\x1b[5~"],
    ["PgUp", "\x1b[5~"],
    ["PageDown", "\x1b[6~"],
    ["PgDn", "\x1b[6~"],
    ["F1", "\x1bOP"],
    ["F4", "\x1bOS"],
    ["F5", "\x1b[15~"],
    ["F10", "\x1b[21~"],
    ["F12", "\x1b[24~"],
    ["a", "a"],
    ["-", "-"],
    ["C", "C"],
    ["é", "é"],
    ["😀", "😀"],
    ["C-c", "\x03"],
    ["C-C", "\x03"],
    ["C-@", "\0"],
    ["C-Space", "\0"],
    ["C-[", "\x1b"],
    ["C-\\", "\x1c"],
    ["C-]", "\x1d"],
    ["C-^", "\x1e"],
    ["C-_", "\x1f"],
    ["C-?", "\x7f"],
    ["M-x", "\x1bx"],
    ["M-X", "\x1bX"],
    ["M-é", "\x1bé"],
    ["M--", "\x1b-"],
    ["M-Enter", "\x1b\r"],
    ["M-C-c", "\x1b\x03"],
  ])("%s sends %j", (name, bytes) => {
    expect(keyBytes(name, false)).toBe(bytes);
    expect(keyBytes(name, true)).toBe(bytes);
  });

  test.each([
    ["Up", "A"],
    ["Down", "B"],
    ["Right", "C"],
    ["Left", "D"],
    ["End", "F"],
    ["Home", "H"],
  ])("%s follows the mode of the cursor keys", (name, letter) => {
    expect(keyBytes(name, false)).toBe(`\x1b[${letter}`);
    expect(keyBytes(name, true)).toBe(`\x1bO${letter}`);
    expect(keyBytes(`M-${name}`, true)).toBe(`\x1b\x1bO${letter}`);
  });

  test.each([
    "",
    "enter",
    "UP",
    "F0",
    "F13",
    "ab",
    "C-",
    "M-",
    "C-ab",
    "C-1",
    "C-Enter",
    "C-é",
    "C-ß",
    "S-Tab",
    "Ctrl-C",
    "^C",
    "constructor",
    "toString",
    "__proto__",
    "M-constructor",
    "C-toString",
  ])("%j is refused by name, with the keys that exist", (name) => {
    expect(() => keyBytes(name, false)).toThrow(
      expect.objectContaining({
        name: "EvershellError",
        code: "BAD_ARGUMENT",
        message: expect.stringMatching(/there is no key ".*Enter.*F12.*Home/),
      }),
    );
  });
});
