/** What an entry of the package is made of: the core, joined to this machine by one way to open a PTY. */

import { findBash, openSpillStore, resolveCwd } from "./adapters/node-files.ts";
import { locale, workingDirectory } from "./adapters/node-host.ts";
import {
  EvershellError,
  type OpenPty,
  openShellOn,
  openTerminalOn,
  type Runtime,
  type Shell,
  type ShellOptions,
  type Terminal,
  type TerminalOptions,
} from "./core/index.ts";

export interface Entry {
  /**
   * Opens a persistent bash on this machine.
   *
   * @throws {EvershellError} `BAD_OPTION`, `BAD_CWD`, `BASH_NOT_FOUND`, `SPILL_UNAVAILABLE`,
   * `PTY_UNAVAILABLE`, `START_FAILED`; `UNSUPPORTED` on Windows
   */
  openShell(options?: ShellOptions): Promise<Shell>;

  /**
   * Opens an interactive terminal on this machine: bash as a person uses it, or another program.
   *
   * @throws {EvershellError} `BAD_OPTION`, `BAD_CWD`, `BASH_NOT_FOUND`, `PTY_UNAVAILABLE`; `UNSUPPORTED` on Windows
   */
  openTerminal(options?: TerminalOptions): Promise<Terminal>;
}

export function entryOn(openPty: OpenPty): Entry {
  const runtime: Runtime = {
    openPty,
    environment: () => process.env,
    workingDirectory,
    locale,
    findBash,
    resolveCwd,
    openSpillStore,
  };
  return {
    async openShell(options = {}) {
      requireUnix();
      return openShellOn(runtime, options);
    },
    async openTerminal(options = {}) {
      requireUnix();
      return openTerminalOn(runtime, options);
    },
  };
}

function requireUnix(): void {
  if (process.platform !== "win32") return;
  throw new EvershellError(
    "UNSUPPORTED",
    "evershell needs Linux or macOS; on Windows run it inside WSL",
  );
}
