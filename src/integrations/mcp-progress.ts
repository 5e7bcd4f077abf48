/** Live output as progress: few messages, however much is printed. */

/**
 * Output is collected for so many milliseconds before it is sent: more often no person could read it. So a command
 * that is over by then sends nothing but its result, which has it all.
 */
const INTERVAL_MS = 50;

/** Longest text of a message, in UTF-16 code units; of what is longer, the last part is sent. */
const MAX_CHARS = 4_000;

/** One message. */
export interface ProgressPart {
  /** Characters that have been printed so far. */
  readonly progress: number;
  /** What was printed since the last message, after `…` if its beginning is left out. */
  readonly message: string;
}

/**
 * Collects what a call prints, and sends it in parts, one after another. A receiver that is slow gets fewer of them,
 * and never holds up the command.
 */
export class Progress {
  readonly #send: (part: ProgressPart) => Promise<void>;
  #printed = 0;
  #text = "";
  #cut = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** A message is due, or on its way. */
  #busy = false;
  #over = false;

  constructor(send: (part: ProgressPart) => Promise<void>) {
    this.#send = send;
  }

  add(text: string): void {
    if (this.#over) return;
    this.#printed += text.length;
    this.#text += text;
    // Not at every piece, which would copy the text each time.
    if (this.#text.length > 2 * MAX_CHARS) this.#shorten();
    if (!this.#busy) this.#sendSoon();
  }

  /** The result is to follow: nothing is sent any more. */
  stop(): void {
    this.#over = true;
    clearTimeout(this.#timer);
  }

  #sendSoon(): void {
    this.#busy = this.#text !== "" && !this.#over;
    if (this.#busy) this.#timer = setTimeout(() => void this.#sendNow(), INTERVAL_MS);
  }

  async #sendNow(): Promise<void> {
    this.#shorten();
    const part = { progress: this.#printed, message: `${this.#cut ? "…" : ""}${this.#text}` };
    this.#text = "";
    this.#cut = false;
    // One that cannot be sent is missed by nobody: the connection is gone, and its calls end with it.
    await this.#send(part).catch(() => {});
    this.#sendSoon();
  }

  #shorten(): void {
    if (this.#text.length <= MAX_CHARS) return;
    // Not from between the halves of a surrogate pair.
    this.#text = this.#text.slice(-MAX_CHARS).replace(/^[\uDC00-\uDFFF]/, "");
    this.#cut = true;
  }
}
