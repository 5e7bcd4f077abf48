/** What callers pass, checked. */

import { EvershellError } from "./errors.ts";
import { keyBytes } from "./keys.ts";
import { SIGNAL_NAMES, type SignalName } from "./pty.ts";

/** What is typed: text as it is, and keys by name (`Enter`, `C-c`, `Up`) after it. */
export type Input = string | { readonly text?: string; readonly keys: readonly string[] };

/** @throws {EvershellError} `BAD_ARGUMENT` for what is no text, is blank, or no bash can hold */
export function checkCommand(command: unknown): asserts command is string {
  if (typeof command !== "string") {
    throw new EvershellError(
      "BAD_ARGUMENT",
      `command must be a string; received ${typeof command}`,
    );
  }
  if (command.trim() === "") {
    throw new EvershellError("BAD_ARGUMENT", "command is empty: pass the text that bash is to run");
  }
  checkText(command, "command");
}

/** @throws {EvershellError} `BAD_ARGUMENT` for what is neither text nor keys, or an unknown key */
export function inputText(input: Input, applicationCursorKeys: () => boolean): string {
  if (typeof input === "string") return wholeCharacters(input, "input");
  if (!Array.isArray(input?.keys)) {
    throw new EvershellError("BAD_ARGUMENT", 'write: pass a string, or { keys: ["Enter", …] }');
  }
  const application = applicationCursorKeys();
  const keys = input.keys.map((name) => keyBytes(String(name), application));
  return wholeCharacters(input.text ?? "", "input") + keys.join("");
}

/** @throws {EvershellError} `BAD_ARGUMENT` for a name that is none of them */
export function checkSignal(name: string): void {
  if (SIGNAL_NAMES.includes(name as SignalName)) return;
  throw new EvershellError(
    "BAD_ARGUMENT",
    `signal: there is no ${JSON.stringify(name)} to send; use one of ${SIGNAL_NAMES.join(", ")}`,
  );
}

/**
 * @param what names the text in the message
 * @throws {EvershellError} `BAD_ARGUMENT` if the text holds NUL or half a surrogate pair
 */
function checkText(text: string, what: string): void {
  const nul = text.indexOf("\0");
  if (nul !== -1) {
    throw new EvershellError(
      "BAD_ARGUMENT",
      `${what} has a NUL character at index ${nul}; a bash string cannot hold one: write it as an escape, for instance printf '\\0'`,
    );
  }
  wholeCharacters(text, what);
}

/** @throws {EvershellError} `BAD_ARGUMENT` if the text holds half a surrogate pair */
function wholeCharacters(text: string, what: string): string {
  const lone = text.search(/\p{Surrogate}/u);
  if (lone !== -1) {
    throw new EvershellError(
      "BAD_ARGUMENT",
      `${what} has half of a surrogate pair at index ${lone}; it has no UTF-8 form: send whole characters`,
    );
  }
  return text;
}
