/** A PTY without a terminal or a process: a test plays its output, sees what is written to it, and ends it. */

import { EvershellError } from "../../src/core/errors.ts";
import type {
  OpenPty,
  Pty,
  PtyExit,
  PtyRequest,
  PtyState,
  SignalName,
  TerminalModes,
  TerminalReader,
} from "../../src/core/pty.ts";

/** So many bytes may wait while input is held; the contract's bound. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** What the "process" of a scripted PTY does from its start on. */
export type FakeProgram = (pty: FakePty) => void;

/**
 * Makes an `openPty` whose terminals run a program of the test, and the list of those that it opened.
 *
 * @example
 * ```ts
 * const { openPty, opened } = fakePtys((pty) => pty.play("hello", [2]));
 * ```
 */
export function fakePtys(program: FakeProgram = () => undefined): {
  readonly openPty: OpenPty;
  readonly opened: readonly FakePty[];
} {
  const opened: FakePty[] = [];
  const openPty: OpenPty = async (request) => {
    const pty = new FakePty(request);
    opened.push(pty);
    program(pty);
    return pty;
  };
  return { openPty, opened };
}

/** What `inspect` tells as the process id of the "process". */
export const FAKE_PID = 100;

interface WaitingWrite {
  readonly bytes: Uint8Array;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class FakePty implements Pty {
  readonly request: PtyRequest;
  readonly exited: Promise<PtyExit>;
  /** What has been taken from the writes, one entry a call. */
  readonly written: Uint8Array[] = [];
  /** Every size, the first included, as `[cols, rows]`. */
  readonly sizes: [number, number][];
  readonly signals: SignalName[] = [];
  repairs = 0;
  /** What `inspect` tells. */
  state: PtyState | null = {
    stopped: false,
    foreground: true,
    foregroundGroup: FAKE_PID,
    interruptible: false,
    readSize: null,
  };
  /** What `reader` tells. */
  waiting: TerminalReader | null = null;
  /** What `modes` tells. */
  terminalModes: TerminalModes | null = { echo: true, lines: true };
  /** Hears of each write as it is taken. */
  onWrite: (text: string) => void = () => undefined;
  /** Hears of each signal. */
  onSignal: (name: SignalName) => void = () => undefined;
  #settleExited: (exit: PtyExit) => void = () => undefined;
  /** Output that was played and not yet given; the end comes after it. */
  #output: (Uint8Array | PtyExit)[] = [];
  #delivery: Promise<void> | null = null;
  #waiting: WaitingWrite[] = [];
  #inputHeld = false;
  #over = false;

  constructor(request: PtyRequest) {
    this.request = request;
    this.sizes = [[request.cols, request.rows]];
    this.exited = new Promise((resolve) => {
      this.#settleExited = resolve;
    });
  }

  /** All that was written, as text. */
  get writtenText(): string {
    const decoder = new TextDecoder();
    const parts = this.written.map((bytes) => decoder.decode(bytes, { stream: true }));
    return parts.join("") + decoder.decode();
  }

  /**
   * Plays output.
   *
   * @param cuts where it is split: byte positions from its start, in ascending order; or the size of each piece
   */
  play(output: string | Uint8Array, cuts: readonly number[] | number = []): void {
    const bytes = typeof output === "string" ? new TextEncoder().encode(output) : output;
    const ends = typeof cuts === "number" ? multiples(cuts, bytes.length) : cuts;
    let from = 0;
    for (const to of [...ends, bytes.length]) {
      if (to > from && !this.#over) this.#output.push(bytes.slice(from, to));
      from = to;
    }
    this.#deliver();
  }

  /** The process ends, after the output that was played. */
  end(exit: Partial<PtyExit> = { exitCode: 0 }): void {
    this.#output.push({ exitCode: null, signal: null, ...exit });
    this.#deliver();
  }

  /** Resolves when all output that was played has been given and taken. */
  async delivered(): Promise<void> {
    while (this.#delivery !== null) await this.#delivery;
  }

  /** From now on writes wait, as if the program did not read. */
  holdInput(): void {
    this.#inputHeld = true;
  }

  /** The program reads again: what waits is taken. */
  releaseInput(): void {
    this.#inputHeld = false;
    for (const write of this.#waiting.splice(0)) {
      this.#accept(write.bytes);
      write.resolve();
    }
  }

  async write(bytes: Uint8Array, until?: AbortSignal): Promise<void> {
    if (this.#over) throw ended();
    if (until?.aborted) throw dropped();
    if (!this.#inputHeld) return this.#accept(bytes);
    const waiting = this.#waiting.reduce((sum, write) => sum + write.bytes.length, 0);
    if (waiting + bytes.length > MAX_WAITING_BYTES) {
      throw new EvershellError("BUSY", `more than ${MAX_WAITING_BYTES} bytes wait`);
    }
    await new Promise<void>((resolve, reject) => {
      const write = { bytes, resolve, reject };
      this.#waiting.push(write);
      until?.addEventListener("abort", () => this.#drop(write), { once: true });
    });
  }

  resize(cols: number, rows: number): void {
    if (!this.#over) this.sizes.push([cols, rows]);
  }

  async signal(name: SignalName): Promise<boolean> {
    if (this.#over) return false;
    this.signals.push(name);
    this.onSignal(name);
    return true;
  }

  async inspect(): Promise<PtyState | null> {
    return this.#over ? null : this.state;
  }

  async reader(): Promise<TerminalReader | null> {
    return this.#over ? null : this.waiting;
  }

  async modes(): Promise<TerminalModes | null> {
    return this.#over ? null : this.terminalModes;
  }

  async repair(): Promise<void> {
    this.repairs++;
  }

  async close(): Promise<void> {
    this.#output = [];
    this.#finish({ exitCode: null, signal: "SIGHUP" });
  }

  #drop(write: WaitingWrite): void {
    const at = this.#waiting.indexOf(write);
    if (at === -1) return;
    this.#waiting.splice(at, 1);
    write.reject(dropped());
  }

  #accept(bytes: Uint8Array): void {
    this.written.push(bytes.slice());
    this.onWrite(new TextDecoder().decode(bytes));
  }

  #deliver(): void {
    this.#delivery ??= this.#deliverAll().finally(() => {
      this.#delivery = null;
    });
  }

  async #deliverAll(): Promise<void> {
    // Output never comes from within the call that causes it.
    await Promise.resolve();
    for (let next = this.#output.shift(); next !== undefined; next = this.#output.shift()) {
      if (next instanceof Uint8Array) await this.request.onData(next);
      else this.#finish(next);
    }
  }

  #finish(exit: PtyExit): void {
    if (this.#over) return;
    this.#over = true;
    for (const write of this.#waiting.splice(0)) write.reject(ended());
    this.#settleExited(exit);
  }
}

function multiples(size: number, length: number): number[] {
  return Array.from({ length: Math.ceil(length / size) - 1 }, (_, index) => (index + 1) * size);
}

function dropped(): EvershellError {
  return new EvershellError("NOT_RUNNING", "the rest was dropped");
}

function ended(): EvershellError {
  return new EvershellError("CLOSED", "the terminal has ended");
}
