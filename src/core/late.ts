/**
 * What arrives between the end of one command and the start of the next: output of background jobs, which
 * is kept, among prompts, the echo of our lines and traces of our words, which are not.
 */

import { AppendOnlyReader } from "./append-only.ts";
import { Clip } from "./clip.ts";
import type { PromptNature } from "./marks.ts";

/** Late output kept until someone asks; of more, the end is kept. */
const MAX_CHARS = 16_000;

/** A prompt that cannot be marked is taken to be complete after so long a silence. */
const PROMPT_QUIET_MS = 100;

/** Prompt text that is looked through for job notices. */
const MAX_PROMPT_CHARS = 64 * 1024;

/** `[1]+  Done   sleep 1`, as bash prints it before a prompt. */
const JOB_NOTICE = /^\[\d+\][-+ ] .*$/gm;

/** A prompt that is being printed. */
interface Prompt {
  /** Our mark will tell its end. */
  readonly marked: boolean;
  text: string;
  lastAt: number;
}

/** Collects late output. */
export class Late {
  readonly #now: () => number;
  #clip = new Clip(MAX_CHARS, "tail");
  /** Until the prompt is complete, only notices about jobs are kept. */
  #prompt: Prompt | null = null;
  /** The echo of our lines, from their typing on. */
  #echo: Echo | null = null;
  /** Output among the echo, if the lines were taken as they were typed. */
  #besideEcho = "";
  /** From the begin mark on our words run, and traces of them may be shown. */
  #wordsRun = false;
  #verbose = false;

  /** @param now monotonic clock in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  push(bytes: Uint8Array): void {
    if (this.#wordsRun) return;
    const text = plainText(this.#echo?.remove(bytes) ?? bytes);
    if (text === "") return;
    if (this.#prompt !== null && this.#isQuietAfter(this.#prompt)) this.afterPrompt();
    if (this.#prompt === null) {
      if (this.#echo === null) this.#clip.push(text);
      else this.#besideEcho = (this.#besideEcho + text).slice(-MAX_PROMPT_CHARS);
      return;
    }
    this.#prompt.lastAt = this.#now();
    this.#prompt.text = (this.#prompt.text + text).slice(-MAX_PROMPT_CHARS);
  }

  /**
   * A command is over, and a prompt of this nature follows.
   *
   * @param verbose the shell will repeat the lines that we type next
   */
  afterEnd(nature: PromptNature, verbose: boolean): void {
    this.#wordsRun = false;
    this.#verbose = verbose;
    this.#prompt =
      nature === "bare" ? null : { marked: nature === "marked", text: "", lastAt: this.#now() };
  }

  /** The prompt is complete. */
  afterPrompt(): void {
    const notices = this.#prompt?.text.match(JOB_NOTICE) ?? [];
    for (const notice of notices) this.#clip.push(`${notice.trimEnd()}\n`);
    this.#prompt = null;
  }

  /** These bytes are being typed and will be echoed. */
  afterTyping(line: Uint8Array): void {
    this.#echo = new Echo(line);
    if (this.#prompt !== null && this.#isQuietAfter(this.#prompt)) this.afterPrompt();
    this.#wordsRun = this.#verbose;
  }

  /** Our set-up is being typed; until the shell is ready it does our bidding. */
  afterSetUp(): void {
    this.afterPrompt();
    this.#besideEcho = "";
    this.#wordsRun = true;
  }

  /** The shell has read all that was typed; until the start mark it does our bidding. */
  afterBegin(): Echo | null {
    const echo = this.#echo;
    this.#echo = null;
    this.#wordsRun = true;
    this.afterPrompt();
    this.#clip.push(this.#besideEcho);
    this.#besideEcho = "";
    return echo;
  }

  /** What came since the last call. */
  take(): string {
    const { text, shownChars, totalChars } = this.#clip.finish();
    this.#clip = new Clip(MAX_CHARS, "tail");
    const left = totalChars - shownChars;
    return left === 0 ? text : `[… ${left} characters left out …]\n${text}`;
  }

  /** A prompt without our mark is complete when it has been silent for a while. */
  #isQuietAfter(prompt: Prompt): boolean {
    return !prompt.marked && prompt.text !== "" && this.#now() - prompt.lastAt > PROMPT_QUIET_MS;
  }
}

/**
 * The echo of what we typed. It is known byte by byte, and other output may come between any two of them; so
 * each byte that is the next one of the echo is taken for it, and all others are output.
 */
export class Echo {
  readonly #line: Uint8Array;
  #at = 0;

  constructor(line: Uint8Array) {
    this.#line = line;
  }

  /** The bytes that are not echo. */
  remove(bytes: Uint8Array): Uint8Array {
    const others = new Uint8Array(bytes.length);
    let length = 0;
    for (const byte of bytes) {
      if (byte === this.#line[this.#at]) this.#at++;
      else others[length++] = byte;
    }
    return others.subarray(0, length);
  }

  /** What has not been echoed yet. */
  get rest(): Uint8Array {
    return this.#line.subarray(this.#at);
  }
}

/** The text of bytes, with all sequences left out. */
function plainText(bytes: Uint8Array): string {
  if (bytes.length === 0) return "";
  const text = new AppendOnlyReader().read(bytes);
  if (text !== null) return new TextDecoder().decode(text);
  return stripSequences(new TextDecoder().decode(bytes));
}

/** For output that paints where there is no screen to see it on. */
function stripSequences(text: string): string {
  return text.replace(ERASED, "").replace(SEQUENCE, "");
}

/** How the terminal echoes that typed characters are discarded. */
const ERASED = /(?:\x08 \x08)+/g;

/** ECMA-48: control sequences, control strings, other escape sequences, and controls without effect on text. */
const SEQUENCE =
  /\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x18\x1a\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]|[\x00-\x08\x0b-\x1f\x7f]/g;
