/** The complete bytes of an output that may be too long to keep in memory. */

import { concat } from "./bytes.ts";

/** Where complete outputs are kept; one folder a shell, private to the user. */
export interface SpillStore {
  /** A new empty file with mode 0600. Rejects if there can be none (a full disk, no permission). */
  create(): Promise<SpillFile>;
  /** Removes the folder and all files. Never rejects. */
  close(): Promise<void>;
}

export interface SpillFile {
  readonly path: string;
  /** Appends bytes; rejects if they cannot all be written. One call at a time. */
  append(bytes: Uint8Array): Promise<void>;
  /** Closes the file and keeps it. Never rejects. */
  close(): Promise<void>;
  /** Closes and deletes the file. Never rejects. */
  remove(): Promise<void>;
}

/** So much is held in memory before there is a file at all: most outputs never need one. */
const HELD_BYTES = 64 * 1024;

/** One write to the file; with small ones a fast command waits for the disk (measured: `yes`). */
const BLOCK_BYTES = 1024 * 1024;

/** So much may be on its way to the file before a command is held up. */
const MAX_WRITING_BYTES = 4 * BLOCK_BYTES;

/** The size of a file at most. Of a longer output no complete copy is kept. */
export const MAX_SPILL_BYTES: number = 64 * 1024 * 1024;

/** So many files a shell keeps; the oldest goes when one more comes. */
const MAX_SPILL_FILES = 16;

/** The spill files of one shell. */
export class SpillShelf {
  readonly #store: SpillStore | null;
  readonly #kept: SpillFile[] = [];
  #closed = false;

  /** @param store null where there are no files: no complete copy is kept then */
  constructor(store: SpillStore | null) {
    this.#store = store;
  }

  /** For the output of one command. */
  start(): Spill {
    return new Spill(
      () => this.#create(),
      (file) => this.#keep(file),
    );
  }

  /** Removes everything, and makes no files any more. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#store?.close();
  }

  async #create(): Promise<SpillFile | null> {
    return this.#closed || this.#store === null ? null : this.#store.create();
  }

  async #keep(file: SpillFile): Promise<void> {
    this.#kept.push(file);
    await file.close();
    if (this.#kept.length > MAX_SPILL_FILES) await this.#kept.shift()?.remove();
  }
}

/** Collects the bytes of one command, in memory first and then in a file. */
export class Spill {
  readonly #create: () => Promise<SpillFile | null>;
  readonly #keep: (file: SpillFile) => Promise<void>;
  #file: SpillFile | null = null;
  #failed = false;
  #totalBytes = 0;
  /** What is not yet on its way to the file. */
  #blocks: Uint8Array[] = [];
  #blockBytes = 0;
  /** What is on its way, and its size; one write after another. */
  #writing: Promise<void> = Promise.resolve();
  #writingBytes = 0;

  /**
   * @param create makes the file; null if there can be none
   * @param keep takes over the file when it is complete
   */
  constructor(create: () => Promise<SpillFile | null>, keep: (file: SpillFile) => Promise<void>) {
    this.#create = create;
    this.#keep = keep;
  }

  /** Takes bytes. Where it returns a promise, that is to be awaited before more come. */
  push(bytes: Uint8Array): void | Promise<void> {
    if (this.#failed) return;
    this.#totalBytes += bytes.length;
    if (this.#totalBytes > MAX_SPILL_BYTES) return this.#giveUp();
    this.#blocks.push(bytes);
    this.#blockBytes += bytes.length;
    if (this.#blockBytes < (this.#file === null ? HELD_BYTES : BLOCK_BYTES)) return;
    this.#flush();
    if (this.#writingBytes > MAX_WRITING_BYTES) return this.#writing;
  }

  /** The path of a file that holds all bytes so far; null if there is none. */
  async path(): Promise<string | null> {
    this.#flush();
    await this.#writing;
    // A write that has failed just now takes the file away.
    return this.#failed ? null : (this.#file?.path ?? null);
  }

  /** Ends the collection; the file stays only if someone was told its path. */
  async finish(keep: boolean): Promise<void> {
    if (keep) this.#flush();
    else this.#giveUp();
    await this.#writing;
    const file = this.#file;
    this.#file = null;
    this.#failed = true;
    if (file !== null) await this.#keep(file);
  }

  #flush(): void {
    if (this.#blockBytes === 0) return;
    const bytes = concat(this.#blocks);
    this.#blocks = [];
    this.#blockBytes = 0;
    this.#writingBytes += bytes.length;
    this.#writing = this.#writing.then(() => this.#write(bytes));
  }

  async #write(bytes: Uint8Array): Promise<void> {
    try {
      if (this.#failed) return;
      this.#file ??= await this.#create();
      if (this.#file === null) this.#giveUp();
      else await this.#file.append(bytes);
    } catch {
      // A full disk must not fail the command: the result says that there is no complete copy.
      this.#giveUp();
    } finally {
      this.#writingBytes -= bytes.length;
    }
  }

  /** From now on there is no complete copy. */
  #giveUp(): void {
    this.#failed = true;
    this.#blocks = [];
    this.#blockBytes = 0;
    this.#writing = this.#writing.then(async () => {
      await this.#file?.remove();
      this.#file = null;
    });
  }
}
