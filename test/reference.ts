/**
 * What evershell is measured against: a bare interactive bash on a PTY, and a program on a PTY with an
 * ordinary terminal in front of it. Nothing here uses evershell but for the environment and the choice of bash.
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Terminal } from "@xterm/headless/lib-headless/xterm-headless.mjs";
import { type IPty, spawn } from "node-pty";
import { shellEnvironment } from "../src/core/environment.ts";

/** No fact that a test waits for takes longer. */
const LIMIT_MS = 15_000;

/** The environment that both sides start with. */
export const environment: Record<string, string> = {
  ...shellEnvironment(process.env, "C.UTF-8", {}),
};

/** The bash of both sides, as `$0` names it. */
export const bash: string = execFileSync("bash", ["-c", "type -P bash"], {
  encoding: "utf8",
}).trim();

/** An empty folder that is removed again when the scope ends. */
export function temporaryFolder(): Disposable & { readonly path: string } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "evershell-test-")));
  return {
    path,
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Resolves with the first value that is not undefined; fails with what `describe` says after the limit. */
export async function eventually<T>(
  look: () => T | undefined | Promise<T | undefined>,
  describe: () => string,
  limitMs: number = LIMIT_MS,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${describe()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** What one line came to. */
export interface LineResult {
  readonly text: string;
  readonly exitCode: number | null;
  /** The shell ended with this line. */
  readonly exited: boolean;
}

/**
 * A bare interactive bash. Its prompt tells the end of each line and carries `$?`: bash expands it where it
 * prints it, so that neither `$?` nor `$_` nor any option or trap is touched.
 */
export class BareBash implements Disposable {
  readonly #pty: IPty;
  #printed = "";
  #changed: () => void = () => undefined;
  #exit: { exitCode: number; signal: number } | null = null;

  private constructor(cwd: string, size: { cols: number; rows: number }) {
    // No echo and no output processing: what comes back is what was printed.
    const start = 'stty -echo -opost; exec "$0" --noprofile --norc --noediting -i';
    this.#pty = spawn(bash, ["--noprofile", "--norc", "-c", start, bash], {
      cwd,
      env: environment,
      ...size,
    });
    this.#pty.onData((data) => {
      this.#printed += data;
      this.#changed();
    });
    this.#pty.onExit(({ exitCode, signal }) => {
      this.#exit = { exitCode, signal: signal ?? 0 };
      this.#changed();
    });
  }

  static async open(cwd: string): Promise<BareBash> {
    const shell = new BareBash(cwd, { cols: 120, rows: 40 });
    await shell.#until(() => shell.#printed !== "" || undefined, "the first prompt");
    // History is off in evershell too. Bash itself printed a prompt of its own until here.
    await shell.run(
      `set +H +o history; unset HISTFILE MAILCHECK TMOUT; PS2= PS1='\\e]reference;$?\\a'`,
    );
    return shell;
  }

  /** Types one complete command and waits for the prompt after it. */
  async run(text: string): Promise<LineResult> {
    this.#printed = "";
    this.#pty.write(`${text}\n`);
    return this.#until(() => this.#result(), `the end of ${JSON.stringify(text)}`);
  }

  [Symbol.dispose](): void {
    if (this.#exit === null) this.#pty.kill("SIGKILL");
  }

  /** Looks again whenever something was printed. */
  #until<T>(look: () => T | undefined, what: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`bare bash: ${what}; printed ${JSON.stringify(this.#printed)}`)),
        LIMIT_MS,
      );
      this.#changed = () => {
        const found = look();
        if (found === undefined) return;
        clearTimeout(timer);
        resolve(found);
      };
      this.#changed();
    });
  }

  #result(): LineResult | undefined {
    const prompt = /\x1b\]reference;(\d+)\x07$/.exec(this.#printed);
    if (prompt !== null) {
      const text = this.#printed.slice(0, prompt.index);
      return { text, exitCode: Number(prompt[1]), exited: false };
    }
    if (this.#exit === null) return undefined;
    const { exitCode, signal } = this.#exit;
    return { text: this.#printed, exitCode: signal === 0 ? exitCode : null, exited: true };
  }
}

/** A program on a PTY as a terminal emulator opens it, with that emulator's screen. */
export class ReferenceTerminal implements Disposable {
  readonly #pty: IPty;
  readonly #terminal: Terminal;
  #pending = 0;
  #ended = false;

  constructor(
    command: string,
    options: { cwd: string; cols: number; rows: number; env: Record<string, string> },
  ) {
    const { cwd, cols, rows, env } = options;
    this.#terminal = new Terminal({ cols, rows, allowProposedApi: true });
    this.#pty = spawn(bash, ["--noprofile", "--norc", "-c", command], { cwd, cols, rows, env });
    this.#terminal.onData((answer) => this.#pty.write(answer));
    this.#pty.onData((data) => {
      this.#pending++;
      this.#terminal.write(data, () => {
        this.#pending--;
      });
    });
    this.#pty.onExit(() => {
      this.#ended = true;
    });
  }

  type(text: string): void {
    this.#pty.write(text);
  }

  get applicationCursorKeys(): boolean {
    return this.#terminal.modes.applicationCursorKeysMode;
  }

  /** The visible rows without blanks at their ends; undefined while output is being parsed. */
  rows(): string[] | undefined {
    if (this.#pending > 0) return undefined;
    const buffer = this.#terminal.buffer.active;
    return Array.from({ length: this.#terminal.rows }, (_, y) =>
      (buffer.getLine(buffer.baseY + y)?.translateToString(true) ?? "").trimEnd(),
    );
  }

  get ended(): boolean {
    return this.#ended;
  }

  [Symbol.dispose](): void {
    if (!this.#ended) this.#pty.kill("SIGKILL");
    this.#terminal.dispose();
  }
}
