/** A short tour: real commands in one shell, and what comes of them. */

import type { RunOptions, RunResult, Shell } from "../core/index.ts";

interface Stop {
  readonly title: string;
  readonly commands: readonly string[];
  readonly options?: RunOptions;
  /** Typed into the last command while it waits. */
  readonly input?: string;
}

const STOPS: readonly Stop[] = [
  {
    title: "State stays: directory, variables, functions",
    commands: [
      "cd /tmp && export GREETING=hello",
      'greet() { echo "$GREETING from $PWD"; }',
      "greet",
    ],
  },
  {
    title: "Exit codes are exact, and $? is carried on",
    commands: ["(exit 3)", "echo $?"],
  },
  {
    title: "Any text arrives as it is: here-documents, quotes, comments",
    commands: ["cat <<'EOF'\nit's $x `y` \\n \"z\"\nEOF", 'echo "abc'],
  },
  {
    title: "What was painted comes as a person would see it",
    commands: [
      "for i in 20 40 60 80 100; do printf '\\rprogress: %3d%%' $i; sleep 0.05; done; echo",
    ],
  },
  {
    title: "Long output is clipped, counted, and kept complete in a file",
    commands: ["seq 1 200000"],
    options: { maxOutputChars: 60, keep: "both" },
  },
  {
    title: "A program that waits is left running; it can be answered",
    commands: ['read -p "Your name? " name; echo "Hello, $name"'],
    options: { waitMs: 300 },
    input: "Ada\n",
  },
  {
    title: "The end of the shell itself is told, and the next command gets a fresh one",
    commands: ["exit 7", "echo back in $PWD"],
  },
];

/** Goes through the stops and tells of each. */
export async function takeTour(shell: Shell, say: (text: string) => Promise<void>): Promise<void> {
  for (const { title, commands, options, input } of STOPS) {
    await say(`\n# ${title}\n`);
    for (const command of commands) {
      await say(`$ ${command.replaceAll("\n", "\n> ")}\n`);
      await say(describe(await shell.run(command, options)));
    }
    if (input === undefined) continue;
    await shell.write(input);
    await say(`< ${input}`);
    await say(describe(await shell.wait()));
  }
}

function describe({ output, end, clip, durationMs }: RunResult): string {
  const { kind, ...facts } = end;
  const how = [kind, ...Object.entries(facts).map(([name, value]) => `${name} ${value}`)].join(
    ", ",
  );
  const clipped =
    clip === null
      ? ""
      : `  [${clip.shownChars} of ${clip.totalChars} characters; all of them: ${clip.spillPath}]\n`;
  const text = output === "" ? "" : `${output}\n`;
  return `${text}${clipped}  [${how}; ${durationMs.toFixed(1)} ms]\n`;
}
