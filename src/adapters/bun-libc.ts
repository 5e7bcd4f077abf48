/** What Bun does not do with terminals, and the C library does. */

import { dlopen } from "bun:ffi";
import { readdirSync } from "node:fs";

/** What the functions of libc that we use return is 0 where they succeeded. */
const FUNCTIONS = {
  ptsname_r: { args: ["int", "ptr", "usize"], returns: "int" },
  tcflow: { args: ["int", "int"], returns: "int" },
} as const;

const MACHINES: Readonly<Record<string, string>> = { x64: "x86_64", arm64: "aarch64" };

/** By its names with glibc, musl and macOS. */
const LIBRARIES: readonly string[] =
  process.platform === "darwin"
    ? ["libSystem.B.dylib"]
    : ["libc.so.6", `libc.musl-${MACHINES[process.arch] ?? process.arch}.so.1`];

/** TCOOFF and TCOON of tcflow(3). */
const [OFF, ON] = process.platform === "darwin" ? [1, 2] : [0, 1];

/** Longer than the path of any terminal. */
const PATH_BYTES = 128;

type Functions = ReturnType<typeof dlopen<keyof typeof FUNCTIONS>>["symbols"];

let loaded: Functions | null = null;

function libc(): Functions {
  loaded ??= load();
  return loaded;
}

/** @throws where no library can be used */
function load(): Functions {
  const problems: unknown[] = [];
  for (const name of LIBRARIES) {
    try {
      return dlopen(name, FUNCTIONS).symbols;
    } catch (error) {
      problems.push(error);
    }
  }
  throw new AggregateError(problems, `the C library cannot be used: ${problems.join("; ")}`);
}

/** Whoever writes to a terminal waits from now on, or does so no longer. */
export function setFlow(fd: number, on: boolean): void {
  libc().tcflow(fd, on ? ON : OFF);
}

/** The descriptors of this process that are masters of terminals, and those, as `/dev/pts/3`. */
export function openMasters(): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const fd of readdirSync("/dev/fd").map(Number)) {
    const device = deviceOf(fd);
    if (device !== null) found.set(fd, device);
  }
  return found;
}

function deviceOf(fd: number): string | null {
  const path = new Uint8Array(PATH_BYTES);
  if (libc().ptsname_r(fd, path, PATH_BYTES) !== 0) return null;
  return new TextDecoder().decode(path.subarray(0, path.indexOf(0)));
}
