/** Processes of a terminal's session, as the system shows them: on Linux from /proc, elsewhere from ps. */

import { execFile } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { constants } from "node:os";
import { promisify } from "node:util";

/** One process. */
export interface ProcessInfo {
  readonly pid: number;
  /** One letter, as in ps: `R`, `S`, `T` (stopped), `Z` (zombie) … */
  readonly state: string;
  readonly group: number;
  /** Foreground process group of its terminal; -1 if it has none. */
  readonly foregroundGroup: number;
}

/** A session of processes and its terminal. */
export interface Session {
  /** The process id of its leader. */
  readonly session: number;
  /** As `/dev/pts/3`. */
  readonly device: string;
}

const isLinux = process.platform === "linux";

/** The process with this id, or null if there is none. */
export async function processInfo(pid: number): Promise<ProcessInfo | null> {
  if (isLinux) return statOf(pid);
  const [info] = await ps(["-p", String(pid)]);
  return info ?? null;
}

/** All processes of a session that still run. macOS tells no session ids, but whose terminal is which. */
export async function sessionProcesses({ session, device }: Session): Promise<ProcessInfo[]> {
  const members = isLinux
    ? linuxProcesses().filter((info) => info.session === session)
    : await ps(["-t", device]);
  return members.filter((info) => info.state !== "Z");
}

/**
 * How many bytes a process that is blocked in a read of the terminal (`device`, as `/dev/pts/3`) has asked for; null
 * if it is not, or the system does not tell.
 */
export function terminalReadSize(pid: number, device: string): number | null {
  const readNumber = isLinux ? READ_SYSCALL[process.arch] : undefined;
  if (readNumber === undefined) return null;
  try {
    const [call, fd, , size] = readFileSync(`/proc/${pid}/syscall`, "utf8").split(" ");
    if (Number(call) !== readNumber) return null;
    return readlinkSync(`/proc/${pid}/fd/${Number(fd)}`) === device ? Number(size) : null;
  } catch {
    // The process has ended, or belongs to somebody else.
    return null;
  }
}

/** Whether SIGINT would end the process: it has neither a handler for it nor ignores it. */
export function endsOnInterrupt(pid: number): boolean {
  if (!isLinux) return false;
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const masks = [...status.matchAll(/^Sig(?:Ign|Cgt):\s*([0-9a-f]+)$/gm)];
    return masks.every(([, mask]) => !(BigInt(`0x${mask}`) & SIGINT_BIT));
  } catch {
    // It has ended.
    return false;
  }
}

const SIGINT_BIT = 1n << BigInt(constants.signals.SIGINT - 1);

/** The number of read(2), from the kernel's tables of system calls. */
const READ_SYSCALL: Readonly<Partial<Record<NodeJS.Architecture, number>>> = {
  x64: 0,
  arm64: 63,
  ia32: 3,
  arm: 3,
};

interface LinuxProcessInfo extends ProcessInfo {
  readonly session: number;
}

function linuxProcesses(): LinuxProcessInfo[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((info) => info !== null);
}

/** Reads /proc/PID/stat (proc(5)); the name in parentheses may hold anything. */
function statOf(pid: number): LinuxProcessInfo | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state = "", , group, session, , foregroundGroup] = fields;
    return {
      pid,
      state,
      group: Number(group),
      session: Number(session),
      foregroundGroup: Number(foregroundGroup),
    };
  } catch {
    // It has ended.
    return null;
  }
}

async function ps(selection: readonly string[]): Promise<ProcessInfo[]> {
  const columns = "pid=,state=,pgid=,tpgid=";
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", columns, ...selection]);
    return stdout
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => {
        const [pid, state = "", group, foregroundGroup] = line.trim().split(/\s+/);
        return {
          pid: Number(pid),
          state: state.charAt(0),
          group: Number(group),
          foregroundGroup: Number(foregroundGroup),
        };
      });
  } catch {
    // ps exits with 1 when nothing matches.
    return [];
  }
}
