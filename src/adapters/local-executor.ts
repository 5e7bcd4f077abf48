/** Runs commands on this machine, each in a fresh bash on pipes. */

import { checkCommand } from "../core/arguments.ts";
import { pipeEnvironment, taggedEnvironment } from "../core/environment.ts";
import { aborted, EvershellError } from "../core/errors.ts";
import type {
  BashExecutor,
  BashOutcome,
  BashProcess,
  BashRequest,
  BashRunOptions,
  BashSpec,
  ProcessEnd,
} from "../core/executor.ts";
import {
  checkTimeout,
  type ExecutorOptions,
  type ResolvedExecutorOptions,
  resolveExecutorOptions,
} from "../core/executor-options.ts";
import { Collector, OutputLog, type Sink } from "../core/executor-output.ts";
import { randomHex } from "../core/random.ts";
import { scrub } from "../core/scrub.ts";
import { SpillShelf } from "../core/spill.ts";
import type { OnOutput } from "../core/teller.ts";
import { Child, stopTagged } from "./child-process.ts";
import { findBash, openSpillStore, resolveCwd } from "./node-files.ts";
import { locale, workingDirectory } from "./node-host.ts";

/** A bash whose stdin is a socket takes itself to be started by a remote shell daemon, and would read `~/.bashrc`. */
const FRESH = ["--norc", "-c", "--"];

/** A longer command is no argument of a program any more (Linux: 128 KiB), and travels through a pipe. */
const MAX_ARGUMENT_BYTES = 100_000;

/** Evaluates what stands in descriptor 3. The `x` keeps newlines at its end. */
const EVALUATE =
  "__evsh_c=$(command cat <&3; echo x); exec 3<&-; " + 'eval "unset -v __evsh_c; ${__evsh_c%x*}"';

/** Sends stderr where stdout goes, so that a reader gets both in the order in which they came. */
const JOIN_STREAMS = 'exec "$@" 2>&1';

/** How a command is confined, if it is. */
export interface Confinement {
  /** What `wrap` gives is a process that keeps the command, and takes it along when it ends. */
  readonly hasKeeper: boolean;
  /** @throws {EvershellError} `UNSUPPORTED` if it cannot be had; no command is run then */
  prepare(): Promise<void>;
  /** The program and arguments that become the given ones, confined. */
  wrap(argv: readonly [string, ...string[]], spec: BashSpec): readonly [string, ...string[]];
  /** What an outcome tells of what was denied, a sentence each. */
  denials(outcome: Omit<BashOutcome, "denials">): readonly string[];
}

const UNCONFINED: Confinement = {
  hasKeeper: false,
  prepare: async () => undefined,
  wrap: (argv) => argv,
  denials: () => [],
};

/**
 * Makes an executor of this machine.
 *
 * @throws {EvershellError} `BAD_OPTION`, `BAD_CWD`, `SPILL_UNAVAILABLE`
 */
export function localExecutor(
  options: ExecutorOptions = {},
  confinement: Confinement = UNCONFINED,
): BashExecutor {
  return new LocalExecutor(resolveExecutorOptions(options), confinement);
}

class LocalExecutor implements BashExecutor {
  readonly #options: ResolvedExecutorOptions;
  readonly #confinement: Confinement;
  readonly #cwd: string;
  readonly #shelf: SpillShelf;
  /** All that was started here carries it. */
  readonly #tag = randomHex(16);
  readonly #starting = new Set<Promise<Child>>();
  #closed = false;

  constructor(options: ResolvedExecutorOptions, confinement: Confinement) {
    this.#options = options;
    this.#confinement = confinement;
    this.#cwd = resolveCwd(options.cwd ?? workingDirectory());
    this.#shelf = new SpillShelf(openSpillStore(options.spillDir ?? null));
  }

  resolve({ command, workdir, timeoutMs, stdin, env }: BashRequest): BashSpec {
    checkCommand(command);
    if (timeoutMs !== undefined) checkTimeout(timeoutMs);
    const { maxTimeoutMs, timeoutMs: usual } = this.#options;
    const host = scrub(process.env, this.#options.scrub);
    return {
      command,
      workdir: resolveCwd(workdir ?? this.#cwd, this.#cwd),
      timeoutMs: Math.min(timeoutMs ?? usual, maxTimeoutMs),
      stdin: typeof stdin === "string" ? new TextEncoder().encode(stdin) : (stdin ?? null),
      env: pipeEnvironment(host, locale, { ...this.#options.env, ...env }),
    };
  }

  async run(spec: BashSpec, { signal, onOutput }: BashRunOptions = {}): Promise<BashOutcome> {
    if (signal?.aborted) throw aborted(signal);
    const startedAt = performance.now();
    const listener = (stream: "stdout" | "stderr"): OnOutput | undefined =>
      onOutput && ((text) => onOutput(text, stream));
    const stdout = new Collector(this.#shelf.start(), listener("stdout"));
    const stderr = new Collector(this.#shelf.start(), listener("stderr"));
    const child = await this.#start(spec, [], stdout, stderr);
    const end = await this.#endOf(child, spec.timeoutMs, signal);
    if (signal?.aborted) {
      await Promise.all([stdout.discard(), stderr.discard()]);
      throw aborted(signal);
    }
    const outcome = {
      ...end,
      stdout: await stdout.output(),
      stderr: await stderr.output(),
      durationMs: Math.round(performance.now() - startedAt),
    };
    return { ...outcome, denials: this.#confinement.denials(outcome) };
  }

  async start(spec: BashSpec): Promise<BashProcess> {
    const log = new OutputLog(this.#shelf.start());
    const join = ["bash", ...FRESH, JOIN_STREAMS, "bash"];
    const child = await this.#start(spec, join, log, log);
    const done = child.done.then(async (end) => {
      await log.end();
      return end;
    });
    return {
      pid: child.pid,
      done,
      readOutput: () => log.read(),
      cancel: async () => {
        await child.stop(this.#options.graceMs);
        await done;
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#starting);
    await stopTagged(this.#tag, this.#options.graceMs);
    await this.#shelf.close();
  }

  /** @throws {EvershellError} see `BashExecutor.run` */
  async #start(
    spec: BashSpec,
    join: readonly string[],
    stdout: Sink,
    stderr: Sink,
  ): Promise<Child> {
    const starting = this.#spawn(spec, join, stdout, stderr);
    this.#starting.add(starting);
    try {
      return await starting;
    } finally {
      this.#starting.delete(starting);
    }
  }

  async #spawn(
    spec: BashSpec,
    join: readonly string[],
    stdout: Sink,
    stderr: Sink,
  ): Promise<Child> {
    await this.#confinement.prepare();
    if (this.#closed) throw new EvershellError("CLOSED", "the executor was closed: make another");
    const script = new TextEncoder().encode(spec.command);
    const isLong = script.length > MAX_ARGUMENT_BYTES;
    const bash = findBash("bash", spec.env);
    const argv = [...join, bash, ...FRESH, isLong ? EVALUATE : spec.command];
    return Child.start({
      argv: this.#confinement.wrap(argv as [string, ...string[]], spec),
      cwd: spec.workdir,
      env: taggedEnvironment(spec.env, this.#tag).env,
      stdin: spec.stdin,
      hasKeeper: this.#confinement.hasKeeper,
      script: isLong ? script : null,
      onStdout: (bytes) => stdout.push(bytes),
      onStderr: (bytes) => stderr.push(bytes),
    });
  }

  /** Waits for the end, which the limit or the signal may bring about. */
  async #endOf(
    child: Child,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<ProcessEnd & Pick<BashOutcome, "timedOutMs">> {
    let timedOutMs: number | null = null;
    let stopping: Promise<void> | undefined;
    const stop = (): void => {
      stopping ??= child.stop(this.#options.graceMs);
    };
    const timer = setTimeout(() => {
      timedOutMs = timeoutMs;
      stop();
    }, timeoutMs);
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) stop();
    try {
      const end = await child.done;
      await stopping;
      return { ...end, timedOutMs };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    }
  }
}
