/** Tools of which there is nothing particular to show: a schema and an action. */

import type * as v from "valibot";
import { genericCard, resultCard, textProperty } from "./cards.ts";
import {
  cancelled,
  checkArguments,
  jsonSchemaOf,
  type Tool,
  type ToolContext,
  type ToolResult,
} from "./tool.ts";

export interface PlainToolParts<Schema extends v.GenericSchema, Value extends object> {
  readonly name: string;
  readonly description: string;
  readonly readOnly?: boolean;
  readonly parameters: Schema;
  readonly result: v.GenericSchema;
  /** @throws {EvershellError} `NO_OWNER`, `CLOSED`: whoever may not call is told before what was passed is looked at */
  admit(context: ToolContext): void;
  act(args: v.InferOutput<Schema>, context: ToolContext): Promise<ToolResult<Value>>;
  /** The argument that stands in the title of a card. What is typed may be a password: no other is shown. */
  readonly titleKey: string;
}

export function plainTool<Schema extends v.GenericSchema, Value extends object>({
  name,
  description,
  readOnly = false as boolean,
  parameters,
  result,
  admit,
  act,
  titleKey,
}: PlainToolParts<Schema, Value>): Tool<Value> {
  return {
    name,
    description,
    readOnly,
    parameters: jsonSchemaOf(parameters),
    result: jsonSchemaOf(result),
    async execute(args, context) {
      const { signal } = context;
      admit(context);
      if (signal?.aborted) throw cancelled(signal);
      try {
        const done = await act(checkArguments(name, parameters, args), context);
        if (signal?.aborted) throw cancelled(signal);
        return done;
      } catch (error) {
        if (signal?.aborted) throw cancelled(signal);
        throw error;
      }
    },
    presentCall(args) {
      const title = textProperty(args, titleKey);
      return genericCard(title === undefined ? name : `${name} ${title}`);
    },
    presentResult: (_, given) => resultCard(name, given),
  };
}
