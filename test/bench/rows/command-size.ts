/** Long commands: their time is to grow with their size and no faster. */

import { interleave, timed } from "../measure.ts";
import { type Benchmark, type Effort, ratioRow } from "../row.ts";
import { runWell, withShell } from "../shell.ts";

const ROUNDS: Readonly<Record<Effort, number>> = { quick: 3, full: 9 };
const ROUNDS_OF_8_MB: Readonly<Record<Effort, number>> = { quick: 1, full: 3 };

export const commandSize: Benchmark = {
  name: "command size",
  async measure(effort) {
    const medians = await withShell((shell) => {
      const run = (bytes: number) => () => timed(() => runWell(shell, hereDocument(bytes)));
      return interleave(ROUNDS[effort], {
        "100 KB": { measure: run(100_000) },
        "1 MB": { measure: run(1_000_000) },
        "8 MB": { measure: run(8_000_000), rounds: ROUNDS_OF_8_MB[effort] },
      });
    });
    const size = (name: keyof typeof medians) => [`command of ${name}`, medians[name]] as const;
    return [
      ratioRow("command size", size("1 MB"), size("100 KB"), 15),
      ratioRow("command size, 8 MB", size("8 MB"), size("1 MB")),
    ];
  },
};

/** A command of so many bytes, in lines of 64, that does nothing. */
function hereDocument(bytes: number): string {
  const [before, after] = [": <<'END'\n", "END"];
  const line = `${"the quick brown fox; ".repeat(3)}\n`;
  return before + line.repeat((bytes - before.length - after.length) / line.length) + after;
}
