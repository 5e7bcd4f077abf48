/** The shell and the terminals of one owner. */

import { EvershellError, type Shell, type Terminal } from "../core/index.ts";
import { Turns } from "../core/turns.ts";

/** The id of an owner's shell among its terminals. */
export const SHELL_ID = "shell";

/** So many terminals an owner may have open. */
const MAX_TERMINALS = 16;

/** A terminal that an owner has opened. */
export interface OwnedTerminal {
  readonly id: string;
  /** The backend that it was opened on. */
  readonly type: string;
  /** As its opener called it; "" for none. */
  readonly name: string;
  readonly terminal: Terminal;
  /** How its program ended, once it has: `exit code 0`, `SIGKILL`. */
  ended: string | null;
}

type OpenShell = (cwd: string | undefined) => Promise<Shell>;

export class OwnedTerminals {
  /** Calls that use the shell are carried out one after another. */
  readonly turns: Turns = new Turns();
  readonly #terminals = new Map<string, OwnedTerminal>();
  /** Where the first shell started; each later one starts there too. */
  #workspace: { readonly cwd: string | undefined } | null = null;
  #shell: Promise<Shell> | null = null;
  /** The same once it is open. */
  #openShell: Shell | null = null;
  /** Settles when every shell that was reset is gone. */
  #gone: Promise<unknown> = Promise.resolve();
  /** How many have been opened. */
  #count = 0;
  /** Those that are being opened. */
  readonly #opening = new Set<Promise<OwnedTerminal>>();
  #closing: Promise<void> | null = null;

  /** @throws {EvershellError} `CLOSED` once the owner was disposed of */
  refuseIfClosed(): void {
    if (this.#closing === null) return;
    throw new EvershellError("CLOSED", "the owner of this call was disposed of");
  }

  /** The shell, if there is one. */
  get shell(): Shell | null {
    return this.#openShell;
  }

  get terminals(): readonly OwnedTerminal[] {
    return [...this.#terminals.values()];
  }

  /**
   * The shell; it is opened at the first use.
   *
   * @param cwd the owner's directory, which counts when the first one opens
   */
  async useShell(open: OpenShell, cwd: string | undefined): Promise<Shell> {
    this.refuseIfClosed();
    this.#shell ??= this.#open(open, this.#workspace ?? { cwd });
    return this.#shell;
  }

  /**
   * Ends the shell and all that was started in it; the next use opens a fresh one. One that is still being opened is not
   * waited for.
   */
  async resetShell(): Promise<void> {
    // One that could not be opened needs no closing.
    const gone = this.#shell?.then((shell) => shell.close()).catch(() => undefined);
    const isOpen = this.#openShell !== null;
    this.#shell = null;
    this.#openShell = null;
    this.#gone = Promise.all([this.#gone, gone]);
    if (isOpen) await gone;
  }

  /**
   * Opens one more terminal. Of those that have ended, the oldest makes room.
   *
   * @throws {EvershellError} `BUSY` if too many are open; what `open` throws
   */
  async add(type: string, name: string, open: () => Promise<Terminal>): Promise<OwnedTerminal> {
    this.refuseIfClosed();
    if (this.#terminals.size + this.#opening.size >= MAX_TERMINALS) await this.#makeRoom();
    const opening = this.#openTerminal(type, name, open);
    this.#opening.add(opening);
    try {
      return await opening;
    } finally {
      this.#opening.delete(opening);
    }
  }

  /** @throws {EvershellError} `NO_TERMINAL` for one that is unknown, or another owner's */
  get(id: string): OwnedTerminal {
    const found = this.#terminals.get(id);
    if (found !== undefined) return found;
    throw new EvershellError(
      "NO_TERMINAL",
      `there is no terminal ${JSON.stringify(id)}: terminal_list names yours, terminal_open opens one`,
    );
  }

  async remove(id: string): Promise<void> {
    const { terminal } = this.get(id);
    this.forget(id);
    await terminal.close();
  }

  /** Takes one that is closed from the list. */
  forget(id: string): void {
    this.#terminals.delete(id);
  }

  /** Ends everything, for good. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const all = this.terminals;
    this.#terminals.clear();
    await Promise.all([this.resetShell(), ...all.map(({ terminal }) => terminal.close())]);
    await Promise.allSettled([this.#gone, ...this.#opening]);
  }

  async #openTerminal(
    type: string,
    name: string,
    open: () => Promise<Terminal>,
  ): Promise<OwnedTerminal> {
    const terminal = await open();
    if (this.#closing !== null) await terminal.close();
    this.refuseIfClosed();
    const id = `terminal-${++this.#count}`;
    const owned: OwnedTerminal = { id, type, name, terminal, ended: null };
    this.#terminals.set(owned.id, owned);
    void owned.terminal.exited.then(({ exitCode, signal }) => {
      owned.ended = signal ?? `exit code ${exitCode}`;
    });
    return owned;
  }

  #open(open: OpenShell, workspace: { readonly cwd: string | undefined }): Promise<Shell> {
    const opening = open(workspace.cwd);
    opening.then(
      (shell) => {
        this.#workspace = workspace;
        if (this.#shell === opening) this.#openShell = shell;
      },
      () => {
        // Whoever opened it is told; the next use tries again, in the owner's directory of then.
        if (this.#shell !== opening) return;
        this.#shell = null;
        this.#workspace = null;
      },
    );
    return opening;
  }

  async #makeRoom(): Promise<void> {
    const over = this.terminals.find(({ ended }) => ended !== null);
    if (over === undefined) {
      throw new EvershellError("BUSY", `${MAX_TERMINALS} terminals are open: close one first`);
    }
    await this.remove(over.id);
  }
}
