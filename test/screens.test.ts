/**
 * Full-screen programs look as in any terminal. Our PTY runs without the kernel's output processing and our
 * screen makes up for it; the reference has an ordinary PTY and an ordinary screen.
 */

import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { keyBytes } from "../src/core/keys.ts";
import { openShell, type Shell } from "../src/node.ts";
import { environment, eventually, ReferenceTerminal, temporaryFolder } from "./reference.ts";

const SIZE = { cols: 80, rows: 24 };

/** Keys, then what the screen shows once the program has taken them. */
interface Step {
  readonly keys: readonly string[];
  readonly shows: RegExp;
}

interface Program {
  readonly name: string;
  readonly command: string;
  readonly steps: readonly Step[];
  /** Keys that end the program. */
  readonly quit: readonly string[];
  /** Hides what is another at each moment or for each process. */
  readonly mask?: (row: string) => string;
}

const typed = (text: string): string[] => [...text];

const programs: readonly Program[] = [
  {
    name: "vim",
    command: "vim -u NONE -N -n text",
    steps: [
      { keys: [], shows: /^line 1 [\s\S]*"text"/ },
      { keys: ["Down", "Down", ...typed("iNEW ä漢 "), "Escape"], shows: /NEW ä漢 line 3/ },
      { keys: [...typed(":set number"), "Enter"], shows: /^ +1 line 1/ },
      { keys: [...typed("G"), "PageUp", ...typed("dd")], shows: /line 9/ },
      { keys: [...typed(":split other"), "Enter"], shows: /other[\s\S]*text/ },
    ],
    quit: [...typed(":qa!"), "Enter"],
  },
  {
    name: "less",
    command: "less text",
    steps: [
      { keys: [], shows: /^line 1 / },
      { keys: ["Space"], shows: /line 30 / },
      { keys: [...typed("/line 77"), "Enter"], shows: /^line 77 / },
      { keys: ["Up", "Up", "Up"], shows: /^x+\nline 76 / },
      { keys: ["G"], shows: /line 200 [\s\S]*\(END\)/ },
      { keys: [...typed("-S"), "Enter", "g"], shows: /^line 1 / },
    ],
    quit: ["q"],
  },
  {
    name: "less on a terminal that it leaves as it is",
    command: "less -X text",
    steps: [
      { keys: [], shows: /^line 1 / },
      { keys: ["Space", "b"], shows: /^line 1 / },
      { keys: ["Down"], shows: /^line 2 / },
    ],
    quit: ["q"],
  },
  {
    name: "top",
    command: "top -d 100 -p 1",
    steps: [{ keys: [], shows: /PID USER[^\n]*\n root / }],
    quit: ["q"],
    mask: (row) =>
      row
        .replace(/[\d.,:]+/g, " ")
        .replace(/ +/g, " ")
        .replace(/ [RSDIZ] /, " S "),
  },
  {
    name: "nano",
    command: "nano -I text",
    steps: [
      { keys: [], shows: /GNU nano[\s\S]*line 1 [\s\S]*\^X/ },
      { keys: ["Down", ...typed("NEW\tä "), "Enter"], shows: /NEW +ä/ },
      { keys: ["C-w", ...typed("line 50"), "Enter"], shows: /line 50 / },
      { keys: ["C-x"], shows: /Save modified/ },
    ],
    quit: ["n"],
  },
  {
    name: "man",
    command: "man -l page.1",
    steps: [
      { keys: [], shows: /PAGE\(1\)[\s\S]*NAME[\s\S]*page/ },
      { keys: ["Space"], shows: /Paragraph 1\d/ },
    ],
    quit: ["q"],
  },
  {
    name: "a curses program",
    command: "python3 boxes.py",
    steps: [
      { keys: [], shows: /┌─[\s\S]*at 5,10/ },
      { keys: ["Down", "Down", "Right", "Up"], shows: /at 6,11/ },
    ],
    quit: ["q"],
  },
  {
    name: "the REPL of python",
    command: "python3 -q",
    steps: [
      { keys: [], shows: /^>>> *$/m },
      { keys: [...typed("1 + 41"), "Enter"], shows: /^42\n>>>/m },
      { keys: [...typed("for i in range(3): print(i)"), "Enter", "Enter"], shows: /^2\n>>>/m },
      { keys: ["Up", "C-a", ...typed("x = 1; "), "C-e", "Left"], shows: /x = 1; for/ },
      { keys: ["C-c"], shows: /KeyboardInterrupt\n>>>/ },
      { keys: [...typed("1/0"), "Enter"], shows: /ZeroDivisionError[\s\S]*>>>/ },
    ],
    quit: ["C-d"],
  },
  {
    name: "a bash in the bash",
    command: "PS1='inner \\w> ' bash --noprofile --norc -i",
    steps: [
      { keys: [], shows: /^inner/m },
      { keys: [...typed("seq 1 40"), "Enter"], shows: /^40\ninner/m },
      { keys: ["Up", "C-a", ...typed("echo "), "Left", "Left"], shows: /echo seq 1 40/ },
      { keys: ["Enter", ...typed("ls te"), "Tab", "Enter"], shows: /^text\ninner/m },
      { keys: ["C-r", ...typed("seq")], shows: /reverse-i-search/ },
      { keys: ["C-g", "C-l"], shows: /^inner/ },
      { keys: [...typed(`echo ${"long ".repeat(30)}`)], shows: /^inner.*long[\s\S]*long/ },
    ],
    quit: ["C-a", "C-k", ...typed("exit"), "Enter"],
  },
  {
    name: "tmux",
    command: "tmux -L test -f tmux.conf",
    steps: [
      { keys: [], shows: /^pane>[\s\S]*status/ },
      { keys: [...typed("seq 1 30"), "Enter"], shows: /^30\npane>/m },
      { keys: ["C-b", "%"], shows: /│pane>/ },
      { keys: ["C-b", '"'], shows: /│pane>[\s\S]*├─[\s\S]*│pane>/ },
      { keys: [...typed("echo third"), "Enter"], shows: /third[\s\S]*third/ },
      { keys: ["C-b", "Left", ...typed("echo first"), "Enter"], shows: /^first/m },
    ],
    quit: ["C-b", "d"],
  },
];

describe.concurrent("on the screen of a shell", () => {
  test.each(programs)("$name looks as in a terminal", async (program) => {
    using folder = temporaryFolder();
    prepare(folder.path, "ours");
    prepare(folder.path, "reference");
    const ours = `${folder.path}/ours`;
    const reference = `${folder.path}/reference`;
    await using shell = await openShell({ ...SIZE, cwd: ours, env: variables(ours) });
    await shell.run(program.command, { waitMs: 1 });
    using terminal = new ReferenceTerminal(program.command, {
      ...SIZE,
      cwd: reference,
      env: variables(reference),
    });
    for (const { keys, shows } of program.steps) {
      await type(shell, terminal, keys);
      await sameScreens(shell, terminal, program, shows);
    }
    await type(shell, terminal, program.quit);
    const { end } = await shell.wait({ waitMs: 10_000 });
    expect(end).toEqual({ kind: "finished", exitCode: 0 });
    await eventually(
      () => terminal.ended || undefined,
      () => "the end of the reference",
    );
    await sameScreens(shell, terminal, program, /^/);
  });
});

/** The two must come to show the same, and what is expected of both. */
async function sameScreens(
  shell: Shell,
  terminal: ReferenceTerminal,
  { mask }: Program,
  shows: RegExp,
): Promise<void> {
  const look = (): { ours: string; reference: string } => {
    const [ours, reference] = [shell.screen().lines, terminal.rows() ?? []].map((rows) =>
      rows.map(mask ?? ((row) => row)).join("\n"),
    );
    return { ours: ours as string, reference: reference as string };
  };
  await eventually(
    () => {
      const { ours, reference } = look();
      return (ours === reference && shows.test(ours)) || undefined;
    },
    () => "",
    8_000,
  ).catch(() => {
    const { ours, reference } = look();
    expect(ours).toBe(reference);
    expect(ours).toMatch(shows);
  });
}

async function type(
  shell: Shell,
  terminal: ReferenceTerminal,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return;
  await shell.write({ keys });
  terminal.type(keys.map((key) => keyBytes(key, terminal.applicationCursorKeys)).join(""));
}

function variables(home: string): Record<string, string> {
  return {
    ...environment,
    HOME: home,
    MANPAGER: "less",
    MANROFFOPT: "",
    TMUX_TMPDIR: home,
    LESSHISTFILE: "-",
    PYTHONSTARTUP: "",
    LC_ALL: "C.UTF-8",
  };
}

/** The same files for both sides. */
function prepare(folder: string, side: string): void {
  const at = (name: string): string => `${folder}/${side}/${name}`;
  mkdirSync(`${folder}/${side}`);
  const lines = Array.from(
    { length: 200 },
    (_, i) => `line ${i + 1} \twith a tab, ä€漢字 ${"x".repeat(i)}`,
  );
  writeFileSync(at("text"), `${lines.join("\n")}\n`);
  writeFileSync(
    at("tmux.conf"),
    'set -g status-right ""\nset -g status-left "status"\nset -g destroy-unattached on\nset -g assume-paste-time 0\n' +
      'set -g window-status-format ""\nset -g window-status-current-format ""\n' +
      `set -g default-command "PS1='pane> ' bash --noprofile --norc"\n`,
  );
  const paragraphs = Array.from({ length: 40 }, (_, i) => `.PP\n.B Paragraph\n${i} of the page`);
  writeFileSync(at("page.1"), `.TH PAGE 1\n.SH NAME\npage \\- a page\n${paragraphs.join("\n")}\n`);
  copyFileSync("test/programs/boxes.py", at("boxes.py"));
}
