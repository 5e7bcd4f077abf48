/** evershell on Node.js: the core joined to node-pty. */

import { openPty } from "./adapters/node.ts";
import { findBash, openSpillStore, resolveCwd } from "./adapters/node-files.ts";
import { locale, workingDirectory } from "./adapters/node-host.ts";
import {
  EvershellError,
  openShellOn,
  openTerminalOn,
  type Runtime,
  type Shell,
  type ShellOptions,
  type Terminal,
  type TerminalOptions,
} from "./core/index.ts";

export * from "./core/index.ts";

const runtime: Runtime = {
  openPty,
  environment: () => process.env,
  workingDirectory,
  locale,
  findBash,
  resolveCwd,
  openSpillStore,
};

/**
 * Opens a persistent bash on this machine.
 *
 * @throws {EvershellError} `BAD_OPTION`, `BAD_CWD`, `BASH_NOT_FOUND`, `SPILL_UNAVAILABLE`,
 * `PTY_UNAVAILABLE`, `START_FAILED`; `UNSUPPORTED` on Windows
 */
export async function openShell(options: ShellOptions = {}): Promise<Shell> {
  requireUnix();
  return openShellOn(runtime, options);
}

/**
 * Opens an interactive terminal on this machine: bash as a person uses it, or another program.
 *
 * @throws {EvershellError} `BAD_OPTION`, `BAD_CWD`, `BASH_NOT_FOUND`, `PTY_UNAVAILABLE`; `UNSUPPORTED` on Windows
 */
export async function openTerminal(options: TerminalOptions = {}): Promise<Terminal> {
  requireUnix();
  return openTerminalOn(runtime, options);
}

function requireUnix(): void {
  if (process.platform !== "win32") return;
  throw new EvershellError(
    "UNSUPPORTED",
    "evershell needs Linux or macOS; on Windows run it inside WSL",
  );
}
