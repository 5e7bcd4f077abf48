/** How calls of the one-shot `bash` look to a person. */

import {
  type Card,
  genericCard,
  property,
  resultCard,
  terminalCard,
  textProperty,
} from "./cards.ts";

export function presentOnceCall(args: unknown): Card {
  const title = textProperty(args, "command");
  if (title === undefined) return genericCard("bash");
  const description = textProperty(args, "description");
  if (property(args, "run_in_background") === true) {
    const content = description === undefined ? {} : { content: [description] };
    return { card: "generic", title, kind: "execute", rawInput: title, ...content };
  }
  const cwd = textProperty(args, "workdir");
  return {
    card: "terminal",
    title,
    ...(description !== undefined && { description }),
    ...(cwd !== undefined && { cwd }),
  };
}

/** The status is that of the run, kept as data: what a command printed is never taken for it. */
export function presentOnceResult(args: unknown, result: unknown): Card {
  const outcome = property(property(result, "value"), "outcome");
  const stdout = textProperty(property(outcome, "stdout"), "text");
  if (stdout === undefined) return resultCard("bash", result);
  const output = stdout + (textProperty(property(outcome, "stderr"), "text") ?? "");
  return terminalCard(output, textProperty(args, "command"), outcome);
}
