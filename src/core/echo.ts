/**
 * The echo of what we type, told from the output of background jobs that comes between.
 *
 * The kernel puts an echo out in pieces, and other output may come between two of them. What is to be echoed is known
 * byte by byte, so runs of bytes that make it up in order are taken for the echo, and all else for output.
 */

import { concat, indexOfBytes, NO_BYTES } from "./bytes.ts";

/** What each further run of an echo must be worth: bytes that merely look like it come in shorter ones. */
const RUN_COST_BYTES = 8;

/** The best runs are searched for in so many pairs of bytes at most (measured: 1 million take some 5 ms). */
const MAX_PAIRS = 1_000_000;

/** So much output is kept besides the echo. */
const MAX_KEPT_BYTES = 256 * 1024;

/** Echo and output after a line was typed, until the shell has read it. */
export class Echo {
  readonly #line: Uint8Array;
  #length = 0;
  readonly #pieces: { readonly bytes: Uint8Array; readonly ofPrompt: boolean }[] = [];

  constructor(line: Uint8Array) {
    this.#line = line;
  }

  /** @param ofPrompt apart from echo, it belongs to a prompt */
  push(bytes: Uint8Array, ofPrompt: boolean): void {
    this.#pieces.push({ bytes, ofPrompt });
    this.#length += bytes.length;
  }

  /** More has come than is to be kept: it should be split, and the rest looked for anew. */
  get isFull(): boolean {
    return this.#length > this.#line.length + MAX_KEPT_BYTES;
  }

  /** What is no echo, in order, and what of the line has not been echoed. */
  split(): {
    readonly others: readonly { readonly bytes: Uint8Array; readonly ofPrompt: boolean }[];
    readonly rest: Uint8Array;
  } {
    const all = concat(this.#pieces.map(({ bytes }) => bytes));
    const { runs: found, rest } = findEcho(all, this.#line);
    const runs = withPieces(all, found, this.#line);
    let at = 0;
    const others = this.#pieces.map(({ bytes, ofPrompt }) => {
      const from = at;
      at += bytes.length;
      return { bytes: without(all, runs, from, at), ofPrompt };
    });
    return { others, rest };
  }
}

/** So long a piece of the line is no output by chance. */
const MIN_PIECE_BYTES = 24;

/**
 * The runs, and what stands between them as it stands in the line: of a long echo the kernel loses parts on a busy
 * machine, and the pieces that are left come in no order that could be told.
 */
function withPieces(bytes: Uint8Array, runs: readonly Run[], line: Uint8Array): readonly Run[] {
  const echoed = runs.reduce((sum, { from, to }) => sum + to - from, 0);
  if (echoed === line.length) return runs;
  const all: Run[] = [];
  let at = 0;
  for (const run of [...runs, { from: bytes.length, to: bytes.length }]) {
    const gap = bytes.subarray(at, run.from);
    if (gap.length >= MIN_PIECE_BYTES && isMadeOf(line, gap)) all.push({ from: at, to: run.from });
    all.push(run);
    at = run.to;
  }
  return all;
}

/** Whether it is a row of pieces of the line, none of them short. */
function isMadeOf(line: Uint8Array, bytes: Uint8Array): boolean {
  const decoder = new TextDecoder("latin1");
  const text = decoder.decode(line);
  const row = decoder.decode(bytes);
  for (let at = 0; at < row.length; ) {
    const length = longestPiece(text, row, at);
    if (length < MIN_PIECE_BYTES && at + length < row.length) return false;
    at += length;
  }
  return true;
}

/** The length of the longest piece of the text that stands in the row at this place: by halving. */
function longestPiece(text: string, row: string, at: number): number {
  let length = 0;
  for (let step = 2 ** Math.floor(Math.log2(row.length - at)); step >= 1; step /= 2) {
    const next = length + step;
    if (at + next <= row.length && text.includes(row.slice(at, at + next))) length = next;
  }
  return length;
}

/** Bytes that are echo. */
interface Run {
  readonly from: number;
  readonly to: number;
}

/** What was found of an echo, and what of it is to come. */
interface Found {
  readonly runs: readonly Run[];
  readonly rest: Uint8Array;
}

/** The whole line where it stands in one piece, as it mostly does; else its runs. */
function findEcho(bytes: Uint8Array, line: Uint8Array): Found {
  if (bytes.length === 0 || line.length === 0) return { runs: [], rest: line };
  const at = indexOfBytes(bytes, line);
  if (at !== -1) return { runs: [{ from: at, to: at + line.length }], rest: NO_BYTES };
  return bytes.length * line.length <= MAX_PAIRS ? bestRuns(bytes, line) : runsByLine(bytes, line);
}

/**
 * The beginning of the line as runs of the bytes, so that as much of it as possible is found in as few runs as
 * possible: by dynamic programming over all pairs of a byte and a length of the beginning.
 */
function bestRuns(bytes: Uint8Array, line: Uint8Array): Found {
  const width = line.length + 1;
  // By length of the beginning: its best worth, and its best worth if the last byte belongs to it.
  const worth = new Int32Array(width).fill(IMPOSSIBLE);
  const worthInRun = new Int32Array(width).fill(IMPOSSIBLE);
  const steps = new Uint8Array(bytes.length * width);
  worth[0] = 0;
  for (let i = 0; i < bytes.length; i++) {
    for (let length = line.length; length > 0; length--) {
      const cell = i * width + length;
      let inRun = IMPOSSIBLE;
      if (bytes[i] === line[length - 1]) {
        const goesOn = worthInRun[length - 1] as number;
        const begins = (worth[length - 1] as number) - RUN_COST_BYTES;
        inRun = Math.max(goesOn, begins) + 1;
        if (goesOn >= begins) steps[cell] = GOES_ON;
      }
      worthInRun[length] = inRun;
      if (inRun > (worth[length] as number)) {
        worth[length] = inRun;
        steps[cell] = (steps[cell] as number) | BEST;
      }
    }
    worthInRun[0] = IMPOSSIBLE;
  }
  // The whole of it is expected: its last run may be short.
  worth[line.length] = (worth[line.length] as number) + 2 * RUN_COST_BYTES;
  const found = worth.indexOf(worth.reduce((best, each) => Math.max(best, each)));
  return { runs: traceBack(steps, width, bytes.length, found), rest: line.subarray(found) };
}

/** Less than any worth, and far from the smallest number. */
const IMPOSSIBLE = -(2 ** 30);

/** The run that the byte belongs to, if it does, goes on from the byte before. */
const GOES_ON = 1;
/** The best way to this beginning has the byte in a run. */
const BEST = 2;

function traceBack(steps: Uint8Array, width: number, end: number, found: number): Run[] {
  const runs: Run[] = [];
  let to: number | null = null;
  for (let i = end - 1, length = found; length > 0 && i >= 0; i--) {
    const step = steps[i * width + length] as number;
    if (to === null && !(step & BEST)) continue;
    to ??= i + 1;
    length--;
    if (step & GOES_ON) continue;
    runs.unshift({ from: i, to });
    to = null;
  }
  return runs;
}

/**
 * For long texts: the lines of the echo that stand in one piece, and the best runs between them, in as much as can be
 * searched.
 */
function runsByLine(bytes: Uint8Array, text: Uint8Array): Found {
  const runs: Run[] = [];
  let from = 0;
  let echoed = 0;
  const add = (to: number, upTo: number): Uint8Array => {
    const line = text.subarray(echoed, upTo);
    if (from >= to || line.length === 0) return line;
    const most = Math.floor(MAX_PAIRS / line.length);
    // Of too much, the part where the echo seems to begin.
    const start =
      to - from <= most
        ? 0
        : indexOfBytes(bytes.subarray(from, to), line.subarray(0, RUN_COST_BYTES));
    const offset = from + Math.max(start, 0);
    const found = bestRuns(bytes.subarray(offset, Math.min(to, offset + most)), line);
    for (const run of found.runs) runs.push({ from: offset + run.from, to: offset + run.to });
    return found.rest;
  };
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf(LF, start) + 1 || text.length;
    const at = indexOfBytes(bytes.subarray(from), text.subarray(start, end));
    if (at !== -1) {
      if (echoed < start) add(from + at, start);
      runs.push({ from: from + at, to: from + at + end - start });
      from += at + end - start;
      echoed = end;
    }
    start = end;
  }
  return { runs, rest: add(bytes.length, text.length) };
}

const LF = 0x0a;

/** The bytes from `from` to `to` that are in no run. */
function without(bytes: Uint8Array, runs: readonly Run[], from: number, to: number): Uint8Array {
  const parts: Uint8Array[] = [];
  let at = from;
  for (const run of runs) {
    if (run.from > at) parts.push(bytes.subarray(at, Math.min(run.from, to)));
    at = Math.max(at, run.to);
    if (at >= to) break;
  }
  if (at < to) parts.push(bytes.subarray(at, to));
  return concat(parts);
}

/** Echo that is still under way when the command starts comes with its first output or never. */
const MAX_DELAY_BYTES = 64 * 1024;

/** Takes the rest of an echo out of the output of the command. */
export class LateEcho {
  readonly #rest: Uint8Array;
  #seen = 0;
  #done = false;

  private constructor(rest: Uint8Array) {
    this.#rest = rest;
  }

  /**
   * What has to be looked for, if anything.
   *
   * @param id names the command in its line; a rest without it is too common to be told from output
   */
  static of(rest: Uint8Array, id: string): LateEcho | null {
    const hasId = rest.length > 0 && indexOfBytes(rest, new TextEncoder().encode(id)) !== -1;
    return hasId ? new LateEcho(rest) : null;
  }

  /** The bytes without the echo, which the kernel puts out in one piece. */
  remove(bytes: Uint8Array): Uint8Array {
    if (this.#done) return bytes;
    this.#seen += bytes.length;
    this.#done = this.#seen > MAX_DELAY_BYTES;
    const at = indexOfBytes(bytes, this.#rest);
    if (at === -1) return bytes;
    this.#done = true;
    return concat([bytes.subarray(0, at), bytes.subarray(at + this.#rest.length)]);
  }
}
