/** The tools on Node.js. */

import * as entry from "./node.ts";
import { type CreateTools, createToolsFor } from "./tools-entry.ts";

export * from "./tools-entry.ts";

/** See {@link CreateTools}. */
export const createTools: CreateTools = createToolsFor(entry);
