/** What the shell itself may print at the end of a command's output. */

import { END_LINE } from "./bash.ts";

/** A line that is no output of the command, should it stand at the end. */
export interface ForeignEnding {
  readonly line: string;
  /** It may follow other text on its line, since that text had no newline. */
  readonly glued: boolean;
}

/** How a shell may end that is done with a command. */
export interface ShellEnding {
  readonly kind: string;
  readonly exitCode?: number | null;
}

/**
 * What may stand at the end of the output of a command that ended so: the line that ends our evaluation
 * (under `set -v`), or the `exit` of an interactive bash that is told to exit.
 */
export function foreignEnding(end: ShellEnding, command: string): ForeignEnding | null {
  if (end.kind === "finished") return { line: END_LINE, glued: true };
  if (end.kind === "shellExited" && end.exitCode !== null) {
    return { line: EXIT, glued: /\bexit\b/.test(command) };
  }
  return null;
}

/** The text without it. On a screen the line has lost its newline. */
export function withoutEnding(text: string, foreign: ForeignEnding | null): string {
  if (foreign === null) return text;
  const ending = text.endsWith("\n") ? `${foreign.line}\n` : foreign.line;
  if (!text.endsWith(ending)) return text;
  const rest = text.slice(0, -ending.length);
  return foreign.glued || rest === "" || rest.endsWith("\n") ? rest : text;
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
