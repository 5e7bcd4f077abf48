/** What has to be on the machine besides Node packages, and how it gets there. */
import { spawnSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Compiles `node-pty`, which ships ready-made binaries for macOS and Windows only. */
export const toolchain = [
  { command: "g++", debianPackage: "g++" },
  { command: "make", debianPackage: "make" },
  { command: "python3", debianPackage: "python3" },
];

/** The programs that the tests drive. */
export const testPrograms = [
  { command: "bwrap", debianPackage: "bubblewrap" },
  { command: "curl", debianPackage: "curl" },
  { command: "git", debianPackage: "git" },
  { command: "less", debianPackage: "less" },
  { command: "man", debianPackage: "man-db" },
  { command: "nano", debianPackage: "nano" },
  { command: "ps", debianPackage: "procps" },
  { command: "python3", debianPackage: "python3" },
  { command: "script", debianPackage: "bsdutils" },
  { command: "setpriv", debianPackage: "util-linux" },
  { command: "ssh", debianPackage: "openssh-client" },
  { command: "ssh-keygen", debianPackage: "openssh-client" },
  { command: "sshd", debianPackage: "openssh-server" },
  { command: "su", debianPackage: "util-linux" },
  { command: "tmux", debianPackage: "tmux" },
  { command: "top", debianPackage: "procps" },
  { command: "vim", debianPackage: "vim" },
  { command: "xxd", debianPackage: "xxd" },
];

/** A problem that the reader can solve; it is shown without a stack trace. */
export class SetupError extends Error {}

export function say(message) {
  process.stderr.write(`setup: ${message}\n`);
}

/** Runs one step of the set-up to its end, with all of its output on stderr. */
export function runStep(command, args, env = process.env) {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", 2, 2], env });
  if (error) throw new SetupError(`cannot run ${command}: ${error.message}`);
  if (status !== 0) throw new SetupError(`\`${command} ${args.join(" ")}\` failed`);
}

export function requireNode(major) {
  if (Number.parseInt(process.versions.node, 10) >= major) return;
  throw new SetupError(`Node ${major} or newer is needed; this is Node ${process.versions.node}`);
}

export function requirePrograms(programs) {
  const missing = findMissing(programs);
  if (missing.length > 0) throw missingError(missing);
}

/** Like `requirePrograms`, but installs what is missing where it can. */
export function installPrograms(programs) {
  const missing = findMissing(programs);
  if (missing.length === 0) return;
  if (!isDebian() || process.getuid?.() !== 0) throw missingError(missing);
  say(`installing ${packagesOf(missing).join(", ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  runStep("apt-get", ["update"], env);
  const packages = packagesOf(missing);
  withoutStartingServices(() =>
    runStep("apt-get", ["install", "-y", "--no-install-recommends", ...packages], env),
  );
  requirePrograms(programs);
}

/** Debian starts a server (sshd) when it is installed, unless this file says otherwise; the tests start their own. */
function withoutStartingServices(install) {
  const policy = "/usr/sbin/policy-rc.d";
  if (existsSync(policy)) return install();
  writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    install();
  } finally {
    rmSync(policy, { force: true });
  }
}

function findMissing(programs) {
  // Servers stand in a folder that not every PATH names.
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  return programs.filter(({ command }) => !folders.some((dir) => existsSync(join(dir, command))));
}

function missingError(missing) {
  const names = missing.map(({ command }) => command).join(", ");
  const packages = packagesOf(missing).join(" ");
  const remedy = isDebian()
    ? `sudo apt-get update && sudo apt-get install -y --no-install-recommends ${packages}`
    : `install the equivalents of the Debian packages ${packages}`;
  return new SetupError(`missing programs: ${names}\n  ${remedy}`);
}

function packagesOf(programs) {
  return [...new Set(programs.map(({ debianPackage }) => debianPackage))];
}

function isDebian() {
  return existsSync("/etc/debian_version");
}
