/** How the bash of a shell is started: on this machine, or through a program that leads elsewhere. */

import { startCommand, startThrough } from "./bash.ts";
import { within } from "./deferred.ts";
import { type Environment, hostEnvironment, shellEnvironment } from "./environment.ts";
import { EvershellError } from "./errors.ts";
import { farPrelude } from "./far-bash.ts";
import { LiveBash } from "./live-bash.ts";
import { type ResolvedShellOptions, resolveRunOptions } from "./options.ts";
import { Run } from "./run.ts";
import type { Runtime } from "./runtime.ts";
import { scrub } from "./scrub.ts";
import { SpillShelf } from "./spill.ts";

/** Size of a terminal in cells. */
export interface Size {
  readonly cols: number;
  readonly rows: number;
}

/** Starts the bashes of one shell, all alike. */
export class Launcher {
  readonly #runtime: Runtime;
  readonly #options: ResolvedShellOptions;
  readonly #cwd: string;
  readonly #env: Environment;

  /** @throws {EvershellError} `BAD_CWD` */
  constructor(runtime: Runtime, options: ResolvedShellOptions) {
    this.#runtime = runtime;
    this.#options = options;
    const { backend, cwd, env } = options;
    const host = scrub(runtime.environment(), options.scrub);
    // Directory and variables of a far shell are set over there.
    this.#cwd = runtime.resolveCwd((backend === null ? cwd : null) ?? runtime.workingDirectory());
    this.#env =
      backend === null ? shellEnvironment(host, runtime.locale, env) : hostEnvironment(host);
  }

  /** @throws {EvershellError} `BASH_NOT_FOUND`, `BAD_CWD`; what `LiveBash.open` throws */
  async launch(size: Size): Promise<LiveBash> {
    const { backend, bash } = this.#options;
    const here = this.#runtime.findBash(backend === null ? bash : "bash", this.#env);
    const live = await LiveBash.open({
      openPty: this.#runtime.openPty,
      options: { ...this.#options, ...size },
      argv: backend === null ? startCommand(here) : startThrough(here, backend),
      cwd: this.#runtime.resolveCwd(this.#cwd),
      env: this.#env,
      far: backend === null ? null : { program: backend[0], bash },
    });
    if (backend !== null) await this.#settleIn(live);
    return live;
  }

  /** Gives a far bash its environment and its directory. */
  async #settleIn(live: LiveBash): Promise<void> {
    const { cwd, env, startTimeoutMs } = this.#options;
    const run = new Run({
      id: "prelude",
      command: farPrelude(env, cwd),
      options: resolveRunOptions({ timeoutMs: null }, this.#options),
      spill: new SpillShelf(null).start(),
      screen: () => live.blankScreen(),
      now: () => performance.now(),
    });
    live.start(run);
    const end = await within(run.ended, startTimeoutMs);
    if (end?.kind === "finished" && end.exitCode === 0) return;
    const { output } = await run.result(end ?? { kind: "running" }, null);
    await live.close();
    throw new EvershellError(
      "BAD_CWD",
      `cwd ${JSON.stringify(cwd)} cannot be used there: ${output}`,
    );
  }
}
