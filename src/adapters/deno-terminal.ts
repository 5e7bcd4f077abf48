/** The host's end of a terminal on Deno. */

import { execFile } from "node:child_process";
import type { Libc } from "./deno-libc.ts";
import { acquireSystem, type Poller, releaseSystem, type TerminalSystem } from "./deno-poller.ts";

const isLinux = process.platform === "linux";

/** Opens a new one, on which nothing runs. */
export async function openTerminal(): Promise<Terminal> {
  const system = acquireSystem();
  try {
    return new Terminal(system);
  } catch (error) {
    await releaseSystem();
    throw error;
  }
}

/** Once it is closed, all that is asked of it does nothing. */
export class Terminal {
  readonly device: string;
  onReadable: () => void = () => undefined;
  readonly #libc: Libc;
  readonly #poller: Poller;
  readonly #master: number;
  /**
   * The device, held open until the process has ended: else there is nothing to wait for while no process has it open,
   * at its start and when it gives it up for a while.
   */
  readonly #held: number;
  #ending: Promise<void> | null = null;
  #closing: Promise<void> | null = null;
  /** The last change of the size. */
  #sizing: Promise<void> = Promise.resolve();

  constructor({ libc, poller }: TerminalSystem) {
    this.#libc = libc;
    this.#poller = poller;
    const { master, device } = libc.openTerminal();
    this.#master = master;
    this.device = device;
    try {
      this.#held = libc.openDevice(device);
    } catch (error) {
      libc.close(master);
      throw error;
    }
  }

  resume(): void {
    if (this.#ending === null) this.#poller.watch(this.#master, () => this.onReadable());
  }

  pause(): void {
    void this.#poller.unwatch(this.#master);
  }

  read(): Uint8Array | null {
    return this.#closing !== null ? null : this.#libc.read(this.#master);
  }

  write(bytes: Uint8Array): number {
    return this.#closing !== null ? 0 : this.#libc.write(this.#master, bytes);
  }

  async setSize(cols: number, rows: number): Promise<void> {
    if (this.#ending !== null) return;
    if (isLinux) return this.#libc.setSize(this.#master, cols, rows);
    this.#sizing = this.#sizing.then(() => setSizeOf(this.device, cols, rows));
    await this.#sizing;
  }

  /** The process has ended: what is there is all that comes. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #end(): Promise<void> {
    await this.#poller.unwatch(this.#master);
    this.#libc.close(this.#held);
  }

  async #close(): Promise<void> {
    await this.end();
    this.#libc.close(this.#master);
    await releaseSystem();
  }
}

/** Sets the size of a terminal by its device (macOS). */
function setSizeOf(device: string, cols: number, rows: number): Promise<void> {
  const change = ["-f", device, "cols", String(cols), "rows", String(rows)];
  return new Promise((resolve) => {
    // A terminal that is gone cannot be set, and need not be.
    execFile("stty", change, () => resolve());
  });
}
