/** Short commands: what one costs in a kept shell, against a process for each. */

import { openShell } from "evershell";
import { spawnToClose } from "../floors.ts";
import { interleave, medianOfBlock, timed } from "../measure.ts";
import { type Benchmark, type Effort, type Row, ratioRow } from "../row.ts";
import { runWell, withShell } from "../shell.ts";

/** Commands that follow each other before the other contender's turn. */
const BLOCK = 50;
/** Commands before the first block: so many it takes until the engine has compiled the path of one. */
const WARM_UP = 2_000;
const ROUNDS: Readonly<Record<Effort, number>> = { quick: 10, full: 30 };

/** A builtin in a kept shell, against a bash for each. */
export const trueBuiltin: Benchmark = {
  name: "true",
  measure: (effort) =>
    against(
      effort,
      "true",
      () => spawnToClose("bash", ["-c", "true"]),
      "spawn of bash -c true",
      0.12,
    ),
};

/** A program in a kept shell, against spawning it directly. */
export const trueProgram: Benchmark = {
  name: "/bin/true",
  measure: (effort) =>
    against(effort, "/bin/true", () => spawnToClose("/bin/true"), "spawn of /bin/true", null),
};

/** From nothing to the first result, against a bash for one command. */
export const opening: Benchmark = {
  name: "open",
  async measure(effort) {
    const { open, spawned } = await interleave(ROUNDS[effort], {
      open: { measure: openToFirstResult },
      spawned: { measure: () => timed(() => spawnToClose("bash", ["-c", "true"])) },
    });
    return [
      ratioRow("open", ["openShell to the first result", open], ["spawn of bash -c true", spawned]),
    ];
  },
};

async function against(
  effort: Effort,
  command: string,
  spawn: () => Promise<void>,
  spawnLabel: string,
  target: number | null,
): Promise<Row[]> {
  const { kept, spawned } = await withShell(async (shell) => {
    for (let i = 0; i < WARM_UP; i++) await runWell(shell, command);
    return interleave(ROUNDS[effort], {
      kept: { measure: () => medianOfBlock(BLOCK, () => runWell(shell, command)) },
      spawned: { measure: () => medianOfBlock(BLOCK, spawn) },
    });
  });
  return [ratioRow(command, [`${command} in a kept shell`, kept], [spawnLabel, spawned], target)];
}

/** Milliseconds; closing is off the clock. */
async function openToFirstResult(): Promise<number> {
  const start = performance.now();
  const shell = await openShell();
  try {
    await runWell(shell, "true");
    return performance.now() - start;
  } finally {
    await shell.close();
  }
}
