#!/usr/bin/env node
/** The `evershell` program. */

import { readFileSync } from "node:fs";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { resolveCwd } from "./adapters/node-files.ts";
import { runCommands } from "./cli/commands.ts";
import { backendOf, readConfig, shellOptionsOf, UsageError } from "./cli/config.ts";
import { execCommand } from "./cli/exec.ts";
import { jsonReport, type Streams, textReport } from "./cli/report.ts";
import { answerRequests } from "./cli/requests.ts";
import { handleSignals } from "./cli/signals.ts";
import { FAILURE_STATUS, signalStatus, USAGE_STATUS } from "./cli/status.ts";
import { takeTour } from "./cli/tour.ts";
import { EvershellError, type Shell } from "./core/index.ts";
import { machineOn } from "./machine.ts";
import { thisRuntime } from "./this-runtime.ts";
import { createToolsOn, executorOptionsOf, type ToolsConfig } from "./tools/index.ts";

interface RunFlags {
  readonly json?: true;
  readonly cwd?: string;
  readonly timeout?: number;
  readonly config?: string;
  readonly backend?: string;
  readonly keepGoing?: true;
}

interface McpFlags extends Pick<RunFlags, "config" | "cwd"> {
  readonly tools?: NonNullable<ToolsConfig["tools"]>;
}

interface ExecFlags extends Pick<RunFlags, "json" | "cwd" | "timeout" | "config"> {
  readonly sandbox?: true;
}

const machine = machineOn(await thisRuntime());

const streams: Streams = {
  out: (text) => write(process.stdout, text),
  err: (text) => write(process.stderr, text),
};

const program = new Command("evershell")
  .description("A bash that stays: commands of one shell, with exact results.")
  .version(readVersion())
  .exitOverride();

program
  .command("run")
  .description(
    "Run commands one after another in one bash, and stop at the first that does not settle. " +
      "Without a command, requests are read from stdin: a JSON string or object a line.",
  )
  .argument("[command...]", "what bash is to run; each argument is one command")
  .option("--json", "print one JSON object a line: the result, or the error")
  .option("--cwd <dir>", "directory to start in")
  .option("--timeout <ms>", "stop a command after so many milliseconds", wholeNumber)
  .option("--config <file>", "options as JSON; those of the command line win")
  .option("--backend <name>", "where the shell runs: one that the config file names, or shell")
  .option("--keep-going", "run all commands, whatever happens to one")
  .addHelpText("after", statusHelp())
  .action(run);

program
  .command("exec")
  .description("Run one command in a fresh bash, of which nothing persists.")
  .argument("<command>", "what bash is to run")
  .option("--json", "print one JSON object: the outcome, or the error")
  .option("--cwd <dir>", "directory to run in")
  .option("--timeout <ms>", "stop the command after so many milliseconds", wholeNumber)
  .option("--config <file>", "options as JSON; those of the command line win")
  .option(
    "--sandbox",
    "let it write to that directory alone, without a network (Linux, bubblewrap)",
  )
  .addHelpText("after", execHelp())
  .action(exec);

program
  .command("mcp")
  .description("Serve the tools to one MCP client on stdin and stdout, until it closes them.")
  .option("--config <file>", "options of the tools as JSON")
  .option("--cwd <dir>", "directory that shells, terminals and commands start in")
  .addOption(
    new Option(
      "--tools <which>",
      "which bash: one that stays, a fresh one a command, or both",
    ).choices(["persistent", "one-shot", "both"]),
  )
  .action(mcp);

program.command("tour").description("See what evershell does, with real commands.").action(tour);

await main();

async function main(): Promise<void> {
  process.stdout.on("error", endQuietly);
  // Nobody hears of problems any more; that is no reason to leave anything running.
  process.stderr.on("error", () => {});
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : USAGE_STATUS;
    } else if (error instanceof UsageError) {
      await complain(error.message);
      process.exitCode = USAGE_STATUS;
    } else if (error instanceof EvershellError) {
      await textReport(streams).failure(error);
      process.exitCode = FAILURE_STATUS;
    } else {
      throw error;
    }
  }
}

async function run(commands: readonly string[], flags: RunFlags): Promise<void> {
  const report = flags.json ? jsonReport(streams) : textReport(streams);
  const config = readConfig(flags.config);
  const backend = backendOf(machine, config, flags.backend);
  const options = {
    ...shellOptionsOf(config),
    ...(flags.cwd !== undefined && { cwd: flags.cwd }),
    ...(flags.timeout !== undefined && { timeoutMs: flags.timeout }),
  };
  try {
    process.exitCode = await withShell(backend.openShell(options), (shell) =>
      commands.length > 0
        ? runCommands(commands, shell, report, flags.keepGoing === true)
        : answerRequests(process.stdin.setEncoding("utf8"), shell, report),
    );
  } catch (error) {
    if (!(error instanceof EvershellError)) throw error;
    await report.failure(error);
    process.exitCode = FAILURE_STATUS;
  }
}

async function tour(): Promise<void> {
  await withShell(machine.openShell({}), (shell) => takeTour(shell, streams.out));
}

async function exec(command: string, flags: ExecFlags): Promise<void> {
  const report = flags.json ? jsonReport(streams) : textReport(streams);
  const { shell, sandbox = false } = readConfig(flags.config);
  const workspace = flags.cwd === undefined ? {} : { workspace: flags.cwd };
  try {
    const executor = machine.openExecutor(
      executorOptionsOf(shell),
      flags.sandbox || sandbox === true ? workspace : sandbox === false ? null : sandbox,
    );
    process.exitCode = await execCommand(
      executor,
      {
        command,
        json: flags.json === true,
        ...(flags.cwd !== undefined && { workdir: flags.cwd }),
        ...(flags.timeout !== undefined && { timeoutMs: flags.timeout }),
      },
      streams,
    );
  } catch (error) {
    if (!(error instanceof EvershellError)) throw error;
    await report.failure(error);
    process.exitCode = FAILURE_STATUS;
  }
}

async function mcp({ config: file, cwd, tools }: McpFlags): Promise<void> {
  const config = { ...readConfig(file), ...(tools !== undefined && { tools }) };
  backendOf(machine, config);
  const folder = cwd === undefined ? {} : { cwd: resolveCwd(cwd) };
  // Only this command pays for loading the SDK.
  const { serveMcp } = await import("./cli/mcp.ts");
  const options = { version: readVersion(), ...folder };
  // A client that is gone has closed the connection, and all that was started for it is to end first.
  process.stdout.off("error", endQuietly);
  process.exit(await serveMcp(createToolsOn(machine, config), options, complain));
}

/** Does some work in a shell, under the program's signals, and closes it whatever happens. */
async function withShell<T>(
  opening: Promise<Shell>,
  work: (shell: Shell) => Promise<T>,
): Promise<T> {
  const shell = await opening;
  const stopHandling = handleSignals(shell);
  try {
    return await work(shell);
  } finally {
    await shell.close();
    stopHandling();
  }
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new InvalidArgumentError("It must be a whole number of milliseconds, 1 or more.");
}

/** Tells of a problem on stderr. */
async function complain(problem: string): Promise<void> {
  await streams.err(`evershell: ${problem}\n`);
}

/** Resolves when the reader has taken the text. */
function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (stream.write(text)) resolve();
    else stream.once("drain", resolve);
  });
}

/** Nobody reads our output any more, so there is nothing left to do. The shell ends with its terminal. */
function endQuietly(): void {
  process.exit(signalStatus("SIGPIPE"));
}

function readVersion(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

function execHelp(): string {
  return `
Exit status: that of the command; 128+n if signal n killed it; 124 timed out; 125 evershell failed; 2 wrong usage.`;
}

function statusHelp(): string {
  return `
Exit status: that of the last command; 128+n if signal n killed the shell; 124 a command timed out or was
left running; 123 a command waits for input; 125 evershell failed; 2 wrong usage.`;
}
