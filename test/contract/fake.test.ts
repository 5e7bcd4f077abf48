import { describe, expect, test } from "vitest";
import type { PtyRequest } from "../../src/core/pty.ts";
import { type FakeProgram, type FakePty, fakePtys } from "./fake-pty.ts";
import { describePty, scripts } from "./pty-contract.ts";

/** The programs of the contract, acted out. */
const programs: Record<string, FakeProgram> = {
  [scripts.count]: (pty) => {
    const lines = Array.from({ length: 30_000 }, (_, index) => `${index + 1}\r\n`);
    pty.play(lines.join(""), 4_095);
    pty.end({ exitCode: 3 });
  },
  [scripts.killed]: (pty) => {
    pty.play("before\r\n", 1);
    pty.end({ signal: "SIGKILL" });
  },
  [scripts.echo]: (pty) => {
    pty.play("ready\r\n");
    pty.onWrite = (text) => pty.play(text.replaceAll("\n", "\r\n"));
  },
  [scripts.wait]: (pty) => pty.play("ready\r\n"),
};

const { openPty } = fakePtys((pty) => programs[pty.request.argv[2] ?? ""]?.(pty));

describePty("a script", openPty, { realProcesses: false });

describe("a scripted PTY", () => {
  const open = async (
    request: Partial<PtyRequest> = {},
  ): Promise<{ pty: FakePty; pieces: string[] }> => {
    const pieces: string[] = [];
    const fakes = fakePtys();
    await fakes.openPty({
      argv: ["sh"],
      cwd: "/",
      env: {},
      cols: 80,
      rows: 24,
      tag: "no-such-tag",
      keepDetached: false,
      onData: (bytes) => void pieces.push(new TextDecoder().decode(bytes)),
      ...request,
    });
    return { pty: fakes.opened[0] as FakePty, pieces };
  };

  test("splits its output where the test says", async () => {
    const { pty, pieces } = await open();
    pty.play("abcdef", [1, 4]);
    pty.play("ghijk", 2);
    pty.play("l");
    await pty.delivered();
    expect(pieces).toEqual(["a", "bcd", "ef", "gh", "ij", "k", "l"]);
  });

  test("keeps what is written while its input is held, and takes it afterwards", async () => {
    const { pty } = await open();
    pty.holdInput();
    let taken = false;
    const write = pty.write(new TextEncoder().encode("text")).then(() => {
      taken = true;
    });
    await pty.inspect();
    expect({ taken, text: pty.writtenText }).toEqual({ taken: false, text: "" });
    pty.releaseInput();
    await write;
    expect(pty.writtenText).toBe("text");
  });

  test("refuses held writes beyond 16 MiB, and all when it ends", async () => {
    const { pty } = await open();
    pty.holdInput();
    const held = pty.write(new Uint8Array(2 ** 24));
    await expect(pty.write(new Uint8Array(1))).rejects.toMatchObject({ code: "BUSY" });
    pty.end({ exitCode: 0 });
    await expect(held).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("drops of its held writes those that are aborted, and makes room for others", async () => {
    const { pty } = await open();
    pty.holdInput();
    const first = pty.write(new TextEncoder().encode("first "));
    const until = new AbortController();
    const long = pty.write(new Uint8Array(2 ** 24 - 6), until.signal);
    const last = new TextEncoder().encode("last");
    await expect(pty.write(last)).rejects.toMatchObject({ code: "BUSY" });
    until.abort();
    await expect(long).rejects.toMatchObject({ code: "NOT_RUNNING" });
    const written = pty.write(last);
    pty.releaseInput();
    await Promise.all([first, written]);
    expect(pty.writtenText).toBe("first last");
  });

  test("records sizes and signals until its end", async () => {
    const { pty } = await open();
    pty.resize(100, 30);
    await pty.signal("SIGINT");
    await pty.close();
    pty.resize(101, 31);
    await pty.signal("SIGTERM");
    expect({ sizes: pty.sizes, signals: pty.signals }).toEqual({
      sizes: [
        [80, 24],
        [100, 30],
      ],
      signals: ["SIGINT"],
    });
  });
});
