/** evershell on Bun: the core joined to its terminals. */

import { openPty } from "./adapters/bun.ts";
import { type Entry, entryOn } from "./entry.ts";

export * from "./core/index.ts";

const entry: Entry = entryOn(openPty);

/** See {@link Entry.openShell}. */
export const openShell: Entry["openShell"] = entry.openShell;

/** See {@link Entry.openTerminal}. */
export const openTerminal: Entry["openTerminal"] = entry.openTerminal;
