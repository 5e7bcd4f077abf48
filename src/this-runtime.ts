/** The entry of the runtime that this is. */

import { EvershellError } from "./core/errors.ts";
import type { Entry } from "./entry.ts";

/** @throws {EvershellError} `UNSUPPORTED` where there is none */
export async function thisRuntime(): Promise<Entry> {
  // The others tell a version of Node.js too.
  const { bun, deno, node } = process.versions;
  if (bun !== undefined) return import("./bun.ts");
  if (deno !== undefined) return import("./deno.ts");
  if (node !== undefined) return import("./node.ts");
  throw new EvershellError("UNSUPPORTED", "evershell runs on Node.js, Bun and Deno");
}
