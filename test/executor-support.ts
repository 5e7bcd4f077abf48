/** What the tests of commands that run once share: executors that go with the test, and places without room. */

import { spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type {
  BashExecutor,
  BashOutcome,
  BashRequest,
  BashRunOptions,
} from "../src/core/executor.ts";
import type { ExecutorOptions } from "../src/core/executor-options.ts";
import { type Confinement, localExecutor } from "../src/node-tools.ts";
import { folder } from "./support.ts";

/** An executor that is closed after the test; it runs in an empty folder unless told otherwise. */
export function makeExecutor(
  options: ExecutorOptions = {},
  confinement?: Confinement,
): BashExecutor {
  const executor = localExecutor({ cwd: folder(), graceMs: 500, ...options }, confinement);
  onTestFinished(() => executor.close());
  return executor;
}

/** Runs a request; a text is the command. */
export async function run(
  executor: BashExecutor,
  request: string | BashRequest,
  options?: BashRunOptions,
): Promise<BashOutcome> {
  return executor.run(executor.resolve(requestOf(request)), options);
}

/** Starts a request and leaves it running. */
export function start(
  executor: BashExecutor,
  request: string | BashRequest,
): ReturnType<BashExecutor["start"]> {
  return executor.start(executor.resolve(requestOf(request)));
}

/** What a command wrote, and how it ended: its exit code, or the signal. */
export function brief({
  stdout,
  stderr,
  exitCode,
  signal,
}: BashOutcome): [string, string, number | string | null] {
  return [stdout.text, stderr.text, signal ?? exitCode];
}

/** The process ids that a command printed, a line each. */
export function pidsIn(text: string): number[] {
  return [...text.matchAll(/^\d+$/gm)].map(([pid]) => Number(pid));
}

/** A folder in which at most a megabyte can be written: a disk of its own, or one that takes nothing at all. */
export function tinyFolder(): { readonly path: string; fill(): void } {
  const path = folder();
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "test", path]).status === 0;
  if (mounted) {
    onTestFinished(() => {
      spawnSync("umount", [path]);
    });
    return {
      path,
      fill: () => {
        spawnSync("sh", ["-c", `yes >${join(path, "full")}`]);
      },
    };
  }
  writeFileSync(join(path, "full"), "");
  return { path, fill: () => chmodSync(path, 0o500) };
}

function requestOf(request: string | BashRequest): BashRequest {
  return typeof request === "string" ? { command: request } : request;
}
