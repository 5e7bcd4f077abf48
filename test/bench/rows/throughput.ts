/** Much output: the shell against a bare PTY whose output nobody looks at. */

import type { Shell } from "evershell";
import { type Floor, withFloor } from "../floors.ts";
import { type Contender, interleave, timed } from "../measure.ts";
import { type Benchmark, type Effort, type Row, ratioRow } from "../row.ts";
import { runWell, withShell } from "../shell.ts";

/** A command and how it is measured. */
interface Flood {
  readonly name: string;
  readonly command: Readonly<Record<Effort, string>>;
  readonly rounds: Readonly<Record<Effort, number>>;
  /** Rounds of the terminal with default settings, which is up to 20 times slower. */
  readonly defaultRounds: Readonly<Record<Effort, number>>;
  /** What the shell may take of the floor with its own settings, and with the default ones. */
  readonly targets: readonly [own: number, default_: number];
}

/** 6.9 MB in lines of 7 characters, from one process. */
export const seq: Benchmark = flood({
  name: "seq",
  command: { quick: "seq 1 1000000", full: "seq 1 1000000" },
  rounds: { quick: 9, full: 21 },
  defaultRounds: { quick: 3, full: 7 },
  targets: [1.3, 0.5],
});

/** 100 MB (50 MB if it is to be quick) in lines of one character, through a pipe. */
export const yes: Benchmark = flood({
  name: "yes",
  command: { quick: "yes | head -c 50000000", full: "yes | head -c 100000000" },
  rounds: { quick: 3, full: 7 },
  defaultRounds: { quick: 1, full: 3 },
  targets: [1.3, 0.5],
});

/** Output that is drawn over again and again, so that the screen has to be kept. */
export const progress: Benchmark = {
  name: "progress",
  async measure(effort) {
    const command = String.raw`for ((i = 1; i <= 10000; i++)); do printf '\r[%-40s] %5d of 10000' '=====' $i; done; echo`;
    const { kept, floor } = await withFloor("shell's", (raw) =>
      withShell((shell) =>
        interleave(effort === "quick" ? 5 : 15, contenders(shell, raw, command)),
      ),
    );
    return [
      ratioRow("progress", ["10000 updates of a painted progress bar", kept], ["raw PTY", floor]),
    ];
  },
};

function flood({ name, command: commands, rounds, defaultRounds, targets }: Flood): Benchmark {
  const measure = async (effort: Effort): Promise<Row[]> => {
    const command = commands[effort];
    const medians = await withFloor("shell's", (own) =>
      withFloor("default", (byDefault) =>
        withShell((shell) =>
          interleave(rounds[effort], {
            ...contenders(shell, own, command),
            byDefault: {
              measure: () => timed(() => byDefault.run(command)),
              rounds: defaultRounds[effort],
            },
          }),
        ),
      ),
    );
    const kept = [command, medians.kept] as const;
    return [
      ratioRow(name, kept, ["raw PTY, same settings", medians.floor], targets[0]),
      ratioRow(
        `${name}, default terminal`,
        kept,
        ["raw PTY, default settings", medians.byDefault],
        targets[1],
      ),
    ];
  };
  return { name, measure };
}

function contenders(
  shell: Shell,
  floor: Floor,
  command: string,
): Record<"kept" | "floor", Contender> {
  return {
    kept: { measure: () => timed(() => runWell(shell, command)) },
    floor: { measure: () => timed(() => floor.run(command)) },
  };
}
