/** How calls look to a person. A host shows a card as it can; where it has no terminals, as a fenced block. */

/** A command, or what it printed and how it ended. */
export interface TerminalCard {
  readonly card: "terminal";
  /** The exact command. */
  readonly title?: string;
  readonly description?: string;
  readonly cwd?: string;
  /** As it was printed. */
  readonly output?: string;
  readonly exitCode?: number;
  readonly signal?: string;
}

/** Anything else. */
export interface GenericCard {
  readonly card: "generic";
  readonly title: string;
  readonly kind?: "execute" | "read" | "other";
  readonly rawInput?: string;
  readonly content?: readonly string[];
}

export type Card = TerminalCard | GenericCard;

/** A card for what is not understood, or failed. */
export function genericCard(title: string, ...content: string[]): GenericCard {
  return { card: "generic", title, ...(content.length > 0 && { content }) };
}

/** A property of a value that may be anything. */
export function property(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

export function textProperty(value: unknown, name: string): string | undefined {
  const found = property(value, name);
  return typeof found === "string" ? found : undefined;
}

/** What a command printed, and of how it ended what stands under `exitCode` and `signal`. */
export function terminalCard(
  output: string,
  title: string | undefined,
  end: unknown,
): TerminalCard {
  const exitCode = property(end, "exitCode");
  const signal = textProperty(end, "signal");
  return {
    card: "terminal",
    ...(title !== undefined && { title }),
    output,
    ...(typeof exitCode === "number" && { exitCode }),
    ...(signal !== undefined && { signal }),
  };
}

/** A card for the result of a call, of which there is nothing but the text to show; or for its failure. */
export function resultCard(name: string, result: unknown): GenericCard {
  const failure = textProperty(property(result, "error"), "message");
  if (failure !== undefined) return genericCard(`${name} failed`, failure);
  const text = textProperty(result, "text");
  return text === undefined ? genericCard(name) : genericCard(name, text);
}
