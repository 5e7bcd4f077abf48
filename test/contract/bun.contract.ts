/** The contract on Bun, whose own test runner runs it. */

import { openPty } from "../../src/adapters/bun.ts";
import { describePty } from "./pty-contract.ts";

describePty("Bun", openPty, { realProcesses: true, node: process.env.NODE ?? "node" });
