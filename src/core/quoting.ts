/** Texts as words of bash: writing any text as `$'…'`, and reading what `printf %q` wrote. */

/**
 * The inside of `$'…'` for a text: every control character, quote and backslash is escaped, so that
 * neither the terminal nor bash takes any of it for a key or a rule. `!` too, for shells with history
 * expansion on. All else, UTF-8 included, stays as it is.
 */
export function escapeForAnsiC(text: string): string {
  return text.replace(/[\x00-\x1f\x7f\\'!]/g, (char) =>
    char === "\\" || char === "'"
      ? `\\${char}`
      : `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
}

/**
 * The text that `printf %q` of bash 3.2 or later wrote as one word (`a\ b`, `$'a\nb'`, `''`), or null
 * for an empty word: `%q` writes an empty text as `''`.
 */
export function unquote(word: string): string | null {
  if (word === "") return null;
  return word.replace(
    QUOTED,
    (_, ansiC: string | undefined, plain: string | undefined, char: string | undefined) =>
      ansiC !== undefined ? decodeAnsiC(ansiC) : (plain ?? char ?? ""),
  );
}

/** `$'…'`, `'…'`, or a backslash and the character that it quotes. */
const QUOTED = /\$'((?:[^'\\]|\\[\s\S])*)'|'([^']*)'|\\([\s\S])/g;

const NAMED: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** Decodes escapes; runs of octal ones are bytes of UTF-8 (bash writes them so in the C locale). */
function decodeAnsiC(body: string): string {
  return body.replace(
    /((?:\\[0-7]{3})+)|\\([\s\S])/g,
    (_, octals: string | undefined, char: string) =>
      octals === undefined ? (NAMED[char] ?? char) : decodeOctals(octals),
  );
}

function decodeOctals(octals: string): string {
  const bytes = octals.slice(1).split("\\");
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(
    Uint8Array.from(bytes, (octal) => Number.parseInt(octal, 8)),
  );
}
