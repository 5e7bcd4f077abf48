/** Typing into a terminal, and waiting for what comes of it. */

import { orAborted } from "./abort.ts";
import { AppendOnlyReader } from "./append-only.ts";
import { Clip, tailWithNote } from "./clip.ts";
import { untilRead, within } from "./deferred.ts";
import { isForPassword } from "./lookout.ts";
import type { ResolvedSendOptions } from "./options.ts";
import type { Pty, TerminalReader } from "./pty.ts";
import type { InputWait } from "./result.ts";

/** Why `send` came back. Silence is never taken for proof. */
export type SendWait =
  /** It is proved that a program, or the shell itself, waits for input. */
  | "stdin_read"
  /** Nothing has been printed for a while. */
  | "inferred_idle"
  /** The time is over. */
  | "timeout"
  /** The process on the terminal has ended. */
  | "session_exit";

/** What came of an input. */
export interface SendResult {
  /**
   * What appeared: the text that was added; where the program painted, the lines from that of the cursor on, or the
   * screen. The last 16 000 characters.
   */
  readonly output: string;
  readonly wait: SendWait;
  /** Who waits for input, if that is proved and it is not the shell at its own prompt. */
  readonly reader: InputWait | null;
}

/** What is typed into. */
export interface SendTarget {
  readonly pty: Pty;
  /** What the terminal was opened for is a shell, which reads at its own prompt. */
  readonly leaderIsShell: boolean;
  /** How many bytes have come from the terminal. */
  readonly received: () => number;
  /** Settles when nothing more can come of the input, with the reason. */
  readonly over: Promise<SendWait>;
  /** Hears the output until the returned function is called. */
  tap(listener: (bytes: Uint8Array) => void): () => void;
  /** Resolves when the terminal has taken the input. */
  write(): Promise<void>;
  /** The text from the present line on, when the returned function is called. */
  fromHere(): () => string;
}

/** How often it is looked whether somebody waits for input; two looks that agree are proof. */
const LOOK_MS = 50;

/** So late the end of a program may be told, after its terminal takes no more input. */
const END_MS = 500;

/** Silence after which a terminal counts as idle. */
const IDLE_MS = 1_000;

const MAX_OUTPUT_CHARS = 16_000;

/** @throws {EvershellError} `ABORTED` by the signal; what `write` rejects with */
export async function send(
  target: SendTarget,
  { waitMs, signal }: ResolvedSendOptions,
): Promise<SendResult> {
  const appeared = new Appearance(target.fromHere());
  const untap = target.tap((bytes) => appeared.push(bytes));
  try {
    const [wait, reader] = await waitAfterInput(target, waitMs, signal);
    return { output: appeared.text(), wait, reader };
  } finally {
    untap();
  }
}

async function waitAfterInput(
  target: SendTarget,
  waitMs: number,
  signal: AbortSignal | null,
): Promise<[SendWait, InputWait | null]> {
  const deadline = performance.now() + waitMs;
  const over = target.over.then((wait) => ({ wait }));
  // What is typed into something that ends meanwhile fails, which its end tells better.
  const typed = target.write().catch(async (error: unknown) => {
    await within(over, END_MS);
    throw error;
  });
  const left = (): number => Math.max(0, deadline - performance.now());
  const first = await orAborted(within(Promise.race([over, typed]), left()), signal);
  if (first) return [first.wait, null];
  let received = target.received();
  let changedAt = performance.now();
  for (let before: TerminalReader | null = null; left() > 0; ) {
    const ended = await orAborted(within(over, Math.min(LOOK_MS, left())), signal);
    if (ended) return [ended.wait, null];
    const reader = target.received() === received ? await target.pty.reader() : null;
    if (reader !== null) await untilRead();
    if (target.received() !== received) {
      received = target.received();
      changedAt = performance.now();
      before = null;
    } else if (reader !== null && reader.pid === before?.pid && reader.wait === before.wait) {
      return ["stdin_read", await waitOf(target, reader)];
    } else {
      before = reader;
      if (performance.now() - changedAt >= IDLE_MS) return ["inferred_idle", null];
    }
  }
  return ["timeout", null];
}

/** Who waits; null for a shell at its own prompt. There it reads keys, and lines when a command of it (`read`) does. */
async function waitOf(
  { pty, leaderIsShell }: SendTarget,
  { pid, program }: TerminalReader,
): Promise<InputWait | null> {
  const modes = await pty.modes();
  if (leaderIsShell && modes?.lines === false) {
    const state = await pty.inspect();
    if (state?.foreground && state.foregroundGroup === pid) return null;
  }
  return { program, password: isForPassword(modes) };
}

/** What appears on a terminal from now on. */
class Appearance {
  readonly #painted: () => string;
  readonly #reader = new AppendOnlyReader();
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #clip = new Clip(MAX_OUTPUT_CHARS, "tail");
  #appends = true;

  /** @param painted tells it if not only text is added */
  constructor(painted: () => string) {
    this.#painted = painted;
  }

  push(bytes: Uint8Array): void {
    const text = this.#appends ? this.#reader.read(bytes) : null;
    if (text === null) this.#appends = false;
    else this.#clip.push(this.#decoder.decode(text, { stream: true }));
  }

  text(): string {
    if (this.#appends) return tailWithNote(this.#clip);
    const clip = new Clip(MAX_OUTPUT_CHARS, "tail");
    clip.push(this.#painted().trimEnd());
    return tailWithNote(clip);
  }
}
