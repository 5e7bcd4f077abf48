/** The tools on Deno. */

import * as entry from "./deno.ts";
import { type CreateTools, createToolsFor } from "./tools-entry.ts";

export * from "./tools-entry.ts";

/** See {@link CreateTools}. */
export const createTools: CreateTools = createToolsFor(entry);
