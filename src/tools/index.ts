/** The tools that a model sees, and the owners whose shells they use. A composition root gives them a backend. */

import { type Backend, Backends } from "./backends.ts";
import { BashTool } from "./bash.ts";
import type { BashValue } from "./bash-value.ts";
import { resolveToolsConfig, type ToolsConfig } from "./config.ts";
import { Owners } from "./owners.ts";
import { terminalTools } from "./terminals.ts";
import type { Owner, Tool } from "./tool.ts";

export type { Backend, ProgramBackend } from "./backends.ts";
export { bashText } from "./bash-text.ts";
export type { BashRun, BashValue } from "./bash-value.ts";
export type { Card, GenericCard, TerminalCard } from "./cards.ts";
export type { ToolsConfig } from "./config.ts";
export type {
  ObjectSchema,
  Owner,
  Tool,
  ToolContext,
  ToolFailure,
  ToolResult,
} from "./tool.ts";

/** A set of tools that share their owners. */
export interface Tools extends AsyncDisposable {
  /** The persistent bash. */
  readonly bash: Tool<BashValue>;
  /** All of them: `bash`, and the six `terminal_…` for interactive work. */
  readonly all: readonly Tool[];
  /** Ends all that belongs to an owner, with everything that was started there. */
  disposeOwner(owner: Owner): Promise<void>;
  /** The same for every owner, for good. */
  dispose(): Promise<void>;
}

/**
 * Makes the tools.
 *
 * @param local opens shells and terminals on this machine
 * @throws {EvershellError} `BAD_OPTION`, naming the key, the rule and the value received
 */
export function createToolsOn(local: Backend, config: ToolsConfig = {}): Tools {
  const resolved = resolveToolsConfig(config);
  const owners = new Owners();
  const backends = new Backends(local, resolved.backends);
  const bash = new BashTool(owners, backends, resolved);
  return {
    bash,
    all: [bash, ...terminalTools(owners, backends, resolved)],
    disposeOwner: (owner) => owners.dispose(owner),
    dispose: () => owners.close(),
    [Symbol.asyncDispose]: () => owners.close(),
  };
}
