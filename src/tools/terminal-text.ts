/** What a model reads of a terminal: its lines, why a wait is over, and what terminals there are. */

import type { Scrollback, SendResult } from "../core/index.ts";
import { quote } from "./bash-text.ts";
import { type OwnedTerminal, type OwnedTerminals, SHELL_ID } from "./owned-terminals.ts";

/** Lines of a terminal. */
export interface Page {
  readonly lines: readonly string[];
  /** The number of the first of them; the oldest line of the terminal is 1. */
  readonly first: number;
  readonly total: number;
}

/** The lines that stand on the screen, without empty ones at its end. */
export function screenPage({ lines, dropped, screenLines }: Scrollback): Page {
  const above = lines.length - screenLines;
  let end = lines.length;
  while (end > above + 1 && lines[end - 1] === "") end--;
  return {
    lines: lines.slice(above, end),
    first: dropped + above + 1,
    total: dropped + lines.length,
  };
}

export function scrollbackPage(
  { lines, dropped }: Scrollback,
  offset: number | undefined,
  wanted: number,
): Page {
  const total = dropped + lines.length;
  const first = Math.max(dropped + 1, offset ?? total - wanted + 1);
  return { lines: lines.slice(first - dropped - 1, first - dropped - 1 + wanted), first, total };
}

export function pageText({ lines, first, total }: Page): string {
  const range = lines.length === 0 ? "none" : `${first}-${first + lines.length - 1}`;
  return joined(lines.join("\n"), `[lines: ${range} of ${total}]`);
}

export interface Row {
  readonly terminal_id: string;
  readonly type: string;
  readonly name: string;
  readonly state: string;
}

/** The terminals of an owner, the shell first. */
export function rowsOf(owned: OwnedTerminals, shellType: string): Row[] {
  return [...shellRow(owned, shellType), ...owned.terminals.map(rowOf)];
}

export function rowText({ terminal_id, type, name, state }: Row): string {
  const fields = [terminal_id, type, name, state].filter((field) => field !== "");
  // A name or a command is not to look like another row.
  return fields.join("  ").replace(/[\x00-\x1f\x7f]/g, " ");
}

function shellRow({ shell }: OwnedTerminals, type: string): Row[] {
  if (shell === null) return [];
  const { inFlight } = shell;
  const busy = inFlight !== null && !inFlight.over;
  const waits = inFlight?.waiting ? `${inFlight.waiting.program} waits for input in` : "running";
  const state = busy ? `${waits}: ${quote(inFlight.command)}` : "at its prompt";
  return [{ terminal_id: SHELL_ID, type, name: "", state }];
}

function rowOf({ id, type, name, ended }: OwnedTerminal): Row {
  return { terminal_id: id, type, name, state: ended === null ? "open" : `ended: ${ended}` };
}

export function waitText({ wait, reader }: SendResult): string {
  if (wait !== "stdin_read") return `[wait: ${wait}]`;
  const who =
    reader === null
      ? "the shell is at its prompt"
      : `${reader.program} waits for ${reader.password ? "a password" : "input"}`;
  return `[wait: stdin_read] [${who}]`;
}

/** The parts that are not empty, each on a line of its own. */
export function joined(...parts: string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}
