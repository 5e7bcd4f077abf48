/** Requests on stdin, a line each: a JSON string (a command), or an object. */

import * as v from "valibot";
import { EvershellError, type RunResult, type Shell } from "../core/index.ts";
import type { Report } from "./report.ts";
import { FAILURE_STATUS, statusOf } from "./status.ts";

/** Longest line that is read; a longer one is an error, and skipped. */
const MAX_LINE_CHARS = 32 * 1024 * 1024;

const requestSchema = v.strictObject({
  id: v.optional(v.union([v.string(), v.number()], "must be a string or a number")),
  command: v.optional(v.string("must be a string")),
  timeoutMs: v.optional(v.number("must be a number")),
  waitMs: v.optional(v.number("must be a number")),
  wait: v.optional(v.boolean("must be true or false")),
  input: v.optional(v.string("must be a string")),
});

/** One request: `command` runs, `wait` goes on waiting, `input` is typed into the command in flight first. */
type Request = v.InferOutput<typeof requestSchema>;

/** Answers each request in order. Returns the status of the last one; a failure does not end it. */
export async function answerRequests(
  input: AsyncIterable<string>,
  shell: Shell,
  report: Report,
): Promise<number> {
  let status = 0;
  for await (const line of linesOf(input)) {
    if (line.trim() !== "") status = await answer(line, shell, report);
  }
  return status;
}

async function answer(line: string, shell: Shell, report: Report): Promise<number> {
  let id: unknown;
  try {
    const value = parseJson(line);
    id = idOf(value);
    const request = parseRequest(value);
    const result = await carryOut(request, shell, report);
    await report.result(result, id);
    return statusOf(result.end);
  } catch (error) {
    if (!(error instanceof EvershellError)) throw error;
    await report.failure(error, id);
    return FAILURE_STATUS;
  }
}

async function carryOut(request: Request, shell: Shell, report: Report): Promise<RunResult> {
  const { command, input, wait, waitMs, timeoutMs } = request;
  const waiting = waitMs === undefined ? {} : { waitMs };
  if (command !== undefined && input === undefined && !wait) {
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    const listener = report.onOutput === null ? {} : { onOutput: report.onOutput };
    return shell.run(command, { ...waiting, ...limit, ...listener });
  }
  if (command !== undefined || (input === undefined && !wait)) {
    throw badRequest('needs exactly one of "command", "input" and "wait": true');
  }
  if (input !== undefined) await shell.write(input);
  return shell.wait(waiting);
}

function parseJson(line: string): unknown {
  if (line.length > MAX_LINE_CHARS) {
    throw badRequest(`is longer than ${MAX_LINE_CHARS} characters`);
  }
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw badRequest(`is no JSON: ${(cause as Error).message}`);
  }
}

/** The id of a request that may be wrong in other ways, so that the answer can be told. */
function idOf(value: unknown): unknown {
  const id = typeof value === "object" && value !== null && "id" in value ? value.id : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

function parseRequest(value: unknown): Request {
  if (typeof value !== "string" && (typeof value !== "object" || Array.isArray(value))) {
    throw badRequest("is neither a string nor an object");
  }
  if (typeof value === "string") return { command: value };
  const parsed = v.safeParse(requestSchema, value);
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  const rule = issue.expected === "never" ? "is no key of a request" : issue.message;
  throw badRequest(`${JSON.stringify(v.getDotPath(issue) ?? "as a whole")} ${rule}`);
}

function badRequest(why: string): EvershellError {
  return new EvershellError(
    "BAD_ARGUMENT",
    `request ${why}; send a JSON string, or an object of "id", "command", "timeoutMs", "waitMs", "wait", "input"`,
  );
}

/** The lines of a text that comes in pieces. Of a line that is too long, enough is kept to see that. */
async function* linesOf(input: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of input) {
    const lines = chunk.split("\n");
    for (const [index, piece] of lines.entries()) {
      if (index > 0) {
        yield rest;
        rest = "";
      }
      if (rest.length <= MAX_LINE_CHARS) rest += piece;
    }
  }
  if (rest !== "") yield rest;
}
