/** What the tests of processes and memory look at, and how they wait for it. */

import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** How long a fact may take to come about before it counts as missing. */
const LIMIT_MS = 5_000;

/** One process, as ps shows it. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  readonly state: string;
  readonly command: string;
}

/** Waits until a fact holds; what it was the last time is the return value, held or not. */
export async function settle<T>(
  look: () => T | Promise<T>,
  holds: (value: T) => boolean,
  limitMs: number = LIMIT_MS,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const value = await look();
    if (holds(value) || performance.now() > deadline) return value;
    await pause(20);
  }
}

/** The processes that have not ended; zombies have. */
export function processes(): ProcessRow[] {
  return processTable().filter(({ state }) => !state.startsWith("Z"));
}

/** Commands of the processes in a session, led by the process with this id. */
export function sessionCommands(session: number): string[] {
  return processes()
    .filter((row) => row.session === session)
    .map(({ command }) => command);
}

/** Those of the processes that still run. */
export function runningOf(pids: readonly number[]): number[] {
  const running = new Set(processes().map(({ pid }) => pid));
  return pids.filter((pid) => running.has(pid));
}

/** Children of this process, zombies among them, except the ps that looks. */
export function childCommands(): string[] {
  return processTable()
    .filter(({ parent, command }) => parent === process.pid && !command.startsWith("ps "))
    .map(({ pid, state, command }) => `${pid} ${state} ${command}`);
}

/** How many descriptors this process has open. */
export function descriptorCount(): number {
  return readdirSync("/dev/fd").length;
}

/** Resident memory of this process in MB, without garbage. */
export function residentMb(): number {
  collectGarbage();
  return process.memoryUsage().rss / 2 ** 20;
}

/** Memory that live objects of this process take, in MB. */
export function heapMb(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

/** The most resident memory, in MB, that this process has while the work lasts. */
export async function peakResidentMb(work: () => Promise<unknown>): Promise<number> {
  let peak = 0;
  const look = (): void => {
    peak = Math.max(peak, process.memoryUsage().rss / 2 ** 20);
  };
  const timer = setInterval(look, 20);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  look();
  return peak;
}

/** Calls `work` for each number below `count`, so many at a time. */
export async function each<T>(
  count: number,
  atOnce: number,
  work: (number: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let number = next++; number < count; number = next++) {
      results[number] = await work(number);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

/** The lines that `seq 1 COUNT` prints, without the last newline. */
export function lines(count: number): string {
  return Array.from({ length: count }, (_, index) => String(index + 1)).join("\n");
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function processTable(): ProcessRow[] {
  const table = execFileSync("ps", ["-A", "-o", "pid=,ppid=,sess=,stat=,args="], {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  return table.split("\n").flatMap((line) => {
    const fields = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line);
    if (fields === null) return [];
    const [, pid, parent, session, state = "", command = ""] = fields;
    return [{ pid: Number(pid), parent: Number(parent), session: Number(session), state, command }];
  });
}

let gc: (() => void) | undefined;

function collectGarbage(): void {
  if (gc === undefined) {
    setFlagsFromString("--expose-gc");
    gc = runInNewContext("gc") as () => void;
  }
  gc();
}
