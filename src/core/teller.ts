/** Hands output on as text, as it comes. */

/**
 * Receives output as it comes: text with its escape sequences, never a part of a character. If it returns a promise,
 * the command is held up until that settles, or until the command is stopped. What it throws is ignored.
 */
export type OnOutput = (text: string) => unknown;

export class Teller {
  readonly #onOutput: OnOutput;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  constructor(onOutput: OnOutput) {
    this.#onOutput = onOutput;
  }

  /** The text of a piece of output, and of what a piece before it left of a character. */
  decode(bytes: Uint8Array): string {
    return this.#decoder.decode(bytes, { stream: true });
  }

  /** What is left of a character that was cut off; no more comes. */
  rest(): string {
    return this.#decoder.decode();
  }

  /** Where it returns a promise, the receiver is behind. */
  tell(text: string): void | Promise<void> {
    if (text === "") return;
    try {
      const heard = this.#onOutput(text);
      if (heard instanceof Promise) return heard.then(noop, noop);
    } catch {
      // A receiver that fails misses something; the command and its result are not to suffer.
    }
  }
}

function noop(): void {
  // As above, for a promise that is rejected.
}
