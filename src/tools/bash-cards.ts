/** How calls of the persistent `bash` look to a person. */

import {
  type Card,
  failureOf,
  genericCard,
  numberProperty,
  property,
  type TerminalCard,
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
  const failure = failureOf(result);
  if (failure !== undefined) return genericCard("bash failed", failure);
  const run = property(property(result, "value"), "run");
  const output = textProperty(run, "output");
  if (output === undefined) {
    const text = textProperty(result, "text");
    return text === undefined ? genericCard("bash") : genericCard("bash", text);
  }
  const title = textProperty(run, "command") ?? textProperty(args, "command");
  const end = property(run, "end");
  const exitCode = numberProperty(end, "exitCode");
  const signal = textProperty(end, "signal");
  const card: TerminalCard = { card: "terminal", output };
  return {
    ...card,
    ...(title !== undefined && { title }),
    ...(exitCode !== undefined && { exitCode }),
    ...(signal !== undefined && { signal }),
  };
}
