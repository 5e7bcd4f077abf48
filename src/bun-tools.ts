/** The tools on Bun. */

import * as entry from "./bun.ts";
import { type CreateTools, createToolsFor } from "./tools-entry.ts";

export * from "./tools-entry.ts";

/** See {@link CreateTools}. */
export const createTools: CreateTools = createToolsFor(entry);
