/** One process on pipes, in a session of its own, and all that it starts. */

import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { defer, pause } from "../core/deferred.ts";
import { type Environment, taggedEnvironment } from "../core/environment.ts";
import { EvershellError } from "../core/errors.ts";
import type { ProcessEnd } from "../core/executor.ts";
import { randomHex } from "../core/random.ts";
import { endFamily, sendSignal } from "./end-session.ts";
import { Family } from "./family.ts";
import { resolveCwd } from "./node-files.ts";

/** What to start, and who takes its output. */
export interface ChildRequest {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: Uint8Array | null;
  /** The process keeps another, and takes it along when it ends: it is not told to end before that has. */
  readonly hasKeeper: boolean;
  /** What the process can read from descriptor 3; null for none. */
  readonly script: Uint8Array | null;
  /** Where they return a promise, no more is read until it settles. */
  readonly onStdout: (bytes: Uint8Array) => Promise<unknown> | undefined;
  readonly onStderr: (bytes: Uint8Array) => Promise<unknown> | undefined;
}

export class Child {
  readonly pid: number;
  /** Settles when the process has ended and what it wrote has been taken. Never rejects. */
  readonly done: Promise<ProcessEnd>;
  readonly #process: ChildProcess;
  readonly #family: Family;
  readonly #outputs: readonly Output[];
  readonly #hasKeeper: boolean;
  #isStopped = false;

  private constructor(process: ChildProcess, pid: number, tag: string, request: ChildRequest) {
    this.pid = pid;
    this.#process = process;
    this.#hasKeeper = request.hasKeeper;
    this.#family = new Family({ leader: pid, device: null, tag, keepDetached: false });
    this.#outputs = [
      new Output(process.stdout as Readable, request.onStdout),
      new Output(process.stderr as Readable, request.onStderr),
    ];
    this.done = this.#end();
    endAtExit(this);
  }

  /** @throws {EvershellError} `START_FAILED` */
  static async start(request: ChildRequest): Promise<Child> {
    const { env, tag } = taggedEnvironment(request.env, randomHex(16));
    const process = spawned(request, env);
    const failed = new Promise<never>((_, reject) => {
      process.on("error", (cause) => reject(startFailed(request, cause)));
    });
    // Of a process that has started, no error says anything that its end does not.
    failed.catch(() => undefined);
    if (process.pid === undefined) return failed;
    // From now on it ends with the host.
    const child = new Child(process, process.pid, tag, request);
    feed(process.stdin, request.stdin);
    feed(process.stdio[3], request.script);
    return child;
  }

  /** Ends the process and all that it started: TERM, and KILL after the grace. Never rejects. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true;
    for (const output of this.#outputs) output.release();
    if (!(await stopFamily(this.#family, graceMs, this.#hasKeeper))) this.kill();
  }

  /** Kills the process and its group at once, without looking for more. */
  kill(): void {
    sendSignal(-this.pid, "SIGKILL");
  }

  async #end(): Promise<ProcessEnd> {
    const end = await new Promise<ProcessEnd>((resolve) => {
      this.#process.once("exit", (exitCode, signal) => resolve(this.#endOf(exitCode, signal)));
    });
    await Promise.all(this.#outputs.map((output) => output.drained()));
    for (const output of this.#outputs) output.leave();
    openChildren.delete(this);
    return end;
  }

  /** A keeper turns the signal that killed what it kept into a status; that one was killed is known if we did it. */
  #endOf(exitCode: number | null, signal: string | null): ProcessEnd {
    const number = (exitCode ?? 0) - 128;
    const [killer] = Object.entries(constants.signals).find(([, value]) => value === number) ?? [];
    const isKept = this.#hasKeeper && this.#isStopped && killer !== undefined;
    return isKept ? { exitCode: null, signal: killer } : { exitCode, signal };
  }
}

/** @throws {EvershellError} `START_FAILED` for what is too large for the system; other failures come as an event */
function spawned(request: ChildRequest, env: Environment): ChildProcess {
  const [program, ...args] = request.argv;
  const pipe = (bytes: Uint8Array | null): "ignore" | "pipe" =>
    bytes === null ? "ignore" : "pipe";
  const stdio = [pipe(request.stdin), "pipe", "pipe", pipe(request.script)] as const;
  try {
    return spawn(program, args, { cwd: request.cwd, env, detached: true, stdio: [...stdio] });
  } catch (cause) {
    throw startFailed(request, cause as Error);
  }
}

/** Ends everything that carries a tag. */
export async function stopTagged(tag: string, graceMs: number): Promise<void> {
  await stopFamily(new Family({ leader: null, device: null, tag, keepDetached: false }), graceMs);
}

/** TERM, and KILL after the grace; false if nothing can be seen of processes. */
async function stopFamily(family: Family, graceMs: number, sparesLeader = false): Promise<boolean> {
  try {
    await endFamily(family, [
      { signals: ["SIGTERM", "SIGCONT"], ms: graceMs, sparesLeader },
      { signals: ["SIGKILL"], ms: LAST_WAIT_MS },
    ]);
    return true;
  } catch {
    // No descriptor is free to look with.
    return false;
  }
}

/** A process that may not be signalled is not waited for longer. */
const LAST_WAIT_MS = 2_000;

/** Children to end if the host ends without closing. */
const openChildren = new Set<Child>();

function endAtExit(child: Child): void {
  if (openChildren.size === 0) process.on("exit", killOpenChildren);
  openChildren.add(child);
  void child.done.then(() => {
    if (openChildren.size === 0) process.off("exit", killOpenChildren);
  });
}

function killOpenChildren(): void {
  for (const child of openChildren) child.kill();
}

/** Turns of the event loop without data, after which a pipe is empty. */
const QUIET_TURNS = 2;

/**
 * And turns after which all that the process left in it has been read (some 208 KiB at most, and 64 KiB a turn):
 * what still comes is by somebody else who has the pipe too, and is not waited for.
 */
const MAX_TURNS = 20;

/** One stream of output, taken no faster than it is wanted. */
class Output {
  readonly #stream: Readable;
  readonly #take: (bytes: Uint8Array) => Promise<unknown> | undefined;
  #bytes = 0;
  readonly #ended = defer<true>();
  #held = false;
  #released = false;
  #left = false;

  constructor(stream: Readable, take: (bytes: Uint8Array) => Promise<unknown> | undefined) {
    this.#stream = stream;
    this.#take = take;
    stream.on("data", (bytes: Uint8Array) => void this.#push(bytes));
    const end = (): void => this.#ended.resolve(true);
    // A pipe that breaks has ended.
    stream.once("end", end).once("close", end).once("error", end);
  }

  /** Resolves when all that the process wrote has been taken; another may hold the pipe open still. */
  async drained(): Promise<void> {
    for (let quiet = 0, turns = 0; quiet < QUIET_TURNS && turns < MAX_TURNS; ) {
      const before = this.#bytes;
      if (await Promise.race([this.#ended.promise, turn()])) return;
      if (this.#held) continue;
      turns++;
      quiet = this.#bytes === before ? quiet + 1 : 0;
    }
  }

  /** Nobody who is slow is waited for any more. */
  release(): void {
    this.#held = false;
    this.#released = true;
    this.#stream.resume();
  }

  /** What still comes is dropped: whoever holds the pipe is not to be killed by writing into it. */
  leave(): void {
    this.#left = true;
    this.#stream.resume();
    if ("unref" in this.#stream && typeof this.#stream.unref === "function") this.#stream.unref();
  }

  async #push(bytes: Uint8Array): Promise<void> {
    this.#bytes += bytes.length;
    if (this.#left) return;
    const taken = this.#take(bytes);
    if (!taken || this.#released) return;
    this.#held = true;
    this.#stream.pause();
    await taken;
    this.#held = false;
    this.#stream.resume();
  }
}

/** One turn of the event loop, in which whatever can be read is read. */
async function turn(): Promise<false> {
  await pause(1);
  return new Promise((resolve) => setImmediate(() => resolve(false)));
}

/** What the process does not read is dropped with it. */
function feed(stream: unknown, bytes: Uint8Array | null): void {
  if (bytes === null) return;
  const writable = stream as NodeJS.WritableStream;
  // EPIPE: it has closed its end.
  writable.on("error", () => undefined);
  writable.end(bytes);
}

function startFailed({ argv: [program], cwd }: ChildRequest, cause: Error): unknown {
  try {
    // A directory that is gone by now reads as a missing program.
    resolveCwd(cwd);
  } catch (error) {
    return error;
  }
  return new EvershellError("START_FAILED", `${program} could not be started: ${cause.message}`, {
    cause,
  });
}
