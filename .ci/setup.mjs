/**
 * Brings a fresh clone to where it runs, then runs it: `node .ci/setup.mjs COMMAND [ARGUMENTS]`.
 * Steps with nothing to do are silent; the others report on stderr.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import {
  installPrograms,
  requireNode,
  requirePrograms,
  runStep,
  SetupError,
  say,
  testPrograms,
  toolchain,
} from "./system.mjs";

const commands = { start, test, check, bench };
const buildStamp = ".build/dist.sha256";
const bin = (name) => `node_modules/.bin/${name}`;

/** Runs the command line: the arguments as a shell command, or without any the tour. */
async function start(args) {
  installPackages();
  build();
  return run(process.execPath, ["dist/cli.js", ...(args.length > 0 ? ["run", ...args] : ["tour"])]);
}

/** Checks everything; the arguments go to vitest. */
async function test(args) {
  installPrograms([...toolchain, ...testPrograms]);
  installPackages();
  build();
  return (await check()) || run(bin("vitest"), ["run", ...args]);
}

/** Lints and type-checks. */
async function check() {
  installPackages();
  return (
    (await runStage("lint", bin("biome"), ["ci", "--error-on-warnings"])) ||
    (await runStage("type check", bin("tsc"), [])) ||
    (await runStage("type check of the core", bin("tsc"), ["--project", "src/core"]))
  );
}

/** Compiles and runs the benchmark, which gets the arguments. */
async function bench(args) {
  installPackages();
  build();
  runStep(bin("tsc"), ["--project", "test/bench"]);
  return run(process.execPath, [".build/bench/main.js", ...args]);
}

function installPackages() {
  if (isInstalled()) return;
  if (process.platform === "linux") requirePrograms(toolchain);
  say("installing packages");
  runStep("npm", ["ci", "--no-audit", "--no-fund"]);
}

/** Whether `node_modules` holds the locked version of every package that is not optional. */
function isInstalled() {
  const installedLock = "node_modules/.package-lock.json";
  if (!existsSync(installedLock)) return false;
  const installed = readJson(installedLock).packages;
  return Object.entries(readJson("package-lock.json").packages)
    .filter(([path, { optional }]) => path !== "" && !optional)
    .every(([path, { version }]) => installed[path]?.version === version);
}

function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

function build() {
  const hash = hashSources();
  if (existsSync("dist") && existsSync(buildStamp) && readFileSync(buildStamp, "utf8") === hash) {
    return;
  }
  say("building dist");
  rmSync(buildStamp, { force: true });
  runStep(bin("rollup"), ["--config", "--silent"]);
  mkdirSync(".build", { recursive: true });
  writeFileSync(buildStamp, hash);
}

/** A digest of everything that `dist` is made from. */
function hashSources() {
  const sources = readdirSync("src", { recursive: true }).filter((file) => extname(file) !== "");
  const configs = ["package.json", "package-lock.json", "rollup.config.mjs", "tsconfig.json"];
  const hash = createHash("sha256");
  for (const path of [...configs, ...sources.sort().map((file) => `src/${file}`)]) {
    hash.update(`${path}\0`).update(readFileSync(path)).update("\0");
  }
  return hash.digest("hex");
}

async function runStage(name, command, args) {
  const status = await run(command, args);
  if (status !== 0) say(`${name} failed`);
  return status;
}

/** Runs a program in the foreground and resolves with its exit status as a shell would report it. */
function run(command, args) {
  const child = spawn(command, args, { stdio: "inherit" });
  const forward = (signal) => child.kill(signal);
  const ignore = () => {}; // A terminal sends its interrupts to the child as well.
  process.on("SIGINT", ignore).on("SIGQUIT", ignore).on("SIGTERM", forward).on("SIGHUP", forward);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      process.off("SIGINT", ignore).off("SIGQUIT", ignore);
      process.off("SIGTERM", forward).off("SIGHUP", forward);
      resolve(code ?? 128 + constants.signals[signal]);
    });
  });
}

async function main([name, ...args]) {
  if (!Object.hasOwn(commands, name ?? "")) {
    throw new SetupError(
      `usage: node .ci/setup.mjs ${Object.keys(commands).join("|")} [ARGUMENTS]`,
    );
  }
  requireNode(20);
  process.chdir(fileURLToPath(new URL("..", import.meta.url)));
  return commands[name](args);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(error.message);
  process.exitCode = 1;
}
