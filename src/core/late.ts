/**
 * What arrives between the end of one command and the start of the next: output of background jobs, which
 * is kept, among prompts, the echo of our lines and traces of our words, which are not.
 */

import { NO_BYTES } from "./bytes.ts";
import { Clip, tailWithNote } from "./clip.ts";
import { Echo } from "./echo.ts";
import { TextStripper } from "./text-stripper.ts";

/** Characters of late output that are kept until a command starts; of more, the end is kept. */
export const MAX_BACKGROUND_CHARS = 16_000;

/** Prompt text that is looked through for job notices. */
const MAX_PROMPT_CHARS = 64 * 1024;

/** `[1]+  Done   sleep 1`, as bash prints it before a prompt. */
const JOB_NOTICE = /^\[\d+\][-+ ] .*$/gm;

/** Collects late output. */
export class Late {
  #clip = new Clip(MAX_BACKGROUND_CHARS, "tail");
  #stripper = new TextStripper();
  /** A prompt is being printed: of its text, only notices about jobs are kept. */
  #inPrompt = false;
  #promptText = "";
  /** From the typing of a line until the command starts. */
  #echo: Echo | null = null;
  /** What comes is not output: traces of our words, or of the set-up. */
  #deaf = false;
  #noisy = false;

  push(bytes: Uint8Array): void {
    if (this.#deaf) return;
    if (this.#echo === null) {
      this.#take(bytes, this.#inPrompt);
      return;
    }
    this.#echo.push(bytes, this.#inPrompt);
    if (this.#echo.isFull) this.#echo = new Echo(this.#splitEcho());
  }

  /**
   * A command is over.
   *
   * @param bare nothing is printed before the prompt (by PROMPT_COMMAND)
   * @param noisy the shell may show something of its own when it reads the next command
   */
  afterEnd(bare: boolean, noisy: boolean): void {
    this.#deaf = false;
    this.#echo = null;
    this.#noisy = noisy;
    this.#stripper = new TextStripper();
    this.#inPrompt = !bare;
  }

  /** The mark at the beginning of a prompt has come. */
  afterPromptStart(): void {
    this.#inPrompt = true;
  }

  /** The mark at the end of a prompt has come. */
  afterPrompt(): void {
    this.#inPrompt = false;
  }

  /** This line is about to be typed, and will be echoed. */
  beforeTyping(line: Uint8Array): void {
    this.#echo = new Echo(line);
    this.#deaf = this.#noisy;
  }

  /** Our set-up is about to be typed: until the shell is ready, nothing is output. */
  beforeSetUp(): void {
    this.#echo = null;
    this.#deaf = true;
  }

  /** The shell has read the line; until the command starts, traces of our words may be shown. */
  afterBegin(): void {
    this.#deaf = true;
  }

  /** The command starts: what came before, and what of its line has not been echoed. */
  afterStart(): { readonly output: string; readonly restOfEcho: Uint8Array } {
    const restOfEcho = this.#splitEcho();
    this.#echo = null;
    this.#keepNotices();
    return { output: this.#output(), restOfEcho };
  }

  /** Takes what is no echo; returns what of the line has not been echoed. */
  #splitEcho(): Uint8Array {
    if (this.#echo === null) return NO_BYTES;
    const { others, rest } = this.#echo.split();
    for (const { bytes, ofPrompt } of others) this.#take(bytes, ofPrompt);
    return rest;
  }

  #take(bytes: Uint8Array, ofPrompt: boolean): void {
    const text = this.#stripper.strip(bytes);
    if (ofPrompt) {
      this.#promptText = (this.#promptText + text).slice(-MAX_PROMPT_CHARS);
      return;
    }
    this.#keepNotices();
    this.#clip.push(text);
  }

  #keepNotices(): void {
    if (this.#promptText === "") return;
    const notices = this.#promptText.match(JOB_NOTICE) ?? [];
    for (const notice of notices) this.#clip.push(`${notice.trimEnd()}\n`);
    this.#promptText = "";
  }

  #output(): string {
    const clip = this.#clip;
    this.#clip = new Clip(MAX_BACKGROUND_CHARS, "tail");
    return tailWithNote(clip);
  }
}
