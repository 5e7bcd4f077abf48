/** What the shell is held against: a bare PTY whose output nobody looks at, and processes of their own. */

import { spawn } from "node:child_process";
import * as pty from "node-pty";

/** The terminal as the shell sets it, or as every terminal starts out. */
export type TerminalSettings = "shell's" | "default";

const STTY: Readonly<Record<TerminalSettings, string>> = {
  "shell's": "stty -opost -echoctl; ",
  default: "",
};

/** What bash prints after each line that it has run. */
const SENTINEL = Buffer.from("\x1b]bench-end\x07");
const LOOP = String.raw`while IFS= read -r line; do eval "$line"; printf '\e]bench-end\a'; done`;

/**
 * The least that running a command through a PTY can cost here: the same node-pty, a bash that reads lines
 * and runs them, and a reader that throws the bytes away until it sees the sentinel at their end.
 */
export class Floor {
  readonly #pty: pty.IPty;
  #tail: Buffer = Buffer.alloc(0);
  #onEnd: () => void = () => undefined;

  private constructor(settings: TerminalSettings) {
    this.#pty = pty.spawn("bash", ["--noprofile", "--norc", "-c", STTY[settings] + LOOP], {
      cols: 120,
      rows: 40,
      encoding: null,
    });
    // With `encoding: null` the data are bytes, whatever the types say.
    this.#pty.onData((data) => this.#take(data as unknown as Buffer));
  }

  /** Resolves when it has run a first line. */
  static async open(settings: TerminalSettings): Promise<Floor> {
    const floor = new Floor(settings);
    await floor.run(":");
    return floor;
  }

  /** Runs one line, of less than 4 096 bytes (1 024 on macOS), and resolves at its end. */
  run(line: string): Promise<void> {
    return new Promise((resolve) => {
      this.#onEnd = resolve;
      this.#pty.write(`${line}\n`);
    });
  }

  close(): void {
    this.#pty.kill("SIGKILL");
  }

  #take(bytes: Buffer): void {
    const end = bytes.subarray(-SENTINEL.length);
    this.#tail =
      end.length < SENTINEL.length
        ? Buffer.concat([this.#tail, end]).subarray(-SENTINEL.length)
        : end;
    if (this.#tail.equals(SENTINEL)) this.#onEnd();
  }
}

/** Opens a floor, lets the action use it, and closes it. */
export async function withFloor<T>(
  settings: TerminalSettings,
  action: (floor: Floor) => Promise<T>,
): Promise<T> {
  const floor = await Floor.open(settings);
  try {
    return await action(floor);
  } finally {
    floor.close();
  }
}

/** Runs a program without a terminal, from the call to its close, reading what it prints. */
export function spawnToClose(file: string, args: readonly string[] = []): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args);
    child.stdout.resume();
    child.stderr.resume();
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`${file} ended with ${code}`)),
    );
  });
}
