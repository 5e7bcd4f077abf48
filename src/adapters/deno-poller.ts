/** Waits for the output of all terminals at once. */

import { Libc } from "./deno-libc.ts";

/**
 * Every call of the C library that waits holds one of the 32 threads that Deno has for all of its work, the files of
 * the host included. So there is one such call for all terminals; a byte in a pipe tells it that these are others now.
 */
export class Poller {
  readonly #libc: Libc;
  readonly #bell: { readonly from: number; readonly to: number };
  readonly #watchers = new Map<number, () => void>();
  /** The call that waits. */
  #call: Promise<number[]> | null = null;
  #isWoken = false;
  #loop: Promise<void> | null = null;

  constructor(libc: Libc) {
    this.#libc = libc;
    const [from, to] = libc.openPipe();
    this.#bell = { from, to };
  }

  /** Calls this each time that the descriptor can be read. */
  watch(fd: number, onReadable: () => void): void {
    this.#watchers.set(fd, onReadable);
    this.#wake();
    this.#loop ??= this.#run();
  }

  /** Resolves when nothing looks at the descriptor any more, so that it can be closed. */
  async unwatch(fd: number): Promise<void> {
    this.#watchers.delete(fd);
    this.#wake();
    await this.#call;
  }

  /** To be called when nothing is watched. */
  async close(): Promise<void> {
    await this.#loop;
    this.#libc.close(this.#bell.from);
    this.#libc.close(this.#bell.to);
  }

  async #run(): Promise<void> {
    while (this.#watchers.size > 0) {
      this.#call = this.#libc.poll([this.#bell.from, ...this.#watchers.keys()]);
      const ready = await this.#call;
      this.#call = null;
      if (this.#isWoken) this.#libc.read(this.#bell.from, 1);
      this.#isWoken = false;
      for (const fd of ready) this.#watchers.get(fd)?.();
    }
    this.#loop = null;
  }

  #wake(): void {
    if (this.#call === null || this.#isWoken) return;
    this.#isWoken = true;
    this.#libc.write(this.#bell.to, Uint8Array.of(0));
  }
}

/** What all terminals share. */
export interface TerminalSystem {
  readonly libc: Libc;
  readonly poller: Poller;
}

let shared: (TerminalSystem & { users: number }) | null = null;

/** It comes with the first terminal and goes with the last, so that nothing is left of them in the host. */
export function acquireSystem(): TerminalSystem {
  if (shared === null) {
    const libc = new Libc();
    try {
      shared = { libc, poller: new Poller(libc), users: 0 };
    } catch (error) {
      libc.unload();
      throw error;
    }
  }
  shared.users++;
  return shared;
}

export async function releaseSystem(): Promise<void> {
  const system = shared;
  if (system === null || --system.users > 0) return;
  shared = null;
  await system.poller.close();
  system.libc.unload();
}
