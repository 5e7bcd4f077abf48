/** The PTY of Deno, which has none: the C library opens the terminal, and sh takes it for a program. */

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
import { openTerminal, type Terminal } from "./deno-terminal.ts";
import { startOf } from "./processes.ts";
import { InputQueue } from "./terminal-input.ts";
import { OutputQueue } from "./terminal-output.ts";
import { TerminalProcesses } from "./terminal-processes.ts";

const isLinux = process.platform === "linux";

/** A process that may not be signalled (a setuid program in the shell's place) is not waited for longer. */
const LAST_WAIT_MS = 2_000;

/** More than a kernel holds of the output of a process that has ended; what comes after it is another's. */
const MAX_TAIL_BYTES = 1024 * 1024;

/**
 * What makes a program the one of a terminal: the first one of a session that opens it has it as its controlling
 * terminal. Arguments: the device, the working directory, the program and its arguments.
 */
const START = 'exec <>"$1" >&0 2>&1; cd -- "$2" || exit 1; shift 2; exec "$@"';

/** Variables that one sh or another sets by itself. */
const SET_BY_SH: readonly string[] = ["PWD", "OLDPWD", "SHLVL", "_"];

/** Variables that one sh or another changes, drops, or does otherwise for; it drops all names that are no identifiers. */
const NOT_THROUGH_SH: readonly string[] = [
  ...SET_BY_SH,
  ..."BASHOPTS CDPATH ENV EUID IFS LINENO OPTIND POSIXLY_CORRECT PPID PS1 PS2 PS4 SHELLOPTS UID".split(
    " ",
  ),
];

/** Opens a PTY on this machine. */
export async function openPty(request: PtyRequest): Promise<Pty> {
  requireProcesses();
  try {
    const terminal = await openTerminal();
    try {
      await terminal.setSize(request.cols, request.rows);
      return new DenoPty(start(request, terminal.device), terminal, request);
    } catch (error) {
      await terminal.close();
      throw error;
    }
  } catch (error) {
    throw new EvershellError("PTY_UNAVAILABLE", `no pseudoterminal could be opened: ${error}`, {
      cause: error,
    });
  }
}

/** Without a look at the processes, nothing could be promised of them. */
function requireProcesses(): void {
  if (!isLinux || startOf(process.pid) !== null) return;
  throw new EvershellError(
    "PTY_UNAVAILABLE",
    "Deno shows what runs on this machine (/proc) only to a program that may do everything: run it with --allow-all",
  );
}

function start({ argv, cwd, env }: PtyRequest, device: string): Deno.ChildProcess {
  const throughSh: Record<string, string> = {};
  const others: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (/^[A-Za-z_]\w*$/.test(name) && !NOT_THROUGH_SH.includes(name)) throughSh[name] = value;
    else others.push(`${name}=${value}`);
  }
  const clean = ["/usr/bin/env", ...SET_BY_SH.flatMap((name) => ["-u", name]), ...others];
  return new Deno.Command("/bin/sh", {
    args: ["-c", START, "sh", device, cwd, ...clean, ...argv],
    env: throughSh,
    clearEnv: true,
    // In a session of its own.
    detached: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
}

class DenoPty implements Pty {
  readonly exited: Promise<PtyExit>;
  readonly #process: Deno.ChildProcess;
  readonly #terminal: Terminal;
  readonly #output: OutputQueue;
  readonly #input: InputQueue;
  readonly #processes: TerminalProcesses;
  #closing: Promise<void> | null = null;

  constructor(process: Deno.ChildProcess, terminal: Terminal, request: PtyRequest) {
    this.#process = process;
    this.#terminal = terminal;
    this.#processes = new TerminalProcesses(process.pid, terminal.device, request);
    this.#output = new OutputQueue(request.onData, {
      room: 0,
      hold: () => terminal.pause(),
      release: () => terminal.resume(),
    });
    terminal.onReadable = () => this.#read();
    terminal.resume();
    this.#input = new InputQueue({ pid: process.pid, write: (bytes) => terminal.write(bytes) });
    this.exited = this.#exit();
  }

  write(bytes: Uint8Array, until?: AbortSignal): Promise<void> {
    return this.#input.write(bytes, until);
  }

  resize(cols: number, rows: number): void {
    void this.#terminal.setSize(cols, rows);
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

  /** Gives what has come, up to 64 KiB; how much that was. */
  #read(): number {
    const bytes = this.#terminal.read();
    if (bytes === null) return 0;
    this.#output.push(bytes);
    return bytes.length;
  }

  async #exit(): Promise<PtyExit> {
    const { code, signal } = await this.#process.status;
    this.#input.close();
    await this.#terminal.end();
    let tail = 0;
    for (let length = -1; length !== 0 && tail < MAX_TAIL_BYTES; tail += length) {
      await this.#output.delivered();
      length = this.#read();
    }
    await this.#output.delivered();
    await this.#terminal.close();
    return signal === null ? { exitCode: code, signal } : { exitCode: null, signal };
  }

  async #close(): Promise<void> {
    this.#input.close();
    this.#output.close();
    await this.#processes.end();
    await this.#terminal.close();
    await within(this.exited, LAST_WAIT_MS);
    this.#process.unref();
  }
}
