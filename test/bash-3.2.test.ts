/**
 * macOS has bash 3.2. What we send has to run there, and no such bash is at hand: so the text itself is searched
 * for what came later (bash's own NEWS and CHANGES files name the versions).
 */

import { describe, expect, test } from "vitest";
import { commandLines, END_LINE, setUp, startCommand } from "../src/core/bash.ts";

const NEWER: readonly (readonly [string, RegExp])[] = [
  ["${x@Q} and other transformations (4.4)", /\$\{[\w[\]@*]+@[A-Za-z]\}/],
  ["EPOCHREALTIME, EPOCHSECONDS, SRANDOM (5.0, 5.1)", /EPOCH(?:REALTIME|SECONDS)|SRANDOM/],
  ["printf %(…)T (4.2)", /%\(/],
  ["read -N, read -i (4.1, 4.0)", /\bread\b[^\n;]* -\w*[Ni]/],
  ["$'\\u…' and $'\\U…' (4.2)", /\$'(?:[^'\\]|\\.)*\\[uU][0-9a-fA-F]/],
  ["BASHPID (4.0)", /BASHPID/],
  [
    "declare -A, -n, -g, -l, -u, -c, -I (4.0 to 5.1)",
    /\b(?:declare|local|typeset)\b (?:[^\n;]* )?[-+][a-zA-Z]*[AngluIc]/,
  ],
  ["unset -n (4.3)", /\bunset\b[^\n;]* -\w*n/],
  ["{fd}>file (4.1)", /\{\w+\}(?:>|<)/],
  ["[[ -v x ]], test -v (4.2)", /(?:\[|\btest\b)[^\n\]]* -[vR] /],
  ["mapfile, readarray (4.0)", /\b(?:mapfile|readarray)\b/],
  ["wait -n, -f, -p (4.3 to 5.1)", /\bwait\b -\w*[nfp]/],
  ["|& (4.0)", /\|&/],
  ["&>> (4.0)", /&>>/],
  [";& and ;;& (4.0)", /;&/],
  ["${x^}, ${x,} (4.0)", /\$\{\w+(?:\[[^\]]*\])?(?:\^|,)/],
  ["coproc (4.0)", /\bcoproc\b/],
  ["negative subscripts (4.2, 4.3)", /\w\[-\d/],
  ["negative lengths (4.2)", /\$\{\w+:[^}:]*:\s*-\d/],
  ["{01..10}, {1..9..2} (4.0)", /\{\d+\.\.\d+\.\.|\{0\d+\.\./],
  [
    "globstar, autocd, lastpipe and later shopt (4.0 to 5.2)",
    /globstar|autocd|lastpipe|checkjobs|inherit_errexit|direxpand|globasciiranges|patsub_replacement|varredir_close|localvar_/,
  ],
  ["printf -v into an element (4.1)", /printf -v \w+\[/],
  [
    "BASH_COMPAT, BASH_ARGV0, BASH_LOADABLES_PATH, FUNCNEST, PROMPT_DIRTRIM",
    /BASH_COMPAT|BASH_ARGV0|BASH_LOADABLES|FUNCNEST|PROMPT_DIRTRIM|READLINE_/,
  ],
  ["${x[*]@…} and ${!x@} (5.1)", /\$\{!?\w+\[[@*]\]@/],
  ["local - (4.4)", /\blocal -(?:[\s;]|$)/m],
  ["compgen -V (5.3)", /\bcompgen -V/],
  ["${ command; } (5.3)", /\$\{[ |\n]/],
];

/** Every command form that is sent: plain, with all control characters, long, with quotes and escapes. */
const COMMANDS: readonly string[] = [
  "true",
  Array.from({ length: 0x7f }, (_, i) => String.fromCharCode(i + 1)).join(""),
  "x".repeat(5_000),
  "echo 'ä€漢😀'\nPATH=$PATH\tcd \\\n",
];

/** With all that may come along. */
function sent(text: string): Uint8Array {
  return commandLines({ text, number: 1, id: "a1b2", hush: true, traced: true });
}

const SENT: readonly (readonly [string, string])[] = [
  ["the start", startCommand("bash").join("\n")],
  ["the set-up", setUp("0123456789abcdef", "none", false)],
  ["the set-up with start-up files", setUp("0123456789abcdef", "user", true)],
  ["the line at the end", END_LINE],
  ...COMMANDS.map((text, i) => [`command ${i}`, new TextDecoder().decode(sent(text))] as const),
];

describe("bash 3.2 knows all that we send", () => {
  test.each(SENT)("%s", (_, text) => {
    // The text of a command is data here, not something that we wrote.
    const ours = text.replace(/(?<= )\$'(?:[^'\\]|\\.)*'/g, "WORD");
    for (const [what, pattern] of NEWER) expect(ours, what).not.toMatch(pattern);
  });

  test.each(SENT)("%s escapes characters in octal only", (_, text) => {
    expect(text).not.toMatch(/\\[uU][0-9a-fA-F]{2}/);
  });
});

describe("the search finds", () => {
  test.each([
    'echo "${x@Q}"',
    "echo $EPOCHREALTIME",
    "printf '%(%F)T' -1",
    "read -rN 1 x",
    "x=$'a\\u00e4'",
    "echo $BASHPID",
    "declare -A m",
    "\\builtin declare -gr x",
    "local -n r=x",
    "exec {fd}>&-",
    "[[ -v x ]]",
    "mapfile -t a",
    "wait -n",
    "a |& b",
    "a &>> b",
    "case x in x) ;;& esac",
    'echo "${x^}"',
    'echo "${x,,}"',
    "coproc cat",
    "echo ${a[-1]}",
    "echo {1..9..2}",
    "shopt -s globstar",
    "local -",
  ])("%s", (text) => {
    expect(NEWER.some(([, pattern]) => pattern.test(text))).toBe(true);
  });
});

describe("a line that we send", () => {
  test.each(SENT)("fits the 1 024 bytes that macOS takes at a time: %s", (name, text) => {
    // The start is an argument, not a line.
    const lines = name === "the start" ? [] : text.split("\n");
    for (const line of lines) expect(new TextEncoder().encode(line).length).toBeLessThan(1_024);
  });

  test.each(COMMANDS)("holds no byte that a terminal takes for a key: %j", (text) => {
    for (const byte of sent(text)) {
      expect(byte === 0x0a || (byte >= 0x20 && byte !== 0x7f)).toBe(true);
    }
  });
});
