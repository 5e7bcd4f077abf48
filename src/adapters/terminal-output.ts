/** The output of a terminal, handed on no faster than it is taken. */

import { defer } from "../core/deferred.ts";
import type { PtyRequest } from "../core/pty.ts";

/** How the process is made to wait. */
export interface Flow {
  /** So many bytes may wait to be taken before the process is held. */
  readonly room: number;
  /** From now on nothing more is to come; what is on its way may. */
  hold(): void;
  release(): void;
}

/** Output on its way to the one who wants it: piece by piece, each when the one before has been taken. */
export class OutputQueue {
  readonly #onData: PtyRequest["onData"];
  readonly #flow: Flow;
  readonly #pieces: Uint8Array[] = [];
  #waitingBytes = 0;
  #holding = false;
  /** Pending while a piece is being taken. */
  #taking: Promise<void> | null = null;
  readonly #closed = defer<void>();
  #isClosed = false;

  constructor(onData: PtyRequest["onData"], flow: Flow) {
    this.#onData = onData;
    this.#flow = flow;
  }

  push(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    if (this.#taking !== null) {
      this.#pieces.push(bytes);
      this.#waitingBytes += bytes.length;
      this.#holdIfFull();
      return;
    }
    const held = this.#onData(bytes);
    if (held) this.#taking = this.#takeRest(held);
  }

  /** Resolves when all that has come has been taken. */
  async delivered(): Promise<void> {
    while (this.#taking !== null && !this.#isClosed) {
      await Promise.race([this.#taking, this.#closed.promise]);
    }
  }

  /** What has not been taken is dropped, and nobody is waited for. */
  close(): void {
    this.#isClosed = true;
    this.#closed.resolve();
    this.#pieces.length = 0;
    this.#release();
  }

  async #takeRest(first: Promise<unknown>): Promise<void> {
    this.#holdIfFull();
    try {
      await first;
      for (let next = this.#pieces.shift(); next !== undefined; next = this.#pieces.shift()) {
        this.#waitingBytes -= next.length;
        await this.#onData(next);
      }
    } finally {
      this.#taking = null;
      this.#release();
    }
  }

  #holdIfFull(): void {
    if (this.#holding || this.#waitingBytes < this.#flow.room) return;
    this.#holding = true;
    this.#flow.hold();
  }

  #release(): void {
    if (!this.#holding) return;
    this.#holding = false;
    this.#flow.release();
  }
}
