/** What the tools need of this machine, on Node.js. */

import { bubblewrap } from "./adapters/bubblewrap.ts";
import { localExecutor } from "./adapters/local-executor.ts";
import { openShell, openTerminal } from "./node.ts";
import type { Machine } from "./tools/index.ts";

export const machine: Machine = {
  openShell,
  openTerminal,
  openExecutor: (options, sandbox) =>
    localExecutor(options, sandbox === null ? undefined : bubblewrap(sandbox)),
};
