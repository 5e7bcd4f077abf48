/** How a terminal treats input, as stty tells it. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { TerminalModes } from "../core/pty.ts";

/** stty needs a few milliseconds. */
const STTY_LIMIT_MS = 2_000;

/** @param device as `/dev/pts/3` */
export async function terminalModes(device: string): Promise<TerminalModes | null> {
  const option = process.platform === "linux" ? "-F" : "-f";
  try {
    const { stdout } = await promisify(execFile)("stty", ["-a", option, device], {
      timeout: STTY_LIMIT_MS,
      killSignal: "SIGKILL",
    });
    const words = stdout.split(/[\s;]+/);
    const [echo, lines] = [setting(words, "echo"), setting(words, "icanon")];
    return echo === null || lines === null ? null : { echo, lines };
  } catch {
    // The terminal is gone or not ours, or there is no stty.
    return null;
  }
}

/** Whether it is on; null if it is not named. */
function setting(words: readonly string[], name: string): boolean | null {
  if (words.includes(name)) return true;
  return words.includes(`-${name}`) ? false : null;
}
