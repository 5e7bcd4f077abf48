/** A process as a background task: what its end means, and how its output reads. */

import type { ProcessEnd } from "../core/executor.ts";
import type { TaskEnd, TaskOutput } from "./tasks.ts";

/** What the end of a process comes to: killed by a signal, or completed, whatever its exit code. */
export function processOutcome({ exitCode, signal }: ProcessEnd): TaskEnd {
  if (signal !== null) return { status: "killed", signal };
  return exitCode === null ? { status: "completed" } : { status: "completed", exitCode };
}

/** The text of a reading: the output, what of it is missing, and the status. */
export function renderProcessRead(output: TaskOutput, end: TaskEnd | null): string {
  return [
    output.text.replace(/\n$/, ""),
    output.dropped
      ? `[some output was dropped from memory; full output: ${output.spillPath ?? "(unavailable)"}]`
      : "",
    `[status: ${statusText(end)}]`,
  ]
    .filter((part) => part !== "")
    .join("\n");
}

/** `running`, `completed, exit code: 0`, `killed, signal: SIGTERM`, `failed: <why>`. */
export function statusText(end: TaskEnd | null): string {
  switch (end?.status) {
    case undefined:
      return "running";
    case "completed":
      return end.exitCode === undefined ? "completed" : `completed, exit code: ${end.exitCode}`;
    case "killed":
      return `killed, signal: ${end.signal}${end.reason === undefined ? "" : `, reason: ${end.reason}`}`;
    case "failed":
      return `failed: ${end.message}`;
  }
}
