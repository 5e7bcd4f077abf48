/** What the tools need of this machine, whose shells and terminals an entry opens. */

import { bubblewrap } from "./adapters/bubblewrap.ts";
import { localExecutor } from "./adapters/local-executor.ts";
import type { Entry } from "./entry.ts";
import type { Machine } from "./tools/index.ts";

export function machineOn({ openShell, openTerminal }: Entry): Machine {
  return {
    openShell,
    openTerminal,
    openExecutor: (options, sandbox) =>
      localExecutor(options, sandbox === null ? undefined : bubblewrap(sandbox)),
  };
}
