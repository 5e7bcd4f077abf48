/** What a model sees: a tool with a name, a schema and an action, and how its calls look to a person. */

import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { check } from "../core/check.ts";
import { EvershellError, type OnOutput } from "../core/index.ts";
import type { Card } from "./cards.ts";

/**
 * Whom a shell or terminal belongs to: the agent, conversation or caller that the host names. A text stands for the
 * same owner wherever it is equal; an object for itself, and what it owned ends when it is collected as garbage.
 */
export type Owner = string | object;

/** Who calls a tool, and from where. */
export interface ToolContext {
  readonly owner: Owner;
  /** The owner's directory: what is opened for it starts there. Default: the host's. */
  readonly cwd?: string;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  /** Receives output as it comes. */
  readonly onOutput?: OnOutput;
}

/** What a call comes to: for programs, and as the model reads it. */
export interface ToolResult<Value extends object = object> {
  readonly value: Value;
  readonly text: string;
}

/** What a call that failed comes to. */
export interface ToolFailure {
  readonly error: { readonly code: string; readonly message: string };
}

/** A JSON Schema of an object. */
export interface ObjectSchema {
  readonly type: "object";
  readonly [key: string]: unknown;
}

export interface Tool<Value extends object = object> {
  readonly name: string;
  readonly description: string;
  /** JSON Schemas of the arguments, and of `value` in the result. */
  readonly parameters: ObjectSchema;
  readonly result: ObjectSchema;
  /** It changes nothing. */
  readonly readOnly: boolean;

  /**
   * Carries out a call. Arguments that the schema does not name are ignored.
   *
   * @throws {EvershellError} the runtime shows it to the model as `Error: <message>`
   */
  execute(args: unknown, context: ToolContext): Promise<ToolResult<Value>>;

  /** Pure, and never throws: calls may be replayed from old records. */
  presentCall(args: unknown): Card;
  presentResult(args: unknown, result: unknown): Card;
}

/** All of a tool but its action: of an object of a class, its properties alone would not do. */
export function toolParts<Value extends object>(tool: Tool<Value>): Omit<Tool<Value>, "execute"> {
  const { name, description, parameters, result, readOnly } = tool;
  return {
    name,
    description,
    parameters,
    result,
    readOnly,
    presentCall: (args) => tool.presentCall(args),
    presentResult: (args, given) => tool.presentResult(args, given),
  };
}

export function jsonSchemaOf(schema: v.GenericSchema): ObjectSchema {
  const { $schema: _, ...rest } = toJsonSchema(schema, { errorMode: "ignore" });
  return { ...rest, type: "object" };
}

/** The schema with what the model is told of it. */
export function described<T>(schema: v.GenericSchema<T>, what: string): v.GenericSchema<T> {
  return v.pipe(schema, v.description(what));
}

/** @throws {EvershellError} `BAD_ARGUMENT`, naming the tool, the argument, the rule and what was received */
export function checkArguments<Schema extends v.GenericSchema>(
  tool: string,
  schema: Schema,
  args: unknown,
): v.InferOutput<Schema> {
  return check("BAD_ARGUMENT", schema, args ?? {}, tool);
}

/** The same failure for every tool, whatever made the call end. The reason is never shown. */
export function cancelled(signal: AbortSignal): EvershellError {
  return new EvershellError("ABORTED", "tool call aborted", { cause: signal.reason });
}
