/** What we use of Bun's modules. */

declare module "bun" {
  export interface Terminal {
    resize(cols: number, rows: number): void;
    close(): void;
  }

  export interface Subprocess {
    readonly pid: number;
    readonly exitCode: number | null;
    /** As `"SIGKILL"`. */
    readonly signalCode: string | null;
    readonly terminal: Terminal;
  }

  export interface SpawnOptions {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly terminal: {
      readonly cols: number;
      readonly rows: number;
      readonly data: (terminal: Terminal, bytes: Uint8Array) => void;
    };
    readonly onExit: (process: Subprocess) => void;
  }

  export function spawn(command: readonly string[], options: SpawnOptions): Subprocess;
}

declare module "bun:ffi" {
  /** Calls functions of a library by their names; an array is passed as its address. */
  export function dlopen<Name extends string>(
    library: string,
    functions: Readonly<Record<Name, { args: readonly string[]; returns: string }>>,
  ): {
    readonly symbols: Readonly<Record<Name, (...args: readonly (number | Uint8Array)[]) => number>>;
  };
}
