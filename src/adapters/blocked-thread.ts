/** What a thread of a process is blocked in, without native code: its system call, as Linux shows it (proc(5)). */

import { closeSync, openSync, readFileSync, readlinkSync, readSync } from "node:fs";

/**
 * `terminal`: input on the terminal, and nothing else. `internal`: other threads of its process. Whatever is not
 * certain is `other`.
 */
export type Wait = "terminal" | "internal" | "other";

/** The process whose thread it is, and the terminal, as `/dev/pts/3`. */
interface Place {
  readonly pid: number;
  readonly device: string;
}

type Judgment = (place: Place, args: readonly bigint[]) => Wait;

/** A wait that ends by itself sooner is no wait for input: so do loops that look for keys while they work. */
const SHORTEST_WAIT_S = 1;

/** So many descriptors are looked at in one call; a wait for more is not for the terminal alone. */
const MAX_POLLED = 64;
const MAX_SELECTED = 1_024;

/** Of the events of poll(2): POLLIN and POLLRDNORM. */
const READ_EVENTS = 0x001 | 0x040;

/** Of the operations of futex(2), the one whose time limit is a duration, and the flags beside the operation. */
const FUTEX_WAIT = 0n;
const FUTEX_FLAGS = 0x180n;

/** By its name in proc(5), a process's own terminal; in one session that is the same for all. */
const OWN_TERMINAL = "/dev/tty";

const EVENT_COUNTER = "anon_inode:[eventfd]";

/** What the calls mean in which a thread may be blocked for the terminal, or for its like. */
const JUDGMENTS = {
  read: readWait,
  readv: readWait,
  poll: (place, [fds, count, timeout]) =>
    isLongCount(timeout) ? pollWait(place, fds, count) : "other",
  ppoll: (place, [fds, count, timeout]) =>
    isLongTime(place, timeout) ? pollWait(place, fds, count) : "other",
  select: selectWait,
  pselect6: selectWait,
  epoll_wait: epollWait,
  epoll_pwait: epollWait,
  futex: (place, [, operation = 0n, , timeout = 0n]) => {
    if (timeout === 0n) return "internal";
    const isDuration = (operation & ~FUTEX_FLAGS) === FUTEX_WAIT;
    return isDuration && isLongTime(place, timeout) ? "internal" : "other";
  },
  // So wait the threads in which the C library runs a program's timers, as vim's.
  rt_sigtimedwait: (_, [, , timeout]) => (timeout === 0n ? "internal" : "other"),
} satisfies Record<string, Judgment>;

/** Numbers of system calls, from the kernel's tables; arm64 has no poll, select and epoll_wait. */
const SYSCALLS: Readonly<
  Partial<Record<NodeJS.Architecture, Readonly<Record<string, keyof typeof JUDGMENTS>>>>
> = {
  x64: {
    0: "read",
    7: "poll",
    19: "readv",
    23: "select",
    128: "rt_sigtimedwait",
    202: "futex",
    232: "epoll_wait",
    270: "pselect6",
    271: "ppoll",
    281: "epoll_pwait",
  },
  arm64: {
    22: "epoll_pwait",
    63: "read",
    65: "readv",
    72: "pselect6",
    73: "ppoll",
    98: "futex",
    137: "rt_sigtimedwait",
  },
};

const syscalls = process.platform === "linux" ? SYSCALLS[process.arch] : undefined;

/** Whether this system shows what a thread is blocked in, and we can read it. */
export const showsWaits: boolean = syscalls !== undefined;

/**
 * What a thread waits for that is blocked in this call.
 *
 * @param call a line as in /proc/PID/syscall
 * @throws if the system does not let us see it, or the process has ended
 */
export function judgeWait(place: Place, call: string): Wait {
  const [number = "", ...args] = call.split(" ");
  const name = syscalls?.[number];
  if (name === undefined) return "other";
  const judgment: Judgment = JUDGMENTS[name];
  return judgment(place, args.slice(0, 6).map(BigInt));
}

function readWait(place: Place, [fd]: readonly bigint[]): Wait {
  return isTerminal(place, Number(fd)) ? "terminal" : "other";
}

/** By an array of `struct pollfd`: int fd, short events, short revents. */
function pollWait(place: Place, address = 0n, count = 0n): Wait {
  if (count > MAX_POLLED) return "other";
  const entries = memoryOf(place, address, Number(count) * 8);
  let reads = false;
  for (let at = 0; at < entries.byteLength; at += 8) {
    if (!isTerminal(place, entries.getInt32(at, true))) return "other";
    if (entries.getInt16(at + 4, true) & READ_EVENTS) reads = true;
  }
  return reads ? "terminal" : "other";
}

function selectWait(place: Place, args: readonly bigint[]): Wait {
  const [count = 0n, reading = 0n, writing, failing, timeout] = args;
  if (count > MAX_SELECTED || !isLongTime(place, timeout)) return "other";
  const inputs = selected(place, Number(count), reading);
  const others = [writing, failing].flatMap((set) => selected(place, Number(count), set));
  const isOnly = [...inputs, ...others].every((fd) => isTerminal(place, fd));
  return inputs.length > 0 && isOnly ? "terminal" : "other";
}

/** The descriptors below `count` in an `fd_set`, a bit each in words of 64. */
function selected(place: Place, count: number, address = 0n): number[] {
  if (address === 0n) return [];
  const bits = memoryOf(place, address, Math.ceil(count / 64) * 8);
  const fds = Array.from({ length: count }, (_, fd) => fd);
  return fds.filter((fd) => (bits.getUint8(fd >> 3) >> (fd & 7)) & 1);
}

/** Threads wake each other by event counters; everything else in an epoll may be work. */
function epollWait({ pid }: Place, [epoll, , , timeout]: readonly bigint[]): Wait {
  if (!isLongCount(timeout)) return "other";
  const info = readFileSync(`/proc/${pid}/fdinfo/${epoll}`, "latin1");
  const targets = [...info.matchAll(/^tfd:\s*(\d+)/gm)];
  const areCounters = targets.every(([, fd]) => linkOf(pid, Number(fd)) === EVENT_COUNTER);
  return areCounters ? "internal" : "other";
}

/** An `int` of milliseconds; negative: no limit. */
function isLongCount(timeout = 0n): boolean {
  const ms = BigInt.asIntN(32, timeout);
  return ms < 0 || ms >= SHORTEST_WAIT_S * 1_000;
}

/** The address of a `struct timespec` or `timeval`, which begin with the seconds; null: no limit. */
function isLongTime(place: Place, timeout = 0n): boolean {
  return timeout === 0n || memoryOf(place, timeout, 8).getBigInt64(0, true) >= SHORTEST_WAIT_S;
}

function isTerminal({ pid, device }: Place, fd: number): boolean {
  const target = linkOf(pid, fd);
  return target === device || target === OWN_TERMINAL;
}

function linkOf(pid: number, fd: number): string {
  return readlinkSync(`/proc/${pid}/fd/${fd}`);
}

function memoryOf({ pid }: Place, address: bigint, length: number): DataView {
  const file = openSync(`/proc/${pid}/mem`, "r");
  try {
    const bytes = new Uint8Array(length);
    const got = readSync(file, bytes, 0, length, address);
    return new DataView(bytes.buffer, 0, got);
  } finally {
    closeSync(file);
  }
}
