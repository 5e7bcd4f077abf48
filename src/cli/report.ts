/** Results as a person reads them, or as a program does: one JSON object a line. */

import type { EvershellError, OnOutput, RunEnd, RunResult } from "../core/index.ts";

/** Where the program writes. A pending promise means that the reader is behind. */
export interface Streams {
  readonly out: (text: string) => Promise<void>;
  readonly err: (text: string) => Promise<void>;
}

/** Tells of each result and failure. */
export interface Report {
  /** Gets the output of a command as it comes; null if only results are told. */
  readonly onOutput: OnOutput | null;
  /** @param id as the request gave it; undefined if it gave none */
  result(result: RunResult, id?: unknown): Promise<void>;
  failure(error: EvershellError, id?: unknown): Promise<void>;
}

/** For people: output as it comes, and a line on stderr where a command did not settle. */
export function textReport({ out, err }: Streams): Report {
  return {
    onOutput: out,
    async result({ background, end }) {
      if (background !== "") await out(`${background}\n`);
      const note = noteOn(end);
      if (note !== null) await err(`evershell: ${note}\n`);
    },
    failure: (error) => err(`evershell: ${error.message} (${error.code})\n`),
  };
}

/** For programs. */
export function jsonReport({ out }: Streams): Report {
  const line = (value: object): Promise<void> => out(`${JSON.stringify(value)}\n`);
  return {
    onOutput: null,
    result: (result, id) => line({ ...(id !== undefined && { id }), ...result }),
    failure: ({ code, message }, id) =>
      line({ ...(id !== undefined && { id }), error: { code, message } }),
  };
}

function noteOn(end: RunEnd): string | null {
  switch (end.kind) {
    case "finished":
      return null;
    case "interrupted":
      return "interrupted";
    case "running":
      return "the command is still running";
    case "waiting":
      return `${end.program} waits for ${end.password ? "a password" : "input"}`;
    case "timedOut":
      return `timed out; the shell was ${end.shellKept ? "kept" : "reset"}`;
    case "shellExited":
      return `the shell ended (${end.signal ?? `code ${end.exitCode}`})`;
  }
}
