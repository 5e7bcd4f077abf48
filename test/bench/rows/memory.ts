/** Memory of the host, each figure from a fresh process of its own. */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { amountRow, type Benchmark, type Raw, type Row } from "../row.ts";

/** Resident memory of a host, in bytes. */
export interface HostMemory {
  readonly before: number;
  readonly after: number;
}

export const memory: Benchmark = {
  name: "memory",
  async measure() {
    const { before, after } = await inFreshHost("flood");
    return [
      amountRow(
        "memory",
        "growth of the host over 1 GB of output",
        megabytes(after - before),
        "MB",
        32,
        [raw("after a warm-up of 100 MB", before), raw("highest during 1 GB", after)],
      ),
    ];
  },
};

export const idle: Benchmark = {
  name: "idle",
  measure: async () => [
    await idleRow("idle", "of 100 idle shells", "true", 2),
    await idleRow("idle, painted", "of 100 idle shells whose screen was used", PAINTING, null),
  ],
};

/** Moves the cursor, so that the shell needs its screen. */
const PAINTING = String.raw`printf 'ten\rTEN\n'`;

async function idleRow(
  name: string,
  what: string,
  command: string,
  target: number | null,
): Promise<Row> {
  const { before, after } = await inFreshHost("idle", command);
  const each = megabytes(after - before) / 100;
  return amountRow(name, `memory of the host for each ${what}`, each, "MB", target, [
    raw("with one shell", before),
    raw("with 100 more", after),
  ]);
}

async function inFreshHost(name: "flood" | "idle", ...args: string[]): Promise<HostMemory> {
  const script = fileURLToPath(new URL(`../hosts/${name}.js`, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", script, ...args]);
  return JSON.parse(stdout) as HostMemory;
}

function raw(label: string, bytes: number): Raw {
  return { label, value: megabytes(bytes), unit: "MB" };
}

function megabytes(bytes: number): number {
  return bytes / 1e6;
}
