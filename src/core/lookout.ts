/** Looks after a command in flight from time to time: at what its output does not tell. */

import { PROMPT_READ_BYTES } from "./bash.ts";
import { untilRead } from "./deferred.ts";
import type { Pty, TerminalModes, TerminalReader } from "./pty.ts";
import type { InputWait } from "./result.ts";
import type { Run } from "./run.ts";

/** The first look; each next one comes after twice the time, up to the last. */
const FIRST_LOOK_MS = 100;
const LAST_LOOK_MS = 8_000;

/** The last while somebody is to hear that the command waits for input: soon enough for a person. */
const LAST_FOLLOWED_LOOK_MS = 400;

/** Between two looks that have to agree before anything is concluded. */
const PROOF_MS = 50;

/** What a lookout needs of the shell. */
export interface LookoutHost {
  readonly pty: Pty;
  /** How many bytes have come from the terminal. */
  readonly received: () => number;
  /** The shell itself is at a prompt, though no mark of ours has told so. */
  onPrompt(run: Run): void;
}

/** What one look has seen: the shell at a prompt, or a program that reads. */
type Sight = "prompt" | TerminalReader;

/** Sees when a stopped shell has to be continued, when it is back at a prompt, and when a program waits for input. */
export class Lookout {
  readonly #host: LookoutHost;
  #run: Run | null = null;
  #onWaiting: ((wait: InputWait) => void) | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** At the last look. */
  #received = 0;

  constructor(host: LookoutHost) {
    this.#host = host;
  }

  /** A command runs, or something has been done to it: the next look comes soon. */
  watch(run: Run): void {
    this.#run = run;
    this.#received = this.#host.received();
    this.#lookIn(FIRST_LOOK_MS, null);
  }

  /** The command is over. */
  leave(): void {
    this.#run = null;
    clearTimeout(this.#timer);
  }

  /** Tells once it is proved that the command waits for input. Returns a function that ends this. */
  follow(onWaiting: (wait: InputWait) => void): () => void {
    this.#onWaiting = onWaiting;
    if (this.#run !== null) this.#lookIn(FIRST_LOOK_MS, null);
    return () => {
      if (this.#onWaiting === onWaiting) this.#onWaiting = null;
    };
  }

  #lookIn(ms: number, before: Sight | null): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(ms, before), ms);
  }

  async #look(ms: number, before: Sight | null): Promise<void> {
    const run = this.#run;
    const received = this.#host.received();
    if (run === null) return;
    // A command that prints neither stands still nor waits, and is not to pay for being looked at.
    if (received !== this.#received) {
      this.#received = received;
      this.#lookIn(this.#onWaiting === null ? this.#next(ms) : FIRST_LOOK_MS, null);
      return;
    }
    const sight = await this.#see();
    if (sight !== null) await untilRead();
    if (this.#run !== run) return;
    if (received !== this.#host.received()) {
      this.#lookIn(FIRST_LOOK_MS, null);
      return;
    }
    if (sight !== null && !isSame(sight, before)) this.#lookIn(PROOF_MS, sight);
    else if (sight === "prompt") this.#host.onPrompt(run);
    else {
      this.#lookIn(this.#next(ms), null);
      if (sight !== null) await this.#tell(sight);
    }
  }

  #next(ms: number): number {
    return Math.min(2 * ms, this.#onWaiting === null ? LAST_LOOK_MS : LAST_FOLLOWED_LOOK_MS);
  }

  async #see(): Promise<Sight | null> {
    const state = await this.#host.pty.inspect();
    if (state?.stopped) await this.#host.pty.repair();
    if (state?.readSize === PROMPT_READ_BYTES) return "prompt";
    return this.#onWaiting === null ? null : this.#host.pty.reader();
  }

  async #tell({ program }: TerminalReader): Promise<void> {
    this.#onWaiting?.({ program, password: isForPassword(await this.#host.pty.modes()) });
  }
}

/** Whether a terminal is set as for a password: lines are read, and not shown. */
export function isForPassword(modes: TerminalModes | null): boolean {
  return modes !== null && !modes.echo && modes.lines;
}

function isSame(sight: Sight, before: Sight | null): boolean {
  if (sight === "prompt" || before === null || before === "prompt") return sight === before;
  return sight.pid === before.pid && sight.wait === before.wait;
}
