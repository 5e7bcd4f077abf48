/** What the core needs of the runtime that it runs in. An adapter provides it; a composition root joins them. */

import type { OpenPty } from "./pty.ts";
import type { SpillStore } from "./spill.ts";

export interface Runtime {
  /** Opens a pseudoterminal on this machine. */
  readonly openPty: OpenPty;

  /** The environment and the working directory of the host. */
  environment(): Readonly<Record<string, string | undefined>>;
  workingDirectory(): string;

  /** A UTF-8 locale that this system has. */
  readonly locale: string;

  /**
   * The path of a program, looked up in `PATH` of this environment.
   * @throws {EvershellError} `BASH_NOT_FOUND` if there is none that may be executed
   */
  findBash(name: string, env: Readonly<Record<string, string>>): string;

  /**
   * The absolute path of a working directory.
   * @throws {EvershellError} `BAD_CWD` if it is missing or no directory
   */
  resolveCwd(path: string): string;

  /**
   * A private folder for complete outputs, made when the first one needs it; null where there are no files.
   *
   * @param folder where to make it; null for the system's temporary folder
   * @throws {EvershellError} `SPILL_UNAVAILABLE` if a folder is named and cannot be written
   */
  openSpillStore(folder: string | null): SpillStore | null;
}
