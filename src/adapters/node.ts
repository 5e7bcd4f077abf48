/** The PTY of Node.js, through node-pty. */

import { closeSync, constants, openSync, writeSync } from "node:fs";
import { constants as osConstants } from "node:os";
import type { IPty } from "node-pty";
import { within } from "../core/deferred.ts";
import { EvershellError } from "../core/errors.ts";
import type {
  Pty,
  PtyExit,
  PtyRequest,
  PtyState,
  SignalName,
  TerminalModes,
  TerminalReader,
} from "../core/pty.ts";
import { isAlive } from "./end-session.ts";
import { InputQueue } from "./terminal-input.ts";
import { type Flow, OutputQueue } from "./terminal-output.ts";
import { TerminalProcesses } from "./terminal-processes.ts";

/** What node-pty (1.1.0) has besides its typed interface. */
interface UnixPty extends IPty {
  /** The path of the terminal device. */
  readonly ptsName: string;
  /** The master's descriptor. */
  readonly fd: number;
  /** Closes the master. */
  destroy(): void;
}

/** A process that may not be signalled (a setuid program in the shell's place) is not waited for longer. */
const LAST_WAIT_MS = 2_000;

/** How often a paused PTY looks whether its process has ended. */
const PAUSED_LOOK_MS = 50;

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
    return new NodePty(pty as UnixPty, request);
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
  readonly #flow: PausedWhileHeld;
  readonly #output: OutputQueue;
  readonly #input: InputQueue;
  readonly #processes: TerminalProcesses;
  #closing: Promise<void> | null = null;

  constructor(pty: UnixPty, request: PtyRequest) {
    this.#pty = pty;
    this.#processes = new TerminalProcesses(pty.pid, pty.ptsName, request);
    this.#flow = new PausedWhileHeld(pty);
    this.#output = new OutputQueue(request.onData, this.#flow);
    // With `encoding: null` the data are bytes, whatever the types say.
    pty.onData((data) => this.#output.push(data as unknown as Uint8Array));
    // node-pty's own queue tries a full terminal again without a pause, at 60 to 100 % of a CPU.
    this.#input = new InputQueue({ pid: pty.pid, write: (bytes) => writeSync(pty.fd, bytes) });
    const device = holdDevice(pty.ptsName);
    this.exited = new Promise((resolve) => {
      pty.onExit(async ({ exitCode, signal }) => {
        if (device !== null) closeSync(device);
        this.#input.close();
        this.#flow.stopLooking();
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

  signal(name: SignalName): Promise<boolean> {
    return this.#processes.signal(name);
  }

  inspect(): Promise<PtyState | null> {
    return this.#processes.inspect();
  }

  reader(): Promise<TerminalReader | null> {
    return this.#processes.reader();
  }

  modes(): Promise<TerminalModes | null> {
    return this.#processes.modes();
  }

  repair(): Promise<void> {
    return this.#processes.repair();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#input.close();
    this.#output.close();
    await this.#processes.end();
    // Closes the master at once; the exit event follows without its usual delay.
    this.#pty.destroy();
    await within(this.exited, LAST_WAIT_MS);
  }
}

/** Pauses node-pty, so that the kernel makes the process wait. */
class PausedWhileHeld implements Flow {
  readonly room = 0;
  readonly #pty: IPty;
  #look: NodeJS.Timeout | undefined;

  constructor(pty: IPty) {
    this.#pty = pty;
  }

  hold(): void {
    this.#pty.pause();
    this.#look = setInterval(() => this.#resumeIfEnded(), PAUSED_LOOK_MS);
  }

  release(): void {
    this.stopLooking();
    this.#pty.resume();
  }

  stopLooking(): void {
    clearInterval(this.#look);
  }

  /**
   * node-pty destroys its socket 200 ms after the process has ended, read or not. So a PTY that is paused over
   * the end is resumed, and what the kernel still holds (some 64 KiB at most) waits in the queue.
   */
  #resumeIfEnded(): void {
    if (!isAlive(this.#pty.pid)) this.release();
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

function signalName(number: number): string {
  const found = Object.entries(osConstants.signals).find(([, value]) => value === number);
  return found?.[0] ?? `SIG${number}`;
}
