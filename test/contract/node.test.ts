import { afterEach, describe, expect, test } from "vitest";
import { openPty } from "../../src/adapters/node.ts";
import type { Pty, TerminalReader } from "../../src/core/pty.ts";
import { ASK_PASSWORD, describePty, until } from "./pty-contract.ts";

describePty("Node.js", openPty, { realProcesses: true, node: process.execPath });

const ORDINARY_USER = 65_534;

// Without the rights of root, the tests of the contract are those of an ordinary user.
describe.runIf(process.getuid?.() === 0)("a PTY of Node.js of an ordinary user", () => {
  let pty: Pty;

  /** Starts a script as root on a terminal that is the user's, and waits for output. */
  const start = async (script: string, wanted: RegExp): Promise<void> => {
    const pieces: Uint8Array[] = [];
    pty = await openPty({
      argv: ["sh", "-c", `chown ${ORDINARY_USER} "$(tty)"; ${script}`],
      cwd: "/",
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C.UTF-8" },
      cols: 80,
      rows: 24,
      tag: "no-such-tag",
      keepDetached: false,
      onData: (bytes) => void pieces.push(bytes),
    });
    await until(() => wanted.test(Buffer.concat(pieces).toString()), "output");
  };

  const reader = async (): Promise<TerminalReader | null> => {
    process.seteuid?.(ORDINARY_USER);
    try {
      return await pty.reader();
    } finally {
      process.seteuid?.(0);
    }
  };

  afterEach(() => pty.close());

  test("has a reader where a program with more rights asks for a password", async () => {
    await start(ASK_PASSWORD, /password:/i);
    await until(async () => (await reader()) !== null, "a reader").catch(() => undefined);
    const first = await reader();
    expect(first).toMatchObject({ program: "su", wait: "password" });
    expect(await reader()).toEqual(first);
  });

  test.each([
    ["input is shown", "true"],
    ["keys are read", "stty raw -echo"],
  ])("has none in a program with more rights where %s", async (_, setting) => {
    await start(`${setting}; echo ready; exec cat`, /ready/);
    for (let looks = 0; looks < 20; looks++) expect(await reader()).toBeNull();
    await until(async () => (await pty.reader()) !== null, "a reader for root");
  });
});
