/** Confinement by bubblewrap: a read-only system, one writable folder, and no network. */

import { execFile } from "node:child_process";
import { readdirSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { EvershellError } from "../core/errors.ts";
import type { BashOutcome } from "../core/executor.ts";
import type { Confinement } from "./local-executor.ts";
import { resolveCwd } from "./node-files.ts";

export interface SandboxOptions {
  /** The folder that commands may write to. Default: the host's working directory. */
  readonly workspace?: string;
  /** Whether commands reach the network. Default false. */
  readonly network?: boolean;
}

/** Writable, and gone with the command: bubblewrap makes a /dev of its own. */
const TEMPORARY = "/dev/shm";

/** Starting and ending a namespace takes some 10 ms. */
const PROBE_LIMIT_MS = 10_000;

/** What programs say when the sandbox stopped them, and what there is to say about it. */
const SIGNS: readonly { readonly sign: RegExp; readonly told: (workspace: string) => string }[] = [
  {
    sign: /Read-only file system|EROFS/i,
    told: (workspace) => `only ${workspace} can be written; something else was denied`,
  },
  {
    sign: /Network is unreachable|ENETUNREACH|EAI_AGAIN|name resolution|Could not resolve|Name or service not known|Connection refused|ECONNREFUSED|Could(?:n't| not) connect/i,
    told: () => "there is no network here, and loopback is the sandbox's own",
  },
];

const KERNEL_SETTINGS = ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"];

/** Folders of sockets in the temporary folder: of tmux, ssh agents, and X servers. */
const SOCKET_FOLDER = /^(?:tmux-|ssh-|\.X11-unix$|\.ICE-unix$)/;

/** Servers of the host stand behind their sockets, in these and in /run: what can be connected to is not confined. */
function hiddenSockets(): string[] {
  const folders = readdirSync(tmpdir()).filter((name) => SOCKET_FOLDER.test(name));
  return folders.flatMap((name) => ["--tmpfs", join(tmpdir(), name)]);
}

/** Where `/etc/resolv.conf` may lead to. */
const RESOLVER = "/run/systemd/resolve";

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** @throws {EvershellError} `BAD_CWD` for a workspace that does not exist */
export function bubblewrap({ workspace = ".", network = false }: SandboxOptions = {}): Confinement {
  // A mount point is no symbolic link.
  const folder = realpathSync(resolveCwd(workspace));
  const isolation = [
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    // Root could set the kernel through them, whatever namespace it is in.
    ...KERNEL_SETTINGS.flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--tmpfs", "/run", ...(network ? ["--ro-bind-try", RESOLVER, RESOLVER] : [])],
    ...["--remount-ro", "/run"],
    ...["--bind", folder, folder],
    ...["--unshare-all", ...(network ? ["--share-net"] : [])],
    ...["--cap-drop", "ALL", "--new-session", "--die-with-parent"],
  ];
  let probe: Promise<void> | null = null;
  return {
    hasKeeper: true,
    prepare() {
      probe ??= proved(isolation).catch((error: unknown) => {
        // The next command tries again: it may have been installed meanwhile.
        probe = null;
        throw error;
      });
      return probe;
    },
    wrap: (argv, { workdir, env }) => {
      const isOurs = env.TMPDIR === undefined || !isWithin(env.TMPDIR, folder);
      const temporary = isOurs ? ["--setenv", "TMPDIR", TEMPORARY] : [];
      return [
        "bwrap",
        ...isolation,
        ...hiddenSockets(),
        ...temporary,
        "--chdir",
        workdir,
        "--",
        ...argv,
      ];
    },
    denials: (outcome) => denials(outcome, folder, network),
  };
}

/** @throws {EvershellError} `UNSUPPORTED` where commands cannot be confined: they are not run without */
async function proved(isolation: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)("bwrap", [...isolation, "--", "true"], { timeout: PROBE_LIMIT_MS });
  } catch (cause) {
    const { code, stderr } = cause as { code?: unknown; stderr?: string };
    const why = code === "ENOENT" ? "bwrap is not installed" : (stderr?.trim() ?? String(cause));
    throw new EvershellError(
      "UNSUPPORTED",
      `the sandbox cannot run here, so no command is run: ${why} (install bubblewrap, and allow user namespaces)`,
      { cause },
    );
  }
}

/** A program may say such things for reasons of its own; one that succeeded was not stopped. */
function denials(
  { exitCode, stdout, stderr }: Omit<BashOutcome, "denials">,
  workspace: string,
  network: boolean,
): string[] {
  if (exitCode === 0) return [];
  const said = `${stdout.text}\n${stderr.text}`;
  return SIGNS.slice(0, network ? 1 : undefined)
    .filter(({ sign }) => sign.test(said))
    .map(({ told }) => told(workspace));
}
