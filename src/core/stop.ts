/** Stopping a command, and proving that the shell is back at its prompt. */

import { pause, within } from "./deferred.ts";
import type { Pty, PtyState } from "./pty.ts";
import type { Run } from "./run.ts";

/** How often it is looked what became of a signal. */
const LOOK_MS = 50;

/** Signals that may get lost one after another: a loop of short programs is rarely hit. */
const MAX_TRIES = 10;

/** A shell that is about to fork a program is given so long to hand the terminal over. */
const FORK_MS = 10;

/** Looks in a row at which the shell itself reads, before it is asked whether that is at its prompt. */
const READING_LOOKS = 2;

const CTRL_C = 0x03;

/** What stopping needs of the shell. */
export interface StopHost {
  readonly pty: Pty;
  /** Makes the shell ours again; resolves to true when it has answered, to false after so many milliseconds. */
  answers(ms: number): Promise<boolean>;
}

/**
 * Interrupts a command as Ctrl-C does, and sends the signal again where it got lost: between the forking of a
 * program and its start it reaches a copy of the shell, which ignores it.
 */
export async function interrupt({ pty }: StopHost, run: Run): Promise<void> {
  if ((await pty.inspect())?.foreground) await within(run.settled, FORK_MS);
  const before = run.over ? null : await pty.inspect();
  if (run.over) return;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    await sendInterrupt(pty);
    await within(run.settled, LOOK_MS);
    if (run.over || !hasMissedIt(before, await pty.inspect())) return;
  }
}

/**
 * After an interrupt, gives the terminal back to the shell: where the signal reached the shell while it forked a
 * program, the shell is back at its prompt and the program has the terminal.
 */
export async function regainTerminal(pty: Pty, graceMs: number): Promise<void> {
  const deadline = performance.now() + graceMs;
  for (;;) {
    const state = await pty.inspect();
    if (state === null || state.foreground) return;
    await pty.signal(performance.now() < deadline ? "SIGINT" : "SIGKILL");
    if (performance.now() > deadline + graceMs) return;
    await pause(FORK_MS);
  }
}

/**
 * Stops a command: SIGINT, then SIGKILL for the foreground group. The run ends if the shell proves to be
 * back at its prompt.
 *
 * @returns whether it was proved
 */
export async function stop(host: StopHost, run: Run, graceMs: number): Promise<boolean> {
  await interrupt(host, run);
  if (await backAtPrompt(host, run, graceMs)) return true;
  const state = await host.pty.inspect();
  if (run.over || state === null || state.foreground) return false;
  await host.pty.signal("SIGKILL");
  return backAtPrompt(host, run, graceMs);
}

/**
 * Whether the run ends within the time: by its end mark, by the prompt mark, or, where the user's prompt hides
 * that, because the shell itself reads the terminal and then answers our set-up, which only a prompt does.
 */
async function backAtPrompt(host: StopHost, run: Run, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  let before = await host.pty.inspect();
  for (let looks = 0; !run.over && looks < READING_LOOKS && performance.now() < deadline; ) {
    await within(run.settled, LOOK_MS);
    const state = await host.pty.inspect();
    if (!run.over && hasMissedIt(before, state)) await sendInterrupt(host.pty);
    looks = state?.readSize ? looks + 1 : 0;
    before = state;
  }
  const mayBeAtPrompt = before === null || before.readSize !== null;
  if (!run.over && mayBeAtPrompt && (await host.answers(ms))) {
    run.end({ kind: "interrupted", exitCode: INTERRUPTED_STATUS });
  }
  return run.over && !run.shellEnded;
}

/** That of a command killed by SIGINT: 128 + 2. */
export const INTERRUPTED_STATUS = 130;

/** A script goes on with its next program; or the program would have ended, had it got the signal. */
function hasMissedIt(before: PtyState | null, after: PtyState | null): boolean {
  if (before === null || after === null || after.foreground) return false;
  return before.foregroundGroup !== after.foregroundGroup || after.interruptible;
}

/** SIGINT, or Ctrl-C where the foreground group is not known. A terminal that is gone needs neither. */
async function sendInterrupt(pty: Pty): Promise<void> {
  if (await pty.signal("SIGINT")) return;
  await pty.write(Uint8Array.of(CTRL_C)).catch(() => undefined);
}
