/** The PTY of Node.js, through node-pty. */

import { execFile } from "node:child_process";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { constants as osConstants } from "node:os";
import type { IPty } from "node-pty";
import { type Deferred, defer, pause } from "../core/deferred.ts";
import { EvershellError } from "../core/errors.ts";
import type { Pty, PtyExit, PtyRequest, PtyState, SignalName } from "../core/pty.ts";
import { endSession, isAlive, sendSignal } from "./end-session.ts";
import { endsOnInterrupt, processInfo, readsTerminal } from "./processes.ts";

/** What node-pty has besides its typed interface (1.1.0). */
interface UnixPty extends IPty {
  /** The master's descriptor. */
  readonly fd: number;
  /** The path of the terminal device. */
  readonly ptsName: string;
  /** Closes the master. */
  destroy(): void;
}

/** So many bytes may wait for the kernel. */
const MAX_QUEUED_BYTES = 16 * 1024 * 1024;

/** Pauses before a full terminal is tried again; a program that does not read costs next to nothing. */
const FIRST_RETRY_MS = 1;
const LAST_RETRY_MS = 50;

/** How often a paused PTY looks whether its process has ended; see `OutputQueue`. */
const PAUSED_LOOK_MS = 50;

/** Arguments of stty under which a line of printable text arrives as it was typed. */
const INPUT_MODES: readonly string[] =
  "-inlcr -igncr icrnl -istrip intr ^C quit ^\\ erase ^? kill ^U eof ^D eol undef susp ^Z start ^Q stop ^S lnext ^V werase ^W".split(
    " ",
  );
const LINUX_INPUT_MODES: readonly string[] = ["-iuclc", "eol2", "undef", "rprnt", "^R"];

/** Opens a PTY on this machine. */
export async function openPty(request: PtyRequest): Promise<Pty> {
  const { spawn } = await loadNodePty();
  const [file, ...args] = request.argv;
  const { cols, rows, cwd, env } = request;
  try {
    const pty = spawn(file, args, {
      cols,
      rows,
      cwd,
      env,
      name: env.TERM ?? "dumb",
      encoding: null,
    });
    return new NodePty(pty as UnixPty, request.onData);
  } catch (error) {
    throw new EvershellError("PTY_UNAVAILABLE", `no pseudoterminal could be opened: ${error}`, {
      cause: error,
    });
  }
}

async function loadNodePty(): Promise<typeof import("node-pty")> {
  try {
    return await import("node-pty");
  } catch (cause) {
    throw new EvershellError(
      "PTY_UNAVAILABLE",
      "node-pty is not installed or not built for this system; its build needs python3, make and a C++ " +
        `compiler: install them, then run "npm rebuild node-pty" (${cause})`,
      { cause },
    );
  }
}

class NodePty implements Pty {
  readonly exited: Promise<PtyExit>;
  readonly #pty: UnixPty;
  readonly #output: OutputQueue;
  readonly #input: InputQueue;
  #closing: Promise<void> | null = null;

  constructor(pty: UnixPty, onData: PtyRequest["onData"]) {
    this.#pty = pty;
    this.#output = new OutputQueue(pty, onData);
    this.#input = new InputQueue(pty);
    const device = holdDevice(pty.ptsName);
    this.exited = new Promise((resolve) => {
      pty.onExit(async ({ exitCode, signal }) => {
        if (device !== null) closeSync(device);
        this.#input.close();
        await this.#output.delivered();
        resolve(
          signal ? { exitCode: null, signal: signalName(signal) } : { exitCode, signal: null },
        );
      });
    });
  }

  write(bytes: Uint8Array, until?: AbortSignal): Promise<void> {
    return this.#input.write(bytes, until);
  }

  resize(cols: number, rows: number): void {
    // Once the process is gone, its descriptor may already be another file's.
    if (this.#closing === null && isAlive(this.#pty.pid)) this.#pty.resize(cols, rows);
  }

  async signal(name: SignalName): Promise<boolean> {
    const shell = await processInfo(this.#pty.pid);
    if (shell === null || shell.foregroundGroup <= 0) return false;
    return sendSignal(-shell.foregroundGroup, name);
  }

  async inspect(): Promise<PtyState | null> {
    const shell = await processInfo(this.#pty.pid);
    if (shell === null) return null;
    const { foregroundGroup, group, pid, state } = shell;
    const foreground = foregroundGroup === group;
    const reading = foreground && readsTerminal(pid, this.#pty.ptsName) === true;
    const interruptible = endsOnInterrupt(foregroundGroup);
    return { stopped: state === "T", foreground, foregroundGroup, interruptible, reading };
  }

  async repair(): Promise<void> {
    const [option, more] = process.platform === "linux" ? ["-F", LINUX_INPUT_MODES] : ["-f", []];
    await new Promise<void>((resolve) => {
      // A terminal that is gone cannot be set, and need not be.
      execFile("stty", [option, this.#pty.ptsName, ...INPUT_MODES, ...more], () => resolve());
    });
    sendSignal(this.#pty.pid, "SIGCONT");
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#input.close();
    this.#output.close();
    try {
      await endSession({ session: this.#pty.pid, device: this.#pty.ptsName });
    } catch {
      // No descriptor is free to look at the processes with.
      sendSignal(this.#pty.pid, "SIGKILL");
    }
    // Closes the master at once; the exit event follows without its usual delay.
    this.#pty.destroy();
    await Promise.race([this.exited, pause(LAST_WAIT_MS)]);
  }
}

/** A process that may not be signalled (a setuid program in the shell's place) is not waited for longer. */
const LAST_WAIT_MS = 2_000;

/**
 * Output on its way to the one who wants it: piece by piece, each when the one before has been taken. Meanwhile
 * the PTY is paused, and the kernel makes the process wait.
 */
class OutputQueue {
  readonly #pty: UnixPty;
  readonly #onData: PtyRequest["onData"];
  readonly #pieces: Uint8Array[] = [];
  /** Pending while a piece is being taken. */
  #taking: Promise<void> | null = null;
  #watch: NodeJS.Timeout | undefined;
  readonly #closed = defer<void>();
  #isClosed = false;

  constructor(pty: UnixPty, onData: PtyRequest["onData"]) {
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

/**
 * Keeps the terminal device open. When the last process closes it, libuv of Node 20 and 22 takes a short read
 * together with the hang-up for the end of the data, and the rest is lost (45 of 60 runs of `seq 1 30000`; with
 * the device held 180 of 180 were complete).
 */
function holdDevice(path: string): number | null {
  try {
    return openSync(path, constants.O_RDWR | constants.O_NOCTTY);
  } catch {
    // The process has ended already, and with it the terminal.
    return null;
  }
}

/**
 * Input on its way to the kernel. node-pty's own queue tries a full terminal again without a pause, at 60 to
 * 100 % of a CPU for as long as the program does not read.
 */
class InputQueue {
  readonly #pty: UnixPty;
  #writes: Write[] = [];
  #queuedBytes = 0;
  #retryMs = FIRST_RETRY_MS;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(pty: UnixPty) {
    this.#pty = pty;
  }

  async write(bytes: Uint8Array, until?: AbortSignal): Promise<void> {
    if (this.#closed || !isAlive(this.#pty.pid)) throw ended();
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
    if (this.#closed || !isAlive(this.#pty.pid)) return 0;
    try {
      return writeSync(this.#pty.fd, bytes);
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

function signalName(number: number): string {
  const found = Object.entries(osConstants.signals).find(([, value]) => value === number);
  return found?.[0] ?? `SIG${number}`;
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
