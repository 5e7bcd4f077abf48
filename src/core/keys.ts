/** Names of keys, as a person or a model writes them, to the bytes that a terminal sends for them. */

import { EvershellError } from "./errors.ts";

/** Keys with one fixed sequence. xterm's control sequences, "PC-Style Function Keys". */
const FIXED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Enter: "\r",
    Tab: "\t",
    BTab: "\x1b[Z",
    Escape: "\x1b",
    Space: " ",
    Backspace: "\x7f",
    Delete: "\x1b[3~",
    Insert: "\x1b[2~",
    PageUp: "\x1b[5~",
    PageDown: "\x1b[6~",
    F1: "\x1bOP",
    F2: "\x1bOQ",
    F3: "\x1bOR",
    F4: "\x1bOS",
    F5: "\x1b[15~",
    F6: "\x1b[17~",
    F7: "\x1b[18~",
    F8: "\x1b[19~",
    F9: "\x1b[20~",
    F10: "\x1b[21~",
    F11: "\x1b[23~",
    F12: "\x1b[24~",
  }),
);

/** Keys whose sequence depends on the cursor-key mode (DECCKM): `CSI` or `SS3` and this letter. */
const CURSOR: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Up: "A",
    Down: "B",
    Right: "C",
    Left: "D",
    End: "F",
    Home: "H",
  }),
);

const ALIASES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Return: "Enter",
    Esc: "Escape",
    PgUp: "PageUp",
    PgDn: "PageDown",
  }),
);

/** `C-c` (Ctrl), `M-x` (Alt); the rest is a character or the name of a key. */
const MODIFIED = /^(C|M)-(.+)$/su;

/**
 * The bytes of one key.
 *
 * @param name a name such as `Enter`, `Up`, `F5`, `C-c`, `M-x`, or one character
 * @param applicationCursorKeys whether the program has asked for the application form of the arrow keys
 * @throws {EvershellError} `BAD_ARGUMENT` for a name that is none of these
 */
export function keyBytes(name: string, applicationCursorKeys: boolean): string {
  const known = ALIASES.get(name) ?? name;
  const fixed = FIXED.get(known);
  if (fixed !== undefined) return fixed;
  const cursor = CURSOR.get(known);
  if (cursor !== undefined) return (applicationCursorKeys ? "\x1bO" : "\x1b[") + cursor;
  const [, modifier, key = ""] = MODIFIED.exec(known) ?? [];
  if (modifier === "M") return `\x1b${keyBytes(key, applicationCursorKeys)}`;
  if (modifier === "C") return control(key, name);
  if ([...known].length === 1) return known;
  throw unknownKey(name);
}

/** Ctrl with a character from `@` to `_` (letters in either case), `?` or Space (ECMA-48 C0). */
function control(key: string, name: string): string {
  if (key === "Space") return "\0";
  if (key === "?") return "\x7f";
  if (!/^[@-_a-z]$/.test(key)) throw unknownKey(name);
  return String.fromCharCode(key.charCodeAt(0) & 0x1f);
}

function unknownKey(name: string): EvershellError {
  return new EvershellError(
    "BAD_ARGUMENT",
    `there is no key ${JSON.stringify(name)}: use one character, C-x or M-x, or one of ${[
      ...FIXED.keys(),
      ...CURSOR.keys(),
    ].join(", ")}`,
  );
}
