/**
 * Marks: escape sequences that our shell writes between the bytes of its commands, so that the host
 * sees where an output starts and ends.
 *
 *     CAN ESC ] 8133 ; <nonce> ; <kind> [ ; <field> ]… BEL
 *
 * It is an OSC sequence (ECMA-48 §8.3.89), so a terminal that does not know it shows nothing. CAN comes
 * first because it makes every terminal parser give up a sequence that a command left unfinished. The
 * nonce is new for each shell and an end names its command, so that output which replays an old
 * recording ends nothing.
 */

import { concat, NO_BYTES } from "./bytes.ts";
import { unquote } from "./quoting.ts";

const CAN = 0x18;
const BEL = 0x07;
const OSC_NUMBER = 8133;

/** Beyond this many bytes without BEL it is no mark of ours. The longest field is a quoted path. */
const MAX_MARK_BYTES = 32 * 1024;

/** What a mark says. */
export type Mark =
  /** Our functions are set up in the shell with this process id, whose prompt takes so many lines. */
  | { readonly kind: "ready"; readonly pid: number; readonly promptLines: number }
  /** The shell has read the command `id`, and traces of our words may follow until it starts. */
  | { readonly kind: "begin"; readonly id: string }
  /** From here on, what comes is output of the command `id`. */
  | { readonly kind: "start"; readonly id: string }
  /** The command `id` is over. */
  | {
      readonly kind: "end";
      readonly id: string;
      readonly status: number;
      /** Nothing is printed before the next prompt (by PROMPT_COMMAND). */
      readonly bare: boolean;
      /** The working directory, if it is another than at the last end. */
      readonly cwd: string | null;
    }
  /** A shell with this process id begins to show a prompt of the user's. */
  | { readonly kind: "promptStart"; readonly pid: number }
  /** A shell with this process id has shown its prompt, after a command with this status. */
  | { readonly kind: "prompt"; readonly pid: number; readonly status: number };

const KIND_OF_LETTER = {
  R: "ready",
  B: "begin",
  S: "start",
  E: "end",
  Q: "promptStart",
  P: "prompt",
} as const;

/** The mark up to its kind and fields, with the escapes of a shell that prints it (`\033`, `\a`). */
export function markInShell(nonce: string, kindAndFields: string): string {
  return `\\030\\033]${OSC_NUMBER};${nonce};${kindAndFields}\\a`;
}

/** Reads what stands between `<nonce>;` and BEL; null if it is not a mark that we write. */
export function parseMark(body: string): Mark | null {
  const [letter = "", first = "", status = "", flags = "", ...path] = body.split(";");
  const kind = KIND_OF_LETTER[letter as keyof typeof KIND_OF_LETTER];
  switch (kind) {
    case "ready":
      return { kind, pid: Number(first), promptLines: Number(status) + 1 };
    case "promptStart":
      return { kind, pid: Number(first) };
    case "prompt":
      return { kind, pid: Number(first), status: Number(status) };
    case "begin":
    case "start":
      return { kind, id: first };
    case "end":
      return {
        kind,
        id: first,
        status: Number(status),
        bare: flags.includes("b"),
        cwd: unquote(path.join(";")),
      };
    default:
      return null;
  }
}

/** Finds marks in a stream of bytes that may be cut anywhere. */
export class MarkScanner {
  readonly #prefix: Uint8Array;
  /** Bytes at the end of the last chunk that may be the beginning of a mark. */
  #held: Uint8Array = NO_BYTES;

  constructor(nonce: string) {
    this.#prefix = new TextEncoder().encode(`\x18\x1b]${OSC_NUMBER};${nonce};`);
  }

  /** Cuts the stream into output and marks, and hands them on in order. */
  scan(
    chunk: Uint8Array,
    onOutput: (bytes: Uint8Array) => void,
    onMark: (mark: Mark) => void,
  ): void {
    const bytes = this.#held.length === 0 ? chunk : concat([this.#held, chunk]);
    let done = 0;
    let keepFrom = bytes.length;
    for (let at = bytes.indexOf(CAN); at !== -1; at = bytes.indexOf(CAN, at + 1)) {
      if (!this.#startsMark(bytes, at)) continue;
      const bodyAt = at + this.#prefix.length;
      const end = bytes.indexOf(BEL, bodyAt);
      if (end === -1) {
        if (bytes.length - at > MAX_MARK_BYTES) continue;
        keepFrom = at;
        break;
      }
      if (at > done) onOutput(bytes.subarray(done, at));
      done = end + 1;
      at = end;
      const mark = parseMark(new TextDecoder().decode(bytes.subarray(bodyAt, end)));
      if (mark !== null) onMark(mark);
    }
    if (keepFrom > done) onOutput(bytes.subarray(done, keepFrom));
    this.#held = bytes.slice(keepFrom);
  }

  /** Whether the bytes from `at` on are our prefix, as far as they go. */
  #startsMark(bytes: Uint8Array, at: number): boolean {
    const length = Math.min(this.#prefix.length, bytes.length - at);
    for (let i = 1; i < length; i++) if (bytes[at + i] !== this.#prefix[i]) return false;
    return true;
  }
}
