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
  if (result.success) return result.output;
  const issue = result.issues[0];
  const name = v.getDotPath(issue) ?? "options";
  const rule = issue.type === "strict_object" ? "is no option" : issue.message;
  throw new EvershellError(code, `${caller}: ${name} ${rule}; received ${issue.received}`);
}
