/** How calls of the persistent `bash` look to a person. */

import {
  type Card,
  genericCard,
  property,
  resultCard,
  terminalCard,
  textProperty,
} from "./cards.ts";

export function presentBashCall(args: unknown): Card {
  const command = textProperty(args, "command");
  if (command !== undefined) return { card: "terminal", title: command };
  if (property(args, "wait") === true) return genericCard("Wait for the command in flight");
  if (property(args, "restart") === true) return genericCard("Restart the shell");
  return genericCard("bash");
}

/** The status is that of the run, kept as data: what a command printed is never taken for it. */
export function presentBashResult(args: unknown, result: unknown): Card {
  const run = property(property(result, "value"), "run");
  const output = textProperty(run, "output");
  if (output === undefined) return resultCard("bash", result);
  const title = textProperty(run, "command") ?? textProperty(args, "command");
  return terminalCard(output, title, property(run, "end"));
}
