/** A host that runs a command with very much output; prints a `HostMemory` as JSON. */

import type { HostMemory } from "../rows/memory.ts";
import { runWell, withShell } from "../shell.ts";
import { settledMemory } from "./settled.ts";

const SAMPLE_MS = 5;

await withShell(async (shell) => {
  await runWell(shell, "yes | head -c 100000000");
  const before = await settledMemory();
  let after = before;
  const sampling = setInterval(() => {
    after = Math.max(after, process.memoryUsage.rss());
  }, SAMPLE_MS);
  await runWell(shell, "yes | head -c 1000000000");
  clearInterval(sampling);
  const memory: HostMemory = { before, after: Math.max(after, process.memoryUsage.rss()) };
  process.stdout.write(JSON.stringify(memory));
});
