/** The PTY of Node.js, through node-pty. */

import { execFile } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { constants as osConstants } from "node:os";
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
import { endFamily, isAlive, sendSignal } from "./end-session.ts";
import { Family } from "./family.ts";
import { InputQueue, type PtyWithDescriptor } from "./node-pty-input.ts";
import { OutputQueue } from "./node-pty-output.ts";
import { endsOnInterrupt, processInfo, terminalReadSize } from "./processes.ts";
import { terminalModes } from "./terminal-modes.ts";
import { terminalReader } from "./terminal-reader.ts";

/** Arguments of stty under which a line of printable text arrives as it was typed. */
const INPUT_MODES: readonly string[] =
  "-inlcr -igncr icrnl -istrip -echoctl intr ^C quit ^\\ erase ^? kill ^U eof ^D eol undef susp ^Z start ^Q stop ^S lnext ^V werase ^W".split(
    " ",
  );
const LINUX_INPUT_MODES: readonly string[] = ["-iuclc", "eol2", "undef", "rprnt", "^R"];

/** What node-pty (1.1.0) has besides its typed interface. */
interface UnixPty extends PtyWithDescriptor {
  /** The path of the terminal device. */
  readonly ptsName: string;
  /** Closes the master. */
  destroy(): void;
}

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
  readonly #output: OutputQueue;
  readonly #input: InputQueue;
  readonly #family: Family;
  #closing: Promise<void> | null = null;

  constructor(pty: UnixPty, { onData, tag, keepDetached }: PtyRequest) {
    this.#pty = pty;
    this.#family = new Family({ leader: pty.pid, device: pty.ptsName, tag, keepDetached });
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
    const readSize = foreground ? terminalReadSize(pid, this.#pty.ptsName) : null;
    const interruptible = endsOnInterrupt(foregroundGroup);
    return { stopped: state === "T", foreground, foregroundGroup, interruptible, readSize };
  }

  reader(): Promise<TerminalReader | null> {
    return terminalReader(this.#pty.pid, this.#pty.ptsName);
  }

  async modes(): Promise<TerminalModes | null> {
    // Once the process is gone, the device may be another terminal's.
    return isAlive(this.#pty.pid) ? terminalModes(this.#pty.ptsName) : null;
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
      await endFamily(this.#family);
    } catch {
      // No descriptor is free to look at the processes with.
      sendSignal(this.#pty.pid, "SIGKILL");
    }
    // Closes the master at once; the exit event follows without its usual delay.
    this.#pty.destroy();
    await within(this.exited, LAST_WAIT_MS);
  }
}

/** A process that may not be signalled (a setuid program in the shell's place) is not waited for longer. */
const LAST_WAIT_MS = 2_000;

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
