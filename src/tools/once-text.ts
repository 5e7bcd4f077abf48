/** What a model reads of a command that ran once. */

import type { BashOutcome, StreamOutput } from "../core/executor.ts";

/** stdout, then stderr under its heading, then what there is to say of the end. */
export function onceText(outcome: BashOutcome): string {
  const { stdout, stderr, timedOutMs, signal, exitCode, denials } = outcome;
  const parts = [
    textOf(stdout),
    stderr.totalBytes > 0 && `[stderr]\n${textOf(stderr)}`,
    timedOutMs !== null && `[timed out after ${timedOutMs}ms]`,
    signal !== null && `[killed by signal: ${signal}]`,
    exitCode !== null && exitCode !== 0 && `[exit code: ${exitCode}]`,
    ...[stdout, stderr].map(
      ({ truncated, spillPath }) =>
        truncated && `[output truncated; full output: ${spillPath ?? "(unavailable)"}]`,
    ),
    ...denials.map((denial) => `[sandbox: ${denial}]`),
  ];
  return parts.filter((part) => part).join("\n");
}

function textOf({ text }: StreamOutput): string {
  return text.replace(/\n$/, "");
}
