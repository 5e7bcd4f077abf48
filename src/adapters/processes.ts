/** Processes, as the system shows them: on Linux from /proc, elsewhere from ps. */

import { execFile } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { constants } from "node:os";
import { promisify } from "node:util";

/** One process. */
export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  /** One letter, as in ps: `R`, `S`, `T` (stopped), `Z` (zombie) … */
  readonly state: string;
  readonly group: number;
  readonly session: SessionKey;
  /** Foreground process group of its terminal; -1 if it has none. */
  readonly foregroundGroup: number;
  /** When it started, in a unit of the system's: together with the id, which is used again, it names one process. */
  readonly start: number;
}

/** Names a session: on Linux the id of its leader. macOS tells none, so there its terminal, as `/dev/ttys003`. */
export type SessionKey = number | string;

const isLinux = process.platform === "linux";

/** The session that a process leads on its terminal (`device`, as `/dev/pts/3`); null if the system cannot tell. */
export function sessionKey(leader: number, device: string | null): SessionKey | null {
  return isLinux ? leader : device;
}

/** The process with this id, or null if there is none. */
export async function processInfo(pid: number): Promise<ProcessInfo | null> {
  if (isLinux) return statOf(pid);
  try {
    const [info] = await ps(["-p", String(pid)]);
    return info ?? null;
  } catch {
    // ps exits with 1 when nothing matches.
    return null;
  }
}

/** All processes of the machine, zombies among them. */
export async function allProcesses(): Promise<ProcessInfo[]> {
  return isLinux ? linuxProcesses() : ps(["-A"]);
}

/** `ProcessInfo.start` where it is known at once; null elsewhere, or if there is no such process. */
export function startOf(pid: number): number | null {
  return isLinux ? (statOf(pid)?.start ?? null) : null;
}

/**
 * The environment that a process was started with, as one text; empty while its program is being loaded, null if it
 * may not be seen. macOS shows it of some programs only, and not in one piece, so there it is never seen.
 */
export function initialEnvironment(pid: number): string | null {
  if (!isLinux) return null;
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    // It has ended, or belongs to somebody else.
    return null;
  }
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
  const signals = signalsOf(pid);
  return signals !== null && !((signals.ignored | signals.caught) & bitOf("SIGINT"));
}

/** Whether the process ignores SIGHUP; null if it has ended, or the system does not tell. */
export function ignoresHangup(pid: number): boolean | null {
  const signals = signalsOf(pid);
  return signals && (signals.ignored & bitOf("SIGHUP")) !== 0n;
}

/** Sets of signals, a bit for each. */
interface Signals {
  readonly ignored: bigint;
  readonly caught: bigint;
}

function signalsOf(pid: number): Signals | null {
  if (!isLinux) return null;
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const set = (name: string): bigint =>
      BigInt(`0x${new RegExp(`^${name}:\\s*([0-9a-f]+)$`, "m").exec(status)?.[1] ?? 0}`);
    return { ignored: set("SigIgn"), caught: set("SigCgt") };
  } catch {
    // It has ended.
    return null;
  }
}

function bitOf(name: "SIGINT" | "SIGHUP"): bigint {
  return 1n << BigInt(constants.signals[name] - 1);
}

/** The number of read(2), from the kernel's tables of system calls. */
const READ_SYSCALL: Readonly<Partial<Record<NodeJS.Architecture, number>>> = {
  x64: 0,
  arm64: 63,
  ia32: 3,
  arm: 3,
};

/**
 * Looks again for processes that came while it looked: else of one that ended just before its turn, and had just
 * started another, neither would be seen.
 */
function linuxProcesses(): ProcessInfo[] {
  const found = new Map<number, ProcessInfo | null>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const fresh = linuxPids().filter((pid) => !found.has(pid));
    if (fresh.length === 0) break;
    for (const pid of fresh) found.set(pid, statOf(pid));
  }
  return [...found.values()].filter((info) => info !== null);
}

/** On a machine that always starts something, it has to come to an end. */
const MAX_ROUNDS = 5;

function linuxPids(): number[] {
  return readdirSync("/proc").map(Number).filter(Number.isInteger);
}

/** Reads /proc/PID/stat (proc(5)); the name in parentheses may hold anything. */
export function statOf(pid: number): ProcessInfo | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // From the third field on.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state = "", parent, group, session, , foregroundGroup] = fields;
    return {
      pid,
      parent: Number(parent),
      state,
      group: Number(group),
      session: Number(session),
      foregroundGroup: Number(foregroundGroup),
      start: Number(fields[22 - 3]),
    };
  } catch {
    // It has ended.
    return null;
  }
}

async function ps(selection: readonly string[]): Promise<ProcessInfo[]> {
  const columns = "pid=,ppid=,state=,pgid=,tpgid=,tty=,lstart=";
  const { stdout } = await promisify(execFile)("ps", ["-o", columns, ...selection], {
    // Dates that can be parsed, and room for the rows of every process there can be.
    env: { ...process.env, LC_ALL: "C" },
    maxBuffer: 2 ** 26,
  });
  return stdout
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [pid, parent, state = "", group, foregroundGroup, terminal, ...start] = line
        .trim()
        .split(/\s+/);
      return {
        pid: Number(pid),
        parent: Number(parent),
        state: state.charAt(0),
        group: Number(group),
        session: `/dev/${terminal}`,
        foregroundGroup: Number(foregroundGroup),
        start: Date.parse(start.join(" ")),
      };
    });
}
