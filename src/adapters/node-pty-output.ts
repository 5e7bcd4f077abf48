/** The output of node-pty's terminals, handed on no faster than it is taken. */

import type { IPty } from "node-pty";
import { defer } from "../core/deferred.ts";
import type { PtyRequest } from "../core/pty.ts";
import { isAlive } from "./end-session.ts";

/** How often a paused PTY looks whether its process has ended. */
const PAUSED_LOOK_MS = 50;

/**
 * Output on its way to the one who wants it: piece by piece, each when the one before has been taken. Meanwhile
 * the PTY is paused, and the kernel makes the process wait.
 */
export class OutputQueue {
  readonly #pty: IPty;
  readonly #onData: PtyRequest["onData"];
  readonly #pieces: Uint8Array[] = [];
  /** Pending while a piece is being taken. */
  #taking: Promise<void> | null = null;
  #watch: NodeJS.Timeout | undefined;
  readonly #closed = defer<void>();
  #isClosed = false;

  constructor(pty: IPty, onData: PtyRequest["onData"]) {
    this.#pty = pty;
    this.#onData = onData;
    // With `encoding: null` the data are bytes, whatever the types say.
    pty.onData((data) => this.#push(data as unknown as Uint8Array));
  }

  /** Resolves when all that has come has been taken. */
  async delivered(): Promise<void> {
    clearInterval(this.#watch);
    while (this.#taking !== null && !this.#isClosed) {
      await Promise.race([this.#taking, this.#closed.promise]);
    }
  }

  /** What has not been taken is dropped, and nobody is waited for. */
  close(): void {
    this.#isClosed = true;
    this.#closed.resolve();
    this.#pieces.length = 0;
    clearInterval(this.#watch);
    this.#pty.resume();
  }

  #push(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    if (this.#taking !== null) {
      this.#pieces.push(bytes);
      return;
    }
    const held = this.#onData(bytes);
    if (held) this.#taking = this.#takeRest(held);
  }

  async #takeRest(first: Promise<unknown>): Promise<void> {
    this.#pty.pause();
    this.#watch = setInterval(() => this.#resumeIfEnded(), PAUSED_LOOK_MS);
    try {
      await first;
      for (let next = this.#pieces.shift(); next !== undefined; next = this.#pieces.shift()) {
        await this.#onData(next);
      }
    } finally {
      clearInterval(this.#watch);
      this.#taking = null;
      if (!this.#isClosed) this.#pty.resume();
    }
  }

  /**
   * node-pty destroys its socket 200 ms after the process has ended, read or not. So a PTY that is paused over
   * the end is resumed, and what the kernel still holds (some 64 KiB at most) waits here.
   */
  #resumeIfEnded(): void {
    if (isAlive(this.#pty.pid)) return;
    clearInterval(this.#watch);
    this.#pty.resume();
  }
}
