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
  /** It leads to another machine: the directories of owners are not those over there. */
  readonly isFar?: boolean;
  openShell(options: ShellOptions): Promise<Shell>;
  openTerminal(options: TerminalOptions): Promise<Terminal>;
}

/** A program and its arguments through which a shell is reached, such as `ssh -tt host`. */
export interface ProgramBackend {
  readonly argv: readonly [string, ...string[]];
  /** The directory over there that shells start in. Default: where the program leads to. */
  readonly cwd?: string;
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
    if (found !== undefined) return "argv" in found ? this.#through(found) : found;
    if (name === LOCAL_BACKEND) return this.#local;
    throw new EvershellError("NO_BACKEND", `no PTY backend registered for ${JSON.stringify(name)}`);
  }

  #through({ argv, cwd: start }: ProgramBackend): Backend {
    return {
      isFar: true,
      openShell: (options) =>
        this.#local.openShell({
          ...options,
          ...(start !== undefined && options.cwd === undefined && { cwd: start }),
          backend: argv,
        }),
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
