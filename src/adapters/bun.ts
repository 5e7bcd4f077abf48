/** The PTY of Bun, which opens terminals by itself. */

import { closeSync, constants, openSync, readlinkSync, readSync, writeSync } from "node:fs";
import { type SpawnOptions, type Subprocess, spawn } from "bun";
import { defer, within } from "../core/deferred.ts";
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
import { openMasters, setFlow } from "./bun-libc.ts";
import { sendSignal } from "./end-session.ts";
import { InputQueue } from "./terminal-input.ts";
import { type Flow, OutputQueue } from "./terminal-output.ts";
import { TerminalProcesses } from "./terminal-processes.ts";

/** A process that may not be signalled (a setuid program in the shell's place) is not waited for longer. */
const LAST_WAIT_MS = 2_000;

/** So much output may wait before the process is held, as in the kernel's own buffer. */
const ROOM_BYTES = 65_536;

/** Opens a PTY on this machine. */
export async function openPty(request: PtyRequest): Promise<Pty> {
  try {
    return new BunPty(request);
  } catch (error) {
    throw new EvershellError("PTY_UNAVAILABLE", `no pseudoterminal could be opened: ${error}`, {
      cause: error,
    });
  }
}

class BunPty implements Pty {
  readonly exited: Promise<PtyExit>;
  readonly #process: Subprocess;
  /** The descriptor of the master, which is not read from before the process has ended. */
  readonly #master: number;
  readonly #flow: DeviceFlow;
  readonly #output: OutputQueue;
  readonly #input: InputQueue;
  readonly #processes: TerminalProcesses;
  #isFree = false;
  #closing: Promise<void> | null = null;

  constructor(request: PtyRequest) {
    const before = openMasters();
    const ended = defer<void>();
    this.#process = start(request, {
      data: (bytes) => this.#output.push(bytes),
      onExit: () => ended.resolve(),
    });
    try {
      const { pid } = this.#process;
      const [master, device] = openedMaster(before, openMasters(), pid);
      this.#master = master;
      this.#processes = new TerminalProcesses(pid, device, request);
      this.#flow = new DeviceFlow(device);
      this.#output = new OutputQueue(request.onData, this.#flow);
      this.#input = new InputQueue({ pid, write: (bytes) => writeSync(master, bytes) });
    } catch (error) {
      sendSignal(this.#process.pid, "SIGKILL");
      this.#process.terminal.close();
      throw error;
    }
    this.exited = ended.promise.then(() => this.#end());
  }

  write(bytes: Uint8Array, until?: AbortSignal): Promise<void> {
    return this.#input.write(bytes, until);
  }

  resize(cols: number, rows: number): void {
    if (this.#closing === null && !this.#isFree) this.#process.terminal.resize(cols, rows);
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
    this.#free();
    await within(this.exited, LAST_WAIT_MS);
  }

  /** When the process has ended. */
  async #end(): Promise<PtyExit> {
    this.#input.close();
    this.#readRest();
    this.#free();
    await this.#output.delivered();
    const { exitCode, signalCode: signal } = this.#process;
    return signal === null ? { exitCode, signal } : { exitCode: null, signal };
  }

  /** Reads what the kernel still holds of what the process wrote. Others who write must not keep us from an end. */
  #readRest(): void {
    if (this.#isFree) return;
    this.#flow.hold();
    const buffer = new Uint8Array(ROOM_BYTES);
    try {
      for (;;) this.#output.push(buffer.slice(0, readSync(this.#master, buffer)));
    } catch {
      // EAGAIN: there is no more.
    }
  }

  /** Frees the terminal: its descriptors may then be other files'. */
  #free(): void {
    if (this.#isFree) return;
    this.#isFree = true;
    this.#flow.end();
    this.#process.terminal.close();
  }
}

/**
 * Stops the terminal itself as a person does with Ctrl-S, but so that neither a key nor a program starts it again. Bun
 * cannot be kept from reading; this way there is nothing to read, since the kernel makes the process wait.
 */
class DeviceFlow implements Flow {
  readonly room = ROOM_BYTES;
  /** As long as it is open, the terminal does not end before we have read all. Null once it is closed. */
  #device: number | null;

  constructor(path: string) {
    this.#device = openSync(path, constants.O_RDWR | constants.O_NOCTTY);
  }

  hold(): void {
    if (this.#device !== null) setFlow(this.#device, false);
  }

  release(): void {
    if (this.#device !== null) setFlow(this.#device, true);
  }

  end(): void {
    if (this.#device !== null) closeSync(this.#device);
    this.#device = null;
  }
}

/** Starts the program; in place of one that cannot be started, one that tells so and exits with 1. */
function start(
  { argv, cwd, env, cols, rows }: PtyRequest,
  listeners: { readonly data: (bytes: Uint8Array) => void; readonly onExit: () => void },
): Subprocess {
  const options: Omit<SpawnOptions, "cwd"> = {
    env,
    terminal: { cols, rows, data: (_, bytes) => listeners.data(bytes) },
    onExit: listeners.onExit,
  };
  try {
    return spawn(argv, { ...options, cwd });
  } catch (error) {
    const told = ["/bin/sh", "-c", 'printf "%s\\n" "$0"; exit 1', String(error)];
    return spawn(told, { ...options, cwd: "/" });
  }
}

/** The master of the terminal that was opened for a process, and the path of the terminal. */
function openedMaster(
  before: ReadonlyMap<number, string>,
  after: ReadonlyMap<number, string>,
  pid: number,
): [number, string] {
  const opened = [...after].filter(([fd, device]) => before.get(fd) !== device);
  const devices = new Set(opened.map(([, device]) => device));
  // Another thread may open one at the same moment.
  const [device] = devices.size === 1 ? devices : [inputOf(pid)];
  const found = opened.find((each) => each[1] === device);
  if (found === undefined) throw new Error("its descriptor was not found");
  return found;
}

function inputOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/fd/0`);
  } catch {
    // It has ended, or the system shows no descriptors.
    return null;
  }
}
