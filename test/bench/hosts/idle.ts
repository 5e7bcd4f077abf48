/**
 * A host with many shells that have nothing to do: `idle.js COMMAND`, which each of them has run. Prints a
 * `HostMemory` as JSON.
 */

import { openShell, type Shell } from "evershell";
import type { HostMemory } from "../rows/memory.ts";
import { runWell } from "../shell.ts";
import { settledMemory } from "./settled.ts";

const OPENED_AT_ONCE = 10;
const [command = "true"] = process.argv.slice(2);

async function openUsed(): Promise<Shell> {
  const shell = await openShell();
  await runWell(shell, command);
  return shell;
}

const shells = [await openUsed()];
const before = await settledMemory();
while (shells.length < 101)
  shells.push(...(await Promise.all(Array.from({ length: OPENED_AT_ONCE }, openUsed))));
const memory: HostMemory = { before, after: await settledMemory() };
await Promise.all(shells.map((shell) => shell.close()));
process.stdout.write(JSON.stringify(memory));
