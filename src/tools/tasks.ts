/** Background tasks: work that goes on after the call that started it, of any kind. */

import { orAborted } from "../core/abort.ts";
import { within } from "../core/deferred.ts";
import { EvershellError } from "../core/index.ts";
import { Owners } from "./owners.ts";
import type { Owner } from "./tool.ts";

/** So many tasks an owner may have running. */
const MAX_LIVE_TASKS = 10;

/** So many that have ended are remembered for each owner; the oldest goes when one more ends. */
const MAX_ENDED_TASKS = 100;

/** How a task ended. */
export type TaskEnd =
  /** It came to its own end; `exitCode` where it has one. */
  | { readonly status: "completed"; readonly exitCode?: number }
  | { readonly status: "killed"; readonly signal: string; readonly reason?: string }
  | { readonly status: "failed"; readonly message: string };

/** New output of a task. */
export interface TaskOutput {
  readonly text: string;
  /** Output before it was dropped, since nobody had read it in time. */
  readonly dropped: boolean;
  /** A file with all of it, if some was dropped and there is such a file. */
  readonly spillPath: string | null;
}

/** What a producer registers. */
export interface TaskProducer {
  /** What sort of task it is; ids begin with it. */
  readonly kind: string;
  /** What a person calls it, such as its command. */
  readonly label: string;
  readonly owner: Owner;
  /** Ends it; `done` settles then. */
  cancel(reason: string): Promise<void>;
  /** Settles when it has ended. A rejection is a task that failed. */
  readonly done: Promise<TaskEnd>;
  /** What came since the last call; each byte once. */
  readOutput(): Promise<TaskOutput>;
}

/** A task as it is told. */
export interface TaskInfo {
  readonly id: string;
  readonly kind: string;
  readonly label: string;
  readonly startedAt: Date;
  readonly durationMs: number;
  /** Null while it runs. */
  readonly end: TaskEnd | null;
}

/** What one reading brings. */
export interface TaskReading {
  readonly task: TaskInfo;
  readonly output: TaskOutput;
}

/** The tasks of all owners. */
export class TaskRuntime {
  readonly #owners = new Owners(() => new OwnedTasks());

  /**
   * Takes a task that has been started.
   *
   * @returns its id
   * @throws {EvershellError} `BUSY` if the owner has too many; `NO_OWNER`; `CLOSED`. The task is then the caller's to end
   */
  register({ owner, ...producer }: TaskProducer): string {
    return this.#of(owner).add(producer);
  }

  /** @throws {EvershellError} `BUSY` if the owner has as many tasks running as it may; `NO_OWNER`; `CLOSED` */
  refuseIfFull(owner: Owner): void {
    this.#of(owner).refuseIfFull();
  }

  list(owner: Owner): TaskInfo[] {
    return this.#of(owner).list();
  }

  /**
   * Reads what is new of a task.
   *
   * @param waitMs how long to wait for its end first; 0 not at all
   * @param signal ends the waiting
   * @throws {EvershellError} `NO_TASK` for one that is unknown, or another owner's; `ABORTED`
   */
  async read(owner: Owner, id: string, waitMs: number, signal?: AbortSignal): Promise<TaskReading> {
    const task = this.#of(owner).get(id);
    if (waitMs > 0) await orAborted(within(task.ended, waitMs), signal ?? null);
    return task.read();
  }

  /**
   * Ends a task and waits for that. One that has ended stays as it is.
   * @throws {EvershellError} `NO_TASK`
   */
  async kill(owner: Owner, id: string, reason: string): Promise<TaskReading> {
    const task = this.#of(owner).get(id);
    await task.cancel(reason);
    return task.read();
  }

  /** The tasks that have ended and of which nobody has heard; each is told once. */
  takeNotices(owner: Owner): TaskInfo[] {
    return this.#of(owner).takeNotices();
  }

  /** Cancels the tasks of an owner and waits for their ends. */
  disposeOwner(owner: Owner): Promise<void> {
    return this.#owners.dispose(owner);
  }

  /** The same for every owner, for good. */
  dispose(): Promise<void> {
    return this.#owners.close();
  }

  #of(owner: Owner): OwnedTasks {
    return this.#owners.of(owner, "a background task");
  }
}

type OwnerlessProducer = Omit<TaskProducer, "owner">;

class OwnedTasks {
  readonly #tasks = new Map<string, Task>();
  readonly #counts = new Map<string, number>();

  refuseIfFull(): void {
    const live = [...this.#tasks.values()].filter((task) => task.end === null);
    if (live.length < MAX_LIVE_TASKS) return;
    throw new EvershellError(
      "BUSY",
      `${MAX_LIVE_TASKS} background tasks are running already: wait for one, or end one with task_kill`,
    );
  }

  add(producer: OwnerlessProducer): string {
    this.refuseIfFull();
    const count = (this.#counts.get(producer.kind) ?? 0) + 1;
    this.#counts.set(producer.kind, count);
    const id = `${producer.kind}-${count}`;
    const task = new Task(id, producer);
    this.#tasks.set(id, task);
    void task.ended.then(() => this.#forgetOldest());
    return id;
  }

  get(id: string): Task {
    const task = this.#tasks.get(id);
    if (task !== undefined) return task;
    throw new EvershellError(
      "NO_TASK",
      `there is no task ${JSON.stringify(id)}: task_list names yours`,
    );
  }

  list(): TaskInfo[] {
    return [...this.#tasks.values()].map((task) => task.info);
  }

  takeNotices(): TaskInfo[] {
    return [...this.#tasks.values()].filter((task) => task.takeNotice()).map((task) => task.info);
  }

  async close(): Promise<void> {
    const all = [...this.#tasks.values()].map((task) => task.cancel("its owner is gone"));
    // One that cannot be cancelled keeps nobody from the others; it has nobody left to be told to.
    await Promise.allSettled(all);
  }

  #forgetOldest(): void {
    const ended = [...this.#tasks].filter(([, task]) => task.end !== null);
    for (const [id] of ended.slice(0, -MAX_ENDED_TASKS)) this.#tasks.delete(id);
  }
}

/** A producer without types may tell nothing of its end. */
function isEnd(end: unknown): end is TaskEnd {
  return typeof end === "object" && end !== null && "status" in end;
}

class Task {
  readonly #id: string;
  readonly #producer: OwnerlessProducer;
  readonly #startedAt = new Date();
  readonly #startedMs = performance.now();
  #durationMs: number | null = null;
  #killReason: string | null = null;
  /** Its end has been told. */
  #told = false;
  end: TaskEnd | null = null;
  readonly ended: Promise<void>;

  constructor(id: string, producer: OwnerlessProducer) {
    this.#id = id;
    this.#producer = producer;
    this.ended = producer.done.then(
      (end) => this.#finish(isEnd(end) ? end : { status: "completed" }),
      (error: unknown) => this.#finish({ status: "failed", message: String(error) }),
    );
  }

  get info(): TaskInfo {
    const { kind, label } = this.#producer;
    const durationMs = this.#durationMs ?? performance.now() - this.#startedMs;
    return {
      id: this.#id,
      kind,
      label,
      startedAt: this.#startedAt,
      durationMs: Math.round(durationMs),
      end: this.end,
    };
  }

  async read(): Promise<TaskReading> {
    // Its end first: what is read after that is all that there will be.
    const { info } = this;
    const output = await this.#producer.readOutput();
    this.#told ||= info.end !== null;
    return { task: info, output };
  }

  async cancel(reason: string): Promise<void> {
    if (this.end !== null) return;
    this.#killReason ??= reason;
    await this.#producer.cancel(reason);
    await this.ended;
  }

  /** Whether its end is to be told now. */
  takeNotice(): boolean {
    if (this.end === null || this.#told) return false;
    this.#told = true;
    return true;
  }

  #finish(end: TaskEnd): void {
    this.#durationMs = performance.now() - this.#startedMs;
    const reason = this.#killReason;
    this.end = end.status === "killed" && reason !== null ? { ...end, reason } : end;
  }
}
