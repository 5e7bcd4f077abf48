/** Where shells and terminals run, by name. */

import {
  EvershellError,
  type Shell,
  type ShellOptions,
  type Terminal,
  type TerminalOptions,
} from "../core/index.ts";

/** A way to open shells and terminals. */
export interface Backend {
  openShell(options: ShellOptions): Promise<Shell>;
  openTerminal(options: TerminalOptions): Promise<Terminal>;
}

/** A program and its arguments through which a shell is reached, such as `ssh -tt host`. */
export interface ProgramBackend {
  readonly argv: readonly [string, ...string[]];
}

/** The name of the backend that is this machine. */
export const LOCAL_BACKEND = "shell";

export class Backends {
  readonly #local: Backend;
  readonly #others: Readonly<Record<string, Backend | ProgramBackend>>;

  /** @param others win over the local one, if they have its name */
  constructor(local: Backend, others: Readonly<Record<string, Backend | ProgramBackend>>) {
    this.#local = local;
    this.#others = others;
  }

  /** @throws {EvershellError} `NO_BACKEND` */
  get(name: string): Backend {
    const found = Object.hasOwn(this.#others, name) ? this.#others[name] : undefined;
    if (found !== undefined) return "argv" in found ? this.#through(found.argv) : found;
    if (name === LOCAL_BACKEND) return this.#local;
    throw new EvershellError("NO_BACKEND", `no PTY backend registered for ${JSON.stringify(name)}`);
  }

  #through(argv: ProgramBackend["argv"]): Backend {
    return {
      openShell: (options) => this.#local.openShell({ ...options, backend: argv }),
      openTerminal: ({ cwd, ...options }) => {
        if (cwd === undefined) return this.#local.openTerminal({ ...options, argv });
        throw new EvershellError(
          "BAD_ARGUMENT",
          `cwd cannot be chosen for a terminal through ${argv[0]}: leave it out, and cd there`,
        );
      },
    };
  }
}
