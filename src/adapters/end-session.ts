/** Ends all processes of a terminal's session. */

import type { SignalName } from "../core/pty.ts";
import { type Session, sessionProcesses } from "./processes.ts";

/** The signals that are sent, each with the time after it for processes to end. */
const STEPS: readonly { readonly signals: readonly SignalName[]; readonly ms: number }[] = [
  { signals: ["SIGHUP", "SIGCONT"], ms: 200 },
  { signals: ["SIGTERM", "SIGCONT"], ms: 800 },
  { signals: ["SIGKILL"], ms: 2_000 },
];

/** How often it is looked whether any are left; a shell ends within a few milliseconds. */
const FIRST_LOOK_MS = 2;
const LAST_LOOK_MS = 50;

/** Resolves when nothing of the session runs, or nothing more can be done. Never rejects. */
export async function endSession(session: Session): Promise<void> {
  for (const { signals, ms } of STEPS) {
    const members = await sessionProcesses(session);
    for (const signal of signals) for (const { pid } of members) sendSignal(pid, signal);
    if (await allGone(session, ms)) return;
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

async function allGone(session: Session, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  for (
    let look = FIRST_LOOK_MS;
    performance.now() < deadline;
    look = Math.min(2 * look, LAST_LOOK_MS)
  ) {
    await new Promise((resolve) => setTimeout(resolve, look));
    if ((await sessionProcesses(session)).length === 0) return true;
  }
  return false;
}
