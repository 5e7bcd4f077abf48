/** The processes that were started from a terminal, or from one process, wherever they are now. */

import type { PtyRequest } from "../core/pty.ts";
import { lookAtProcesses, type ProcessTable } from "./process-table.ts";
import { ignoresHangup, type ProcessInfo, sessionKey, startOf } from "./processes.ts";

/** Where a family begins. */
export interface FamilyOrigin extends Pick<PtyRequest, "tag" | "keepDetached"> {
  /** The process that was started first, and leads the session; null if only the tag tells who belongs. */
  readonly leader: number | null;
  /** The terminal, as `/dev/pts/3`; null if there is none. */
  readonly device: string | null;
}

/** A shorter text may stand in the environment of anybody, who would be ended; it tells nothing. */
const MIN_TAG_LENGTH = 16;

/**
 * A process is told by its session, its parent, or the tag in the environment that it was started with; of these it can
 * lose each, so who has been seen once is known from then on. Who has lost all three before the first look is missed.
 * (macOS shows no environments, so there the tag does not help.)
 */
export class Family {
  readonly #origin: FamilyOrigin;
  /** Null if it is not known. */
  readonly #leaderStart: number | null;
  readonly #foundedAt = performance.now();
  readonly #known = new Identities();
  /** Who does not have the tag, and cannot come by it: an environment is read only once. */
  readonly #untagged = new Identities();

  /** To be called right after the leader was started: later its id may be another's. */
  constructor(origin: FamilyOrigin) {
    this.#origin = origin;
    this.#leaderStart = origin.leader === null ? null : startOf(origin.leader);
  }

  get leader(): number | null {
    return this.#origin.leader;
  }

  /** Those who run and are to end; with `keepDetached` that leaves out who has made itself independent. */
  async members(): Promise<ProcessInfo[]> {
    const table = await lookAtProcesses(this.#foundedAt);
    // The host may itself run in a terminal like this one.
    const ourselves = table.ancestors(process.pid);
    const candidates = table
      .running()
      // Nobody is older than the leader: most processes of a machine are out at once.
      .filter(({ pid, start }) => start >= (this.#leaderStart ?? 0) && !ourselves.has(pid));
    const members = this.#origin.keepDetached
      ? candidates.filter((info) => this.#isAttached(info, table))
      : this.#withDescendants(candidates, table);
    for (const info of members) this.#known.add(info);
    return members;
  }

  #withDescendants(candidates: readonly ProcessInfo[], table: ProcessTable): ProcessInfo[] {
    const found = new Set(
      candidates.filter(
        (info) =>
          this.#known.has(info) ||
          this.#isLeader(info) ||
          this.#isInSession(info, table) ||
          this.#isTagged(info, table),
      ),
    );
    const rest = new Set(candidates);
    // A set gives also what is added to it meanwhile.
    for (const { pid } of found) {
      for (const child of table.children(pid)) if (rest.has(child)) found.add(child);
    }
    return [...found];
  }

  /** The leader has to end in any case: the terminal is being closed. */
  #isAttached(info: ProcessInfo, table: ProcessTable): boolean {
    if (this.#isLeader(info)) return true;
    if (!this.#isInSession(info, table)) return false;
    // Where it cannot be seen who ignores SIGHUP: those who got it, and decide by themselves.
    return !(ignoresHangup(info.pid) ?? this.#known.has(info));
  }

  #isLeader({ pid, start }: ProcessInfo): boolean {
    return pid === this.#origin.leader && start === (this.#leaderStart ?? start);
  }

  #isInSession({ session }: ProcessInfo, table: ProcessTable): boolean {
    const { leader, device } = this.#origin;
    if (leader === null || session !== sessionKey(leader, device)) return false;
    // While anybody is in the session, its id is given to no other process.
    const holder = table.get(leader);
    return holder === undefined || this.#isLeader(holder);
  }

  #isTagged(info: ProcessInfo, table: ProcessTable): boolean {
    const { tag } = this.#origin;
    if (tag.length < MIN_TAG_LENGTH || this.#untagged.has(info)) return false;
    const environment = table.environment(info.pid);
    const tagged = environment?.includes(tag) ?? false;
    if (!tagged && environment !== "") this.#untagged.add(info);
    return tagged;
  }
}

/** Processes by id and start: an id alone is another's one day. */
export class Identities {
  readonly #starts = new Map<number, number>();

  add({ pid, start }: ProcessInfo): void {
    this.#starts.set(pid, start);
  }

  has({ pid, start }: ProcessInfo): boolean {
    return this.#starts.get(pid) === start;
  }
}
