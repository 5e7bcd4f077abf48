/** The processes on a terminal, as they are seen and ended from outside: by the first of them, and by its device. */

import { execFile } from "node:child_process";
import type {
  PtyRequest,
  PtyState,
  SignalName,
  TerminalModes,
  TerminalReader,
} from "../core/pty.ts";
import { endFamily, isAlive, sendSignal } from "./end-session.ts";
import { Family } from "./family.ts";
import { endsOnInterrupt, processInfo, terminalReadSize } from "./processes.ts";
import { terminalModes } from "./terminal-modes.ts";
import { terminalReader } from "./terminal-reader.ts";

/** Arguments of stty under which a line of printable text arrives as it was typed. */
const INPUT_MODES: readonly string[] =
  "-inlcr -igncr icrnl -istrip -echoctl intr ^C quit ^\\ erase ^? kill ^U eof ^D eol undef susp ^Z start ^Q stop ^S lnext ^V werase ^W".split(
    " ",
  );
const LINUX_INPUT_MODES: readonly string[] = ["-iuclc", "eol2", "undef", "rprnt", "^R"];

export class TerminalProcesses {
  readonly #leader: number;
  readonly #device: string;
  readonly #family: Family;

  /**
   * To be made right after the leader was started.
   *
   * @param leader the process that was started on the terminal
   * @param device the terminal, as `/dev/pts/3`
   */
  constructor(leader: number, device: string, { tag, keepDetached }: PtyRequest) {
    this.#leader = leader;
    this.#device = device;
    this.#family = new Family({ leader, device, tag, keepDetached });
  }

  /** See `Pty.signal`. */
  async signal(name: SignalName): Promise<boolean> {
    const shell = await processInfo(this.#leader);
    if (shell === null || shell.foregroundGroup <= 0) return false;
    return sendSignal(-shell.foregroundGroup, name);
  }

  /** See `Pty.inspect`. */
  async inspect(): Promise<PtyState | null> {
    const shell = await processInfo(this.#leader);
    if (shell === null) return null;
    const { foregroundGroup, group, pid, state } = shell;
    const foreground = foregroundGroup === group;
    const readSize = foreground ? terminalReadSize(pid, this.#device) : null;
    const interruptible = endsOnInterrupt(foregroundGroup);
    return { stopped: state === "T", foreground, foregroundGroup, interruptible, readSize };
  }

  /** See `Pty.reader`. */
  reader(): Promise<TerminalReader | null> {
    return terminalReader(this.#leader, this.#device);
  }

  /** See `Pty.modes`. */
  async modes(): Promise<TerminalModes | null> {
    // Once the process is gone, the device may be another terminal's.
    return isAlive(this.#leader) ? terminalModes(this.#device) : null;
  }

  /** See `Pty.repair`. */
  async repair(): Promise<void> {
    const [option, more] = process.platform === "linux" ? ["-F", LINUX_INPUT_MODES] : ["-f", []];
    await new Promise<void>((resolve) => {
      // A terminal that is gone cannot be set, and need not be.
      execFile("stty", [option, this.#device, ...INPUT_MODES, ...more], () => resolve());
    });
    sendSignal(this.#leader, "SIGCONT");
  }

  /** Ends them all. Never rejects. */
  async end(): Promise<void> {
    try {
      await endFamily(this.#family);
    } catch {
      // No descriptor is free to look at the processes with.
      sendSignal(this.#leader, "SIGKILL");
    }
  }
}
