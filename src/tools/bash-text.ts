/** What a model reads of a command: its output, then how it ended, each part on lines of its own. */

import type { ClipInfo, Keep, RunEnd } from "../core/index.ts";
import type { BashRun, BashValue } from "./bash-value.ts";
import { SHELL_ID } from "./owned-terminals.ts";

/** Longest part of a command that is quoted. */
const MAX_QUOTE_CHARS = 80;

const RESET =
  "[The shell was reset: the next call starts in the workspace with fresh directory and environment]";

/** The text of a result. Nothing of it depends on anything but the value. */
export function bashText(value: BashValue): string {
  const { earlier, restarted } = value;
  return lines(
    earlier && `[Earlier command, which has ended: ${quote(earlier.command)}]`,
    earlier && runText(earlier),
    earlier && "[End of the earlier command]",
    restarted && "[The shell was restarted, with fresh directory and environment]",
    value.run && runText(value.run),
    value.run && backgroundText(value.run.background),
  );
}

function runText({ output, clip, keep, end }: BashRun): string {
  return lines(
    clip?.lostPrefix &&
      `[The beginning of this output is lost; its last ${clip.shownChars} characters:]`,
    output,
    clip && clipText(clip, keep),
    ...statusLines(end),
  );
}

/** Where a final newline of the output was removed, the status still gets a line of its own. */
function lines(...parts: (string | false | null | undefined)[]): string {
  return parts.filter((part) => part).join("\n");
}

function statusLines(end: RunEnd): string[] {
  switch (end.kind) {
    case "finished":
      return [`[Command finished with exit code ${end.exitCode}]`];
    case "interrupted":
      return [
        `[Command interrupted (exit code ${end.exitCode}): the shell is back at its prompt and was kept]`,
      ];
    case "running":
      return [
        "[Command still running: go on waiting with wait: true, type into it with terminal_send " +
          `(terminal_id "${SHELL_ID}"), stop it with terminal_signal, or reset the shell with restart: true]`,
      ];
    case "waiting":
      return [
        `[${end.program} waits for ${end.password ? "a password" : "input"}: answer with terminal_send ` +
          `(terminal_id "${SHELL_ID}"), stop it with terminal_signal, or reset the shell with restart: true]`,
      ];
    case "timedOut":
      return [
        "[Command timed out or OOM]",
        end.shellKept ? "[The shell was kept, with its directory, variables and jobs]" : RESET,
      ];
    case "shellExited":
      return [exitLine(end), RESET];
  }
}

function exitLine({ exitCode, signal }: Extract<RunEnd, { kind: "shellExited" }>): string {
  if (signal !== null) return `[shell killed by signal: ${signal}]`;
  return exitCode === null ? "[shell exited]" : `[shell exited: code ${exitCode}]`;
}

function clipText({ shownChars, totalChars, spillPath }: ClipInfo, keep: Keep): string {
  const part = { head: "the first", tail: "the last", both: "the first and last" }[keep];
  return (
    `[Output clipped: ${part} ${shownChars} of ${totalChars} characters are shown; ` +
    `complete output: ${spillPath ?? "(unavailable)"}]`
  );
}

function backgroundText(background: string): string | null {
  return background === ""
    ? null
    : `[Printed by background jobs since the last call:]\n${background.replace(/\n$/, "")}`;
}

/** The first line of a command, if that says enough. */
export function quote(command: string): string {
  const [line = ""] = command.trim().split("\n", 1);
  const short = line.length > MAX_QUOTE_CHARS ? line.slice(0, MAX_QUOTE_CHARS) : line;
  return short === command.trim() ? short : `${short}…`;
}
