/** What an entry of the tools is made of: those of `src/tools` with shells and terminals of this machine. */

import type { Entry } from "./entry.ts";
import { machineOn } from "./machine.ts";
import {
  createToolsOn,
  type PersistentTools,
  type PersistentToolsConfig,
  type Tools,
  type ToolsConfig,
} from "./tools/index.ts";

export { bubblewrap, type SandboxOptions } from "./adapters/bubblewrap.ts";
export { type Confinement, localExecutor } from "./adapters/local-executor.ts";
export * from "./tools/index.ts";

export interface CreateTools {
  /**
   * Makes the tools that a model sees.
   *
   * @example
   * ```ts
   * const tools = createTools();
   * const { text } = await tools.bash.execute({ command: "pwd" }, { owner: "agent-1" });
   * await tools.dispose();
   * ```
   *
   * @throws {EvershellError} `BAD_OPTION`, naming the key, the rule and the value received
   */
  (config?: PersistentToolsConfig): PersistentTools;
  (config?: ToolsConfig): Tools;
}

export function createToolsFor(entry: Entry): CreateTools {
  const machine = machineOn(entry);
  return (config?: ToolsConfig) => createToolsOn(machine, config) as PersistentTools;
}
