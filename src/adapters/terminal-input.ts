/** The input of a terminal: bounded, in order, and cheap while the program does not read. */

import { type Deferred, defer } from "../core/deferred.ts";
import { EvershellError } from "../core/errors.ts";
import { isAlive } from "./end-session.ts";

/** So many bytes may wait for the kernel. */
const MAX_QUEUED_BYTES = 16 * 1024 * 1024;

/** Pauses before a full terminal is tried again; a program that does not read costs next to nothing. */
const FIRST_RETRY_MS = 1;
const LAST_RETRY_MS = 50;

/** Where the input goes. */
export interface InputEnd {
  /** The process that was started on the terminal. */
  readonly pid: number;
  /** Writes without waiting: how many of the bytes the kernel took. May throw where it takes none. */
  write(bytes: Uint8Array): number;
}

/** Input on its way to the kernel. */
export class InputQueue {
  readonly #end: InputEnd;
  #writes: Write[] = [];
  #queuedBytes = 0;
  #retryMs = FIRST_RETRY_MS;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(end: InputEnd) {
    this.#end = end;
  }

  async write(bytes: Uint8Array, until?: AbortSignal): Promise<void> {
    if (this.#closed || !isAlive(this.#end.pid)) throw ended();
    if (until?.aborted) throw dropped();
    if (this.#queuedBytes + bytes.length > MAX_QUEUED_BYTES) throw tooMuch();
    const write: Write = { bytes, taken: defer() };
    const drop = (): void => this.#drop(write);
    until?.addEventListener("abort", drop);
    this.#writes.push(write);
    this.#queuedBytes += bytes.length;
    if (this.#writes.length === 1) this.#pump();
    try {
      await write.taken.promise;
    } finally {
      until?.removeEventListener("abort", drop);
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    for (const write of this.#writes.splice(0)) write.taken.reject(ended());
  }

  #drop(write: Write): void {
    const at = this.#writes.indexOf(write);
    if (at === -1) return;
    this.#writes.splice(at, 1);
    this.#queuedBytes -= write.bytes.length;
    write.taken.reject(dropped());
  }

  #pump(): void {
    clearTimeout(this.#retry);
    for (let write = this.#writes[0]; write !== undefined; write = this.#writes[0]) {
      const taken = this.#offer(write.bytes);
      this.#queuedBytes -= taken;
      if (taken < write.bytes.length) {
        write.bytes = write.bytes.subarray(taken);
        this.#retryMs = taken > 0 ? FIRST_RETRY_MS : Math.min(2 * this.#retryMs, LAST_RETRY_MS);
        this.#retry = setTimeout(() => this.#pump(), this.#retryMs);
        return;
      }
      this.#writes.shift();
      write.taken.resolve();
    }
  }

  /** How many of the bytes the kernel takes now. */
  #offer(bytes: Uint8Array): number {
    // Once the process is gone, its descriptor may already be another file's.
    if (this.#closed || !isAlive(this.#end.pid)) return 0;
    try {
      return this.#end.write(bytes);
    } catch {
      // EAGAIN: full. Other errors come with the end of the process, which closes this queue.
      return 0;
    }
  }
}

/** Bytes that the kernel has not taken yet. */
interface Write {
  bytes: Uint8Array;
  readonly taken: Deferred<void>;
}

function ended(): EvershellError {
  return new EvershellError("CLOSED", "the terminal has ended; what was to be typed was not taken");
}

function dropped(): EvershellError {
  return new EvershellError(
    "NOT_RUNNING",
    "the command ended before all of its input was taken; the rest was dropped",
  );
}

function tooMuch(): EvershellError {
  return new EvershellError(
    "BUSY",
    `more than ${MAX_QUEUED_BYTES} bytes wait to be typed; wait until the program has read them`,
  );
}
