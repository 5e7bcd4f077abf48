/**
 * A shell of ours does what a bare interactive bash does: the same lines give the same text and the same `$?`.
 *
 * The programs stand in `programs/differential`: `=== title`, then lines that are each run alone; a line that
 * begins with `| ` belongs to the line above it.
 */

import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openShell, type RunResult } from "../src/node.ts";
import { BareBash, environment, type LineResult, temporaryFolder } from "./reference.ts";

const FOLDER = "test/programs/differential";

interface Program {
  readonly title: string;
  readonly lines: readonly string[];
}

/** What both shells are compared by. */
interface Outcome {
  readonly steps: readonly { line: string; text: string; exitCode: number | null }[];
  /** How many lines were run until the shell ended; null if it lives. */
  readonly endedAt: number | null;
  /** Notices about jobs, in order, wherever they were printed. */
  readonly notices: readonly string[];
}

/** What has to differ between the two, and why. Everything else has to be equal. */
const NORMALISATIONS: readonly { why: string; apply: (text: string) => string }[] = [
  {
    why: "each shell has its own process ids: `[1] 1234`, and `bash: line 1: 1234 Killed`",
    apply: (text) =>
      text
        .replace(/^(\[\d+\][-+]?) +\d+$/gm, "$1 PID")
        .replace(/^(bash: .*?)\b\d{2,} (?=[A-Z])/gm, "$1PID "),
  },
  {
    why: "our text runs inside an eval, which error messages name, with a line number",
    apply: (text) => text.replace(/^bash: (?:eval: )?line \d+: /gm, "bash: "),
  },
  {
    why: "after a syntax error bash repeats the line if it was not read from a terminal",
    apply: (text) => text.replace(/^(bash: .*syntax error.*\n)bash: `.*'\n?/gm, "$1"),
  },
];

/** Ours only: `set -x` repeats the first character of PS4 once for each eval around a command. */
const oneEvalLess = (text: string): string => text.replace(/^([+]|t(?=tra)|-(?=- ))(?=\1)/gm, "");

/** Bare bash only: told to end, it prints `exit`, which no command asked for. */
const withoutExit = (text: string): string => text.replace(/^exit\n/m, "");

/**
 * Bare bash prints a notice before the prompt; ours comes in `background` of the next result. So lines of
 * this form (those of `jobs` are among them) are compared apart, by their order in the whole program. Where
 * a program calls `wait`, bash itself prints the end of a job or not, as time has it: there ends are left out.
 */
const NOTICE = /(?:^\n)?^\[\d+\][-+ ] +[A-Z].*\n?/gm;

/** A notice about a job that has not ended. */
const LIVES = /^\S+ +(?:Running|Stopped)/;

const programs = readdirSync(FOLDER).flatMap((file) => read(`${FOLDER}/${file}`));

describe.concurrent.each(readdirSync(FOLDER).sort())("as in bare bash: %s", (file) => {
  test.each(read(`${FOLDER}/${file}`))("$title", async (program) => {
    using folder = temporaryFolder();
    const cwd = `${folder.path}/work`;
    mkdirSync(cwd);
    const expected = await runBare(program, cwd);
    rmSync(cwd, { recursive: true });
    mkdirSync(cwd);
    expect(await runOurs(program, cwd)).toEqual(expected);
  });
});

test.each(["cat <<END", "echo 'open", "echo \\", "while read -r x; do", "echo $((", "if true"])(
  "an alias for the incomplete %j brings nothing of ours into its command",
  async (text) => {
    await using shell = await openShell();
    await shell.run(`alias incomplete=${quoted(text)}`);
    const { output, end } = await shell.run("incomplete");
    expect(output).not.toMatch(/__evsh|\/dev\/null|token `\{|token `\}/);
    expect(end).toMatchObject({ kind: "finished" });
    expect((await shell.run("echo next")).output).toBe("next");
  },
);

test("there are more than a hundred programs, each with a title of its own", () => {
  expect(programs.length).toBeGreaterThan(100);
  expect(new Set(programs.map(({ title }) => title)).size).toBe(programs.length);
});

test("a difference between the shells would be seen", async () => {
  using folder = temporaryFolder();
  const program = { title: "differs", lines: ["echo $BASHPID >&2", "echo same"] };
  const expected = await runBare(program, folder.path);
  const actual = await runOurs(program, folder.path);
  expect(actual.steps[0]).not.toEqual(expected.steps[0]);
  expect(actual.steps[1]).toEqual(expected.steps[1]);
});

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function read(path: string): Program[] {
  const [, ...blocks] = readFileSync(path, "utf8").split(/^=== /m);
  return blocks.map((block) => {
    const [title = "", ...lines] = block.trimEnd().replaceAll("\n| ", "\0").split("\n");
    return { title, lines: lines.map((line) => line.replaceAll("\0", "\n")) };
  });
}

async function runBare({ lines }: Program, cwd: string): Promise<Outcome> {
  using shell = await BareBash.open(cwd);
  const results: LineResult[] = [];
  for (const line of lines) {
    const result = await shell.run(line);
    results.push(result);
    if (result.exited) break;
  }
  const last = results.at(-1);
  const texts = results.map(({ text, exited }) => (exited ? withoutExit(text) : text));
  // The prompt after one more line brings the notices that ours has in `background`.
  if (last?.exited === false) texts.push((await shell.run(":")).text);
  return outcome(
    lines,
    texts,
    results.map(({ exitCode }) => exitCode),
    last?.exited === true,
  );
}

async function runOurs({ lines }: Program, cwd: string): Promise<Outcome> {
  await using shell = await openShell({ cwd, env: { ...unset(), ...environment } });
  const results: RunResult[] = [];
  for (const line of lines) {
    const result = await shell.run(line, { timeoutMs: 10_000 });
    results.push(result);
    if (result.end.kind === "shellExited") break;
  }
  const ended = results.at(-1)?.end.kind === "shellExited";
  if (!ended) results.push(await shell.run(":"));
  const texts = results.map(
    ({ background, output }) => withNewline(background) + withNewline(oneEvalLess(output)),
  );
  const codes = results.slice(0, lines.length).map(exitCodeOf);
  return outcome(lines, texts, codes, ended);
}

/** A result has lost one newline; an empty one may have had none. */
const withNewline = (text: string): string => (text === "" ? "" : `${text}\n`);

/** Removes what vitest adds to the environment of its workers and the reference has not. */
function unset(): Record<string, undefined> {
  const names = Object.keys(process.env).filter((name) => !(name in environment));
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

function exitCodeOf({ end }: RunResult): number | null {
  if (end.kind === "finished" || end.kind === "interrupted" || end.kind === "shellExited")
    return end.exitCode;
  throw new Error(`a line of a program ended as ${end.kind}`);
}

function outcome(
  lines: readonly string[],
  texts: readonly string[],
  exitCodes: readonly (number | null)[],
  ended: boolean,
): Outcome {
  const normal = texts.map((text) =>
    NORMALISATIONS.reduce((normalised, { apply }) => apply(normalised), text),
  );
  const waits = lines.some((line) => /\bwait\b/.test(line));
  const notices = normal
    .flatMap((text) => text.match(NOTICE) ?? [])
    .map((line) => line.trim())
    .filter((line) => !waits || LIVES.test(line));
  const rest = normal.map((text) => text.replace(NOTICE, "").replace(/\n$/, ""));
  return {
    steps: exitCodes.map((exitCode, i) => ({
      line: lines[i] as string,
      text: rest[i] as string,
      exitCode,
    })),
    endedAt: ended ? exitCodes.length : null,
    notices,
  };
}
