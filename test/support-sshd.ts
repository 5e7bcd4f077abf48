/** A server of OpenSSH on this machine, for shells that are reached through ssh: on a free port, with throw-away keys. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { until } from "./support.ts";

/** sshd starts itself anew for each connection, and wants its full path for that. */
const SSHD = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"].find(existsSync) ?? "sshd";

/** Where it keeps its unprivileged part; only root needs it, and in a fresh container it is missing. */
const PRIVILEGE_FOLDER = "/run/sshd";

/** What a backend has of its own. */
export interface SshBackend {
  /** Run over there instead of the user's shell. */
  readonly command?: string;
  /** Besides those that let ssh in without questions; the first value of an option counts. */
  readonly options?: readonly string[];
  /** Instead of the key that is let in. */
  readonly key?: string;
}

/** A running sshd. */
export class Sshd {
  readonly folder: string;
  readonly port: number;
  readonly #process: ChildProcess;

  private constructor(folder: string, port: number, process: ChildProcess) {
    this.folder = folder;
    this.port = port;
    this.#process = process;
  }

  /**
   * Resolves when it takes connections.
   *
   * @param env variables that it sets for each session, HOME among them if it is to be another
   */
  static async start(env: Readonly<Record<string, string>> = {}): Promise<Sshd> {
    const folder = mkdtempSync(join(tmpdir(), "evershell-sshd-"));
    for (const name of ["host", "user", "stranger"]) {
      execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, name)]);
    }
    copyFileSync(join(folder, "user.pub"), join(folder, "authorized"));
    chmodSync(join(folder, "authorized"), 0o600);
    if (process.getuid?.() === 0) mkdirSync(PRIVILEGE_FOLDER, { recursive: true, mode: 0o755 });
    const port = await freePort();
    const config = [
      `Port ${port}`,
      "ListenAddress 127.0.0.1",
      `HostKey ${folder}/host`,
      `AuthorizedKeysFile ${folder}/authorized`,
      `PidFile ${folder}/pid`,
      "PermitRootLogin prohibit-password",
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      "UsePAM no",
      "StrictModes no",
      "PrintMotd no",
      "MaxStartups 100",
      `SetEnv ${["FAR_SIDE=1", ...Object.entries(env).map(([name, value]) => `"${name}=${value}"`)].join(" ")}`,
    ];
    writeFileSync(join(folder, "config"), `${config.join("\n")}\n`);
    const log = join(folder, "log");
    writeFileSync(log, "");
    const started = spawn(SSHD, ["-D", "-f", join(folder, "config"), "-E", log], {
      stdio: "ignore",
    });
    const sshd = new Sshd(folder, port, started);
    try {
      await until("sshd takes connections", () => {
        if (started.exitCode !== null) throw new Error(`sshd ended: ${readFileSync(log, "utf8")}`);
        return answers(port);
      });
    } catch (error) {
      await sshd.stop();
      throw error;
    }
    return sshd;
  }

  /** The argv of a backend that leads to it. */
  backend({ command, options = [], key = "user" }: SshBackend = {}): [string, ...string[]] {
    const defaults = ["StrictHostKeyChecking=no", "LogLevel=ERROR"];
    const all = [...options, ...defaults, `UserKnownHostsFile=${this.folder}/known`];
    return [
      "ssh",
      // Neither the user's settings nor keys of an agent.
      ...["-F", "none", "-tt", "-i", join(this.folder, key)],
      ...[...all, "IdentitiesOnly=yes"].flatMap((option) => ["-o", option]),
      ...["-p", String(this.port), `${userInfo().username}@127.0.0.1`],
      ...(command === undefined ? [] : [command]),
    ];
  }

  /** Ends the server itself, and resolves when it has ended; sessions end with their shells. */
  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.#process.once("exit", resolve));
    if (this.#process.exitCode === null && this.#process.kill()) await gone;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A port of this machine that nobody listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("data", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
    socket.on("close", () => resolve(false));
  });
}
