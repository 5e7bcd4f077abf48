/** evershell on Deno: the core joined to terminals of the C library. */

import { openPty } from "./adapters/deno.ts";
import { type Entry, entryOn } from "./entry.ts";

export * from "./core/index.ts";

const entry: Entry = entryOn(openPty);

/** See {@link Entry.openShell}. */
export const openShell: Entry["openShell"] = entry.openShell;

/** See {@link Entry.openTerminal}. */
export const openTerminal: Entry["openTerminal"] = entry.openTerminal;
