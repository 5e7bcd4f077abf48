/** Ends the processes of a family: the sequence of signals. */

import { pause } from "../core/deferred.ts";
import type { SignalName } from "../core/pty.ts";
import { type Family, Identities } from "./family.ts";

/** Signals that are sent, with the time after the first of them for processes to end. */
export interface Step {
  readonly signals: readonly SignalName[];
  readonly ms: number;
  /** They are not sent to the process that was started first: it ends when the others have. */
  readonly sparesLeader?: boolean;
}

/** How a terminal ends what runs on it. */
const HANG_UP: readonly Step[] = [
  { signals: ["SIGHUP", "SIGCONT"], ms: 200 },
  { signals: ["SIGTERM", "SIGCONT"], ms: 800 },
  { signals: ["SIGKILL"], ms: 2_000 },
];

/** How often it is looked whether any are left; a shell ends within a few milliseconds. */
const FIRST_LOOK_MS = 2;
const LAST_LOOK_MS = 50;

/** Resolves when nothing of the family runs, or nothing more can be done. Rejects if it cannot be looked at. */
export async function endFamily(family: Family, steps: readonly Step[] = HANG_UP): Promise<void> {
  for (const step of steps) if (await endsOn(step, family)) return;
}

/** Sends the signals to everybody, also to who comes meanwhile; whether all have ended within the time. */
async function endsOn(
  { signals, ms, sparesLeader = false }: Step,
  family: Family,
): Promise<boolean> {
  const deadline = performance.now() + ms;
  const told = new Identities();
  for (let look = FIRST_LOOK_MS; ; look = Math.min(2 * look, LAST_LOOK_MS)) {
    const members = await family.members();
    if (members.length === 0) return true;
    const fresh = members.filter(
      (info) => !told.has(info) && !(sparesLeader && info.pid === family.leader),
    );
    for (const signal of signals) for (const { pid } of fresh) sendSignal(pid, signal);
    for (const info of fresh) told.add(info);
    if (performance.now() >= deadline) return false;
    await pause(look);
  }
}

/** Sends a signal to a process, or a group by its negative id; false if there is none, or none of ours. */
export function sendSignal(pid: number, signal: SignalName): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // It has ended, or belongs to another user.
    return false;
  }
}

/** Whether there is such a process, ours or not. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
