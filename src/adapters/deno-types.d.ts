/** The little of Deno that its adapter uses: its types are not those of Node.js, which this project is checked with. */

declare namespace Deno {
  interface ForeignFunction {
    readonly parameters: readonly ("i32" | "usize" | "buffer")[];
    readonly result: "i32" | "isize";
    /** The call runs in another thread and gives a promise. */
    readonly nonblocking?: boolean;
  }

  type ForeignParameters<T extends readonly unknown[]> = {
    -readonly [K in keyof T]: T[K] extends "buffer"
      ? Uint8Array<ArrayBuffer> | null
      : T[K] extends "usize"
        ? bigint
        : number;
  };

  type ForeignResult<F extends ForeignFunction> = F["result"] extends "isize" ? bigint : number;

  type ForeignCall<F extends ForeignFunction> = (
    ...args: ForeignParameters<F["parameters"]>
  ) => F extends { readonly nonblocking: true } ? Promise<ForeignResult<F>> : ForeignResult<F>;

  interface DynamicLibrary<S> {
    readonly symbols: {
      readonly [K in keyof S]: S[K] extends ForeignFunction ? ForeignCall<S[K]> : never;
    };
    close(): void;
  }

  function dlopen<const S extends Readonly<Record<string, ForeignFunction>>>(
    filename: string,
    symbols: S,
  ): DynamicLibrary<S>;

  interface CommandOptions {
    readonly args?: string[];
    readonly env?: Record<string, string>;
    readonly clearEnv?: boolean;
    readonly detached?: boolean;
    readonly stdin?: "null";
    readonly stdout?: "null";
    readonly stderr?: "null";
  }

  interface CommandStatus {
    readonly code: number;
    /** As `"SIGKILL"`. */
    readonly signal: string | null;
  }

  class ChildProcess {
    readonly pid: number;
    readonly status: Promise<CommandStatus>;
    unref(): void;
  }

  class Command {
    constructor(program: string, options?: CommandOptions);
    spawn(): ChildProcess;
  }
}
