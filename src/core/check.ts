/** What callers pass, held against a schema. */

import * as v from "valibot";
import { type ErrorCode, EvershellError } from "./errors.ts";

/**
 * The value with every default filled in.
 *
 * @param caller begins the message: who got the value
 * @throws {EvershellError} with the code; the message names the key, the rule and what was received
 */
export function check<Schema extends v.GenericSchema>(
  code: ErrorCode,
  schema: Schema,
  value: unknown,
  caller: string,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value);
  if (result.success && !Array.isArray(value)) return result.output;
  const issue = result.issues?.[0];
  const name = issue && v.getDotPath(issue);
  if (!name)
    throw new EvershellError(
      code,
      `${caller}: options must be an object; received ${shown(value)}`,
    );
  const isOfKeys = issue.type === "strict_object" || issue.type === "object";
  const rule = !isOfKeys
    ? issue.message
    : issue.expected === "never"
      ? "is no option"
      : "is missing";
  const received = shown(issue.path?.at(-1)?.value);
  throw new EvershellError(code, `${caller}: ${name} ${rule}; received ${received}`);
}

/** A value in a message; a text is not to be too long. */
function shown(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(
      value.length > MAX_SHOWN_CHARS ? `${value.slice(0, MAX_SHOWN_CHARS)}…` : value,
    );
  }
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  return Array.isArray(value) ? "an array" : "an object";
}

const MAX_SHOWN_CHARS = 100;
