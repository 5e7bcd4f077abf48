/** Programs of other runtimes, and a project that has the built package among its own. */

import { spawn } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { folder } from "../support.ts";

const PROJECT = join(import.meta.dirname, "../..");

/** The path of a program that a package of the project has. */
export function programOf(name: string): string {
  return join(PROJECT, "node_modules/.bin", name);
}

/** A folder with the smoke script, in which `evershell` is an installed package; it is removed after the test. */
export function consumer(): string {
  const path = folder();
  mkdirSync(join(path, "node_modules"));
  symlinkSync(PROJECT, join(path, "node_modules/evershell"));
  cpSync(join(PROJECT, "test/smoke/smoke.mjs"), join(path, "smoke.mjs"));
  return path;
}

/**
 * Runs a program to its end. Returns what it printed; rejects with that if it fails, or takes longer than the limit.
 *
 * @param cwd by default the project
 */
export async function finished(
  program: string,
  args: readonly string[],
  { limitMs = 60_000, cwd = PROJECT }: { limitMs?: number; cwd?: string } = {},
): Promise<string> {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, NODE: process.execPath },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: limitMs,
    killSignal: "SIGKILL",
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (piece) => {
      text += piece;
    });
  }
  const end = await new Promise<number | string | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? signal));
  });
  if (end === 0) return text;
  throw new Error(`${program} ${args.join(" ")} ended with ${end}, after it printed:\n${text}`);
}
