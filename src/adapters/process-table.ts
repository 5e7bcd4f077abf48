/** All processes at one moment, looked up once for all who ask in that moment. */

import { allProcesses, initialEnvironment, type ProcessInfo } from "./processes.ts";

export class ProcessTable {
  readonly #processes: ReadonlyMap<number, ProcessInfo>;
  readonly #children = new Map<number, ProcessInfo[]>();
  readonly #environments = new Map<number, string | null>();

  constructor(processes: readonly ProcessInfo[]) {
    this.#processes = new Map(processes.map((info) => [info.pid, info]));
    for (const info of processes) {
      const siblings = this.#children.get(info.parent);
      if (siblings) siblings.push(info);
      else this.#children.set(info.parent, [info]);
    }
  }

  get(pid: number): ProcessInfo | undefined {
    return this.#processes.get(pid);
  }

  /** Those that run; zombies have ended. */
  running(): ProcessInfo[] {
    return [...this.#processes.values()].filter(({ state }) => state !== "Z");
  }

  children(pid: number): readonly ProcessInfo[] {
    return this.#children.get(pid) ?? [];
  }

  /** The processes above this one, from itself to the first of all. */
  ancestors(pid: number): Set<number> {
    const found = new Set<number>();
    for (let info = this.get(pid); info && !found.has(info.pid); info = this.get(info.parent)) {
      found.add(info.pid);
    }
    return found;
  }

  /** See `initialEnvironment`. */
  environment(pid: number): string | null {
    let text = this.#environments.get(pid);
    if (text === undefined) {
      text = initialEnvironment(pid);
      this.#environments.set(pid, text);
    }
    return text;
  }
}

/** A look that others may share, and when it began (`performance.now`). */
let current: { readonly table: Promise<ProcessTable>; readonly at: number } | null = null;

/**
 * Looks at all processes. Many terminals that are closed together look together: those that ask within one turn of the
 * event loop share a look.
 *
 * @param since the look must not have begun before this (`performance.now`)
 */
export function lookAtProcesses(since: number): Promise<ProcessTable> {
  if (current === null || current.at < since) {
    const at = performance.now();
    current = { table: allProcesses().then((processes) => new ProcessTable(processes)), at };
    setImmediate(() => {
      current = null;
    });
  }
  return current.table;
}
