/**
 * A bash that is reached through another program, such as `ssh -tt host`, `docker exec -it box sh` or `su - user`.
 * Whatever shell that leads to is told to become our bash, by one line that is typed once somebody reads it.
 */

import { pause, within } from "./deferred.ts";
import { FAR_UNSET, FAR_VARIABLES } from "./environment.ts";
import { isForPassword } from "./lookout.ts";
import type { Pty, PtyExit, PtyState, SignalName, TerminalModes, TerminalReader } from "./pty.ts";
import { escapeForAnsiC } from "./quoting.ts";

/** The far side of a shell. */
export interface Far {
  /** The program that leads there. */
  readonly program: string;
  /** The bash to become: a name or a path over there. */
  readonly bash: string;
}

/** How often it is looked whether somebody reads what is typed. */
const LOOK_MS = 50;

/** After which the line is typed once more: a start-up file that reads or flushes its input may have eaten it. */
const AGAIN_MS = 2_000;

/** Plain for fish, which knows its keywords by that; quoted where a start-up file has made them aliases. */
const EXEC_WORDS = ["exec env", "'exec' 'env'"];

/** Programs that read commands; what any other reads is the answer to a question. */
const SHELL = /^-?(?:(?:ba|da|z|k|mk|fi|a|c|tc)?sh|busybox)$/;

/**
 * Types the line that becomes bash, once something over there reads commands, and until it does.
 *
 * @param promptMark what the far bash is to print as its prompt
 * @param reached resolves when it has
 * @param givenUp nobody waits for it any more
 * @returns why that cannot be, if the program asks a question; else null
 */
export async function typeBecome(
  pty: Pty,
  { bash }: Far,
  promptMark: string,
  reached: Promise<void>,
  givenUp: () => boolean,
): Promise<string | null> {
  const done = reached.then(() => true);
  for (let tries = 0; !givenUp(); ) {
    const reader = await pty.reader();
    const modes = await pty.modes();
    if (reader !== null && (!SHELL.test(reader.program) || isForPassword(modes))) {
      return (
        `${reader.program} asks something, and nobody is there to answer: let it start without questions ` +
        "(ssh: with a key or an agent, and a known host)"
      );
    }
    // A program that hands its terminal on to another machine reads keys, not lines.
    if (reader !== null || modes?.lines === false) {
      const exec = EXEC_WORDS[tries++ % EXEC_WORDS.length];
      const become = ` ${exec} PS1='${promptMark}' ${bash} --noprofile --norc --noediting -i\n`;
      await pty.write(new TextEncoder().encode(become));
      if (await within(done, AGAIN_MS)) return null;
    }
    await pause(LOOK_MS);
  }
  return null;
}

/** What the far bash runs first: the environment that a shell here would start with, and the directory. */
export function farPrelude(
  env: Readonly<Record<string, string | undefined>>,
  cwd: string | undefined,
): string {
  const all = Object.entries({ ...FAR_VARIABLES, ...env });
  const unset = [
    ...FAR_UNSET,
    ...all.filter(([, value]) => value === undefined).map(([name]) => name),
  ];
  const set = all.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${word(value)}`],
  );
  return [
    `\\builtin unset -v ${unset.join(" ")} 2>/dev/null`,
    "\\builtin export -n PS1 PS4",
    "PS4='+ '",
    `[[ \${LC_ALL-}\${LC_CTYPE-}\${LANG-} ]] || \\builtin export LANG=C.UTF-8`,
    `\\builtin export ${set.join(" ")}`,
    cwd === undefined ? ":" : `\\builtin cd -- ${word(cwd)}`,
  ].join("\n");
}

function word(text: string): string {
  return `$'${escapeForAnsiC(text)}'`;
}

/** Signals that a terminal sends for a key. */
const KEY_OF_SIGNAL: Readonly<Partial<Record<SignalName, number>>> = {
  SIGINT: 0x03,
  SIGQUIT: 0x1c,
  SIGTSTP: 0x1a,
};

/**
 * The PTY of a far shell. The processes that are seen on its terminal are not those of the far side: nothing is known
 * of these, and a signal reaches them only as a key.
 */
export class FarPty implements Pty {
  readonly #pty: Pty;

  constructor(pty: Pty) {
    this.#pty = pty;
  }

  get exited(): Promise<PtyExit> {
    return this.#pty.exited;
  }

  write(bytes: Uint8Array, until?: AbortSignal): Promise<void> {
    return this.#pty.write(bytes, until);
  }

  resize(cols: number, rows: number): void {
    this.#pty.resize(cols, rows);
  }

  async signal(name: SignalName): Promise<boolean> {
    const key = KEY_OF_SIGNAL[name];
    if (key === undefined) return false;
    await this.#pty.write(Uint8Array.of(key));
    return true;
  }

  async inspect(): Promise<PtyState | null> {
    return null;
  }

  async reader(): Promise<TerminalReader | null> {
    return null;
  }

  async modes(): Promise<TerminalModes | null> {
    return null;
  }

  async repair(): Promise<void> {
    // The settings of the far terminal are out of reach.
  }

  close(): Promise<void> {
    return this.#pty.close();
  }
}
