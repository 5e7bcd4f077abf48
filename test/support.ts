/**
 * What many tests need: shells and folders that go with the test, facts that are waited for, chance by seed.
 *
 * A tag at the end of a title, such as [IN-6], names a kind of fault that shells like this one have had.
 */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import {
  EvershellError,
  openShell,
  type RunOptions,
  type RunResult,
  type Shell,
  type ShellOptions,
} from "../src/node.ts";

/** An empty folder that is removed after the test; its path has no symbolic links. */
export function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "evershell-test-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A shell that is closed after the test; it starts in an empty folder unless told otherwise. */
export async function open(options: ShellOptions = {}): Promise<Shell> {
  const shell = await openShell({ cwd: folder(), ...options });
  onTestFinished(() => shell.close());
  return shell;
}

/** Runs commands one after another and returns what each printed. */
export async function outputs(shell: Shell, ...commands: string[]): Promise<string[]> {
  const all: string[] = [];
  for (const command of commands) all.push((await shell.run(command)).output);
  return all;
}

/** Runs a command and expects that it finished with this status. Returns what it printed. */
export async function output(
  shell: Shell,
  command: string,
  exitCode = 0,
  options: RunOptions = {},
): Promise<string> {
  const result = await shell.run(command, options);
  expect(result.end, `of ${show(command)}, which printed ${show(result.output)}`).toEqual({
    kind: "finished",
    exitCode,
  });
  return result.output;
}

/** The short form of a result: its output, and its exit code or the kind of its end. */
export function brief({ output: text, end }: RunResult): [string, number | string] {
  return [text, end.kind === "finished" ? end.exitCode : end.kind];
}

/** Goes on waiting until a command is over. Returns its last end, and all of its output without line ends. */
export async function settled(
  shell: Shell,
  first: RunResult | Promise<RunResult>,
): Promise<Pick<RunResult, "output" | "end">> {
  const results = [await first];
  for (let last = results[0]; last?.end.kind === "running" || last?.end.kind === "waiting"; ) {
    last = await shell.wait();
    results.push(last);
  }
  const all = results.map((each) => each.output).join("\n");
  return { output: all.replaceAll("\n", ""), end: (results.at(-1) as RunResult).end };
}

/**
 * What an interactive bash without us makes of a script: its output, stdout and stderr as they came, and the
 * status after it; null if the script ended the bash.
 */
export function bareBash(script: string, cwd: string): { output: string; exitCode: number | null } {
  const lines = ["exec 2>&1", "echo '<begin>'", 'eval -- "$SCRIPT"', 'echo "<end $?>"', ""];
  const { stdout } = spawnSync("bash", ["--noprofile", "--norc", "--noediting", "-i"], {
    cwd,
    input: lines.join("\n"),
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C.UTF-8", PS1: "", PS2: "", SCRIPT: script },
    killSignal: "SIGKILL",
    timeout: 10_000,
  });
  const found = /<begin>\n([\s\S]*)<end (\d+)>\n/.exec(stdout);
  if (found === null) return { output: stdout.split("<begin>\n")[1] ?? "", exitCode: null };
  return { output: found[1] as string, exitCode: Number(found[2]) };
}

/** Major version of the bash in PATH. */
export function bashMajor(): number {
  return Number(execFileSync("bash", ["-c", "echo $BASH_VERSINFO"], { encoding: "utf8" }));
}

/** Expects that a promise is rejected by us with this code. Returns the error. */
export async function refusal(promise: Promise<unknown>, code: string): Promise<EvershellError> {
  const outcome = await promise.then(
    (value) => `no error but ${JSON.stringify(value)}`,
    (error: unknown) => error,
  );
  expect(outcome, String(outcome)).toBeInstanceOf(EvershellError);
  const error = outcome as EvershellError;
  expect(error.code, error.message).toBe(code);
  return error;
}

/** Waits for a fact, looking often. */
export async function until(
  what: string,
  fact: () => boolean | Promise<boolean>,
  limitMs = 5_000,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await fact())) {
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Collects what a command prints as it comes, and waits for words in it. */
export class Listener {
  text = "";
  readonly onOutput = (text: string): void => {
    this.text += text;
  };

  async heard(words: string, limitMs = 5_000): Promise<void> {
    await until(`${show(words)} in ${show(this.text)}`, () => this.text.includes(words), limitMs);
  }
}

/** Whether a process with this id runs; one that has ended and that nobody asks for does not. */
export function lives(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "state=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.startsWith("Z");
}

/** A text as one word of bash. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Chance that is the same for the same seed (mulberry32). Name the seed in the title of the test. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A whole number from 0 up to `below`, not included. */
  int(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) % below;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.int(from.length)] as T;
  }

  /** So many elements of the alphabet in a row. */
  text(length: number, alphabet: readonly string[]): string {
    return Array.from({ length }, () => this.pick(alphabet)).join("");
  }

  shuffled<T>(items: readonly T[]): T[] {
    const left = [...items];
    return items.map(() => left.splice(this.int(left.length), 1)[0] as T);
  }
}

/** A text for a message: quoted, and cut if it is long. */
function show(text: string): string {
  return JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}…` : text);
}
