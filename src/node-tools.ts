/** The tools on Node.js: those of `src/tools` with shells and terminals of this machine. */

import { machine } from "./node-machine.ts";
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
export function createTools(config?: PersistentToolsConfig): PersistentTools;
export function createTools(config?: ToolsConfig): Tools;
export function createTools(config: ToolsConfig = {}): Tools {
  return createToolsOn(machine, config);
}
