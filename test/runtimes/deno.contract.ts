/** The contract on Deno, in which Vitest runs it: `deno task test`. */

import { openPty } from "../../src/adapters/deno.ts";
import { describePty } from "../contract/pty-contract.ts";

describePty("Deno", openPty, { realProcesses: true, node: process.env.NODE ?? "node" });
