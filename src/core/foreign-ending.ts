/** What the shell itself may print at the end of a command's output, and taking it out. */

import { END_LINE } from "./bash.ts";
import type { RunEnd } from "./result.ts";

/** A line that is no output of the command. */
export interface ForeignEnding {
  /** Null: whatever stands after the last newlines, which is a prompt. */
  readonly line: string | null;
  /** How many lines that takes. */
  readonly lines: number;
  /** It may follow other text on its line, since that text had no newline. */
  readonly glued: boolean;
  /** Other lines may follow it (those of a trap on EXIT). */
  readonly followed: boolean;
}

/**
 * What the shell itself may print at the end of the output of a command that ended so: the line that ends our
 * evaluation (under `set -v`), the `exit` of an interactive bash that is told to exit, or a prompt of the user's after an
 * interrupt, for which bash begins a new line.
 */
export function foreignEnding(
  end: RunEnd,
  command: string,
  promptLines: number,
): ForeignEnding | null {
  if (end.kind === "finished") return { line: END_LINE, lines: 1, glued: true, followed: false };
  if (end.kind === "interrupted") {
    return { line: null, lines: promptLines, glued: false, followed: false };
  }
  if (end.kind !== "shellExited" || end.exitCode === null) return null;
  const told = isToldToExit(command);
  return told === "no"
    ? null
    : { line: EXIT, lines: 1, glued: told === "yes", followed: told === "yes" };
}

/**
 * Whether the text tells bash to exit. By its last `exit` or `exec` in the place of a command, quotes left out; after
 * an `exec` it is no bash that ends, and `exit 2>file` says nothing here. A text without the word may call a function
 * that exits; one that has it elsewhere may well print it.
 */
function isToldToExit(command: string): "yes" | "perhaps" | "no" {
  const bare = command.replace(/'[^']*'|"(?:[^"\\]|\\[\s\S])*"/g, "''");
  const told = [
    ...bare.matchAll(/(?:^|[;&|(){}\n]|\b(?:then|else|do)\b)\s*(exit|exec)\b([^;&|\n]*)/g),
  ].at(-1);
  if (told?.[1] === "exit" && !told[2]?.includes(">")) return "yes";
  return told === undefined && !/\bexit\b/.test(command) ? "perhaps" : "no";
}

/** The text without it. On a screen the line has lost its newline. */
export function withoutEnding(text: string, foreign: ForeignEnding | null): string {
  if (foreign === null) return text;
  const { line, lines, glued, followed } = foreign;
  if (line === null) return withoutLastLines(text, lines) || text;
  const ending = text.endsWith("\n") ? `${line}\n` : line;
  if (text.endsWith(ending)) {
    const rest = text.slice(0, -ending.length);
    if (glued || rest === "" || rest.endsWith("\n")) return rest;
  }
  const at = followed ? `\n${text}`.lastIndexOf(`\n${line}\n`) : -1;
  return at === -1 ? text : text.slice(0, at) + text.slice(at + line.length + 1);
}

/** The text up to and with its last newline but so many. */
function withoutLastLines(text: string, lines: number): string {
  let end = text.length;
  for (let left = lines; left > 0 && end > 0; left--) end = text.lastIndexOf("\n", end - 1);
  return text.slice(0, end + 1);
}

/** Where the text must be held back, because what follows may prove to be such an ending. */
export function possibleEndingAt(text: string): number {
  for (const line of [EXIT, END_LINE]) {
    if (text.endsWith(`${line}\n`))
      return text.lastIndexOf("\n", text.length - line.length - 2) + 1;
  }
  return text.length;
}

const EXIT = "exit";
