import { openPty } from "../../src/adapters/node.ts";
import { describePty } from "./pty-contract.ts";

describePty("Node.js", openPty, { realProcesses: true });
