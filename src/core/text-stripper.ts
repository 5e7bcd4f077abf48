/** The text of a stream without its escape sequences, where there is no screen to see it on. */

/**
 * ECMA-48: control sequences, control strings, other escape sequences; then what a terminal shows nothing for, and how
 * it echoes that typed characters are discarded.
 */
const SEQUENCE =
  /\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x18\x1a\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]|(?:\x08 \x08)+|[\x00-\x08\x0b-\x1f\x7f]/g;

/** A sequence that may go on in the next piece. */
const UNFINISHED =
  /\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x18\x1a\x1b]*\x1b?|[ -/]*)$|(?<!\x08 )\x08 ?$/;

/** A longer one is no sequence. */
const MAX_HELD_CHARS = 4096;

/** Takes pieces cut anywhere. */
export class TextStripper {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #held = "";

  strip(bytes: Uint8Array): string {
    const text = this.#held + this.#decoder.decode(bytes, { stream: true });
    const at = text.search(UNFINISHED);
    const end = at === -1 || text.length - at > MAX_HELD_CHARS ? text.length : at;
    this.#held = text.slice(end);
    return text.slice(0, end).replace(SEQUENCE, "");
  }
}
