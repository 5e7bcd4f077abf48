/** Proof that a program waits for input on its terminal: what each of its threads is blocked in (Linux). */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { TerminalReader } from "../core/pty.ts";
import { judgeWait, showsWaits } from "./blocked-thread.ts";
import { allProcesses, type ProcessInfo, statOf } from "./processes.ts";
import { terminalModes } from "./terminal-modes.ts";

/** What stands for a wait that cannot be seen. */
const PASSWORD_WAIT = "password";

/**
 * A process of the foreground group that waits for input on the terminal, and for nothing else. Programs with
 * more rights than ours (sudo, su) show nothing; of them it is believed when the terminal is set for a password.
 *
 * @param leader the process that was started on the terminal
 * @param device the terminal, as `/dev/pts/3`
 */
export async function terminalReader(
  leader: number,
  device: string,
): Promise<TerminalReader | null> {
  if (!showsWaits) return null;
  let denied: ProcessInfo | null = null;
  for await (const member of foregroundProcesses(leader)) {
    try {
      const reader = provenReader(member.pid, device);
      if (reader !== null) return reader;
    } catch (error) {
      // Of one that has ended meanwhile there is no proof.
      if (isDenial(error)) denied ??= member;
    }
  }
  if (denied === null) return null;
  const modes = await terminalModes(device);
  if (modes === null || modes.echo || !modes.lines) return null;
  return { pid: denied.pid, program: programOf(denied.pid), wait: PASSWORD_WAIT };
}

/** The process, if all of its threads wait for the terminal or for each other. */
function provenReader(pid: number, device: string): TerminalReader | null {
  const waits: string[] = [];
  let reads = false;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${thread}`;
    const call = readFileSync(`${folder}/syscall`, "latin1").trim();
    const wait = judgeWait({ pid, device }, call);
    if (wait === "other") return null;
    if (wait === "terminal") reads = true;
    waits.push(`${thread} ${wait === "terminal" ? sleepsOf(folder) : ""} ${call}`);
  }
  return reads ? { pid, program: programOf(pid), wait: waits.join("\n") } : null;
}

/** How often a thread has gone to sleep: by this one read is told from the same read again. */
function sleepsOf(folder: string): string {
  const status = readFileSync(`${folder}/status`, "latin1");
  return /^voluntary_ctxt_switches:\s*(\d+)/m.exec(status)?.[1] ?? "";
}

function programOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trimEnd();
  } catch {
    // It has ended.
    return "";
  }
}

/** Those that sleep; what is stopped or a zombie waits for nothing. */
async function* foregroundProcesses(leader: number): AsyncGenerator<ProcessInfo> {
  const shell = statOf(leader);
  if (shell === null || shell.foregroundGroup <= 0) return;
  for (const info of showsChildren() ? descendants(shell) : await allProcesses()) {
    if (info.group === shell.foregroundGroup && info.state === "S") yield info;
  }
}

/** Not every kernel lists the children of a thread; then all processes of the system are looked at. */
function showsChildren(): boolean {
  listsChildren ??= existsSync("/proc/thread-self/children");
  return listsChildren;
}

let listsChildren: boolean | null = null;

/** A process and all that come from it, except those whose parent has ended. */
function* descendants(root: ProcessInfo): Generator<ProcessInfo> {
  const found = [root];
  for (const info of found) {
    yield info;
    found.push(
      ...childrenOf(info.pid)
        .map(statOf)
        .filter((child) => child !== null),
    );
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
      const children = readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1");
      return children.split(" ").filter(Boolean).map(Number);
    });
  } catch {
    // It has ended.
    return [];
  }
}

function isDenial(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EACCES" || code === "EPERM";
}
