/** The file that `--config` names: options of the tools, as JSON. */

import { readFileSync } from "node:fs";
import { EvershellError, type ShellOptions } from "../core/index.ts";
import { type Backend, Backends, LOCAL_BACKEND } from "../tools/backends.ts";
import { resolveToolsConfig, type ToolsConfig } from "../tools/config.ts";

/** Longest part of a file that is quoted. */
const MAX_QUOTE_CHARS = 80;

/** Wrong usage that only shows once the command line has been parsed. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/**
 * What the file says, without defaults; nothing without a file.
 *
 * @throws {UsageError} naming the file, and the key, the rule and the value that breaks it
 */
export function readConfig(file: string | undefined): ToolsConfig {
  if (file === undefined) return {};
  try {
    return parseConfig(readFileSync(file, "utf8"));
  } catch (cause) {
    const why = (cause as Error).message.replace(/^config: /, "");
    throw new UsageError(`config file ${JSON.stringify(file)}: ${why}`, { cause });
  }
}

/**
 * The backend that shells are opened on.
 *
 * @param local opens them on this machine
 * @param name wins over that of the file
 * @throws {UsageError} if there is none of that name
 */
export function backendOf(
  local: Backend,
  { backends = {}, backendType = LOCAL_BACKEND }: ToolsConfig,
  name: string = backendType,
): Backend {
  try {
    return new Backends(local, backends).get(name);
  } catch (cause) {
    throw new UsageError((cause as EvershellError).message, { cause });
  }
}

/** Options of a shell without tools: what the file leaves out has the default of the shell. */
export function shellOptionsOf(config: ToolsConfig): ShellOptions {
  const { shell, timeoutMs, maxOutputChars, keep, onTimeout } = config;
  return {
    ...shell,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(maxOutputChars !== undefined && { maxOutputChars }),
    ...(keep !== undefined && { keep }),
    ...(onTimeout !== undefined && { onTimeout }),
  };
}

/** @throws {EvershellError} `BAD_OPTION` */
function parseConfig(text: string): ToolsConfig {
  const config: unknown = JSON.parse(text);
  if (typeof config === "object" && config !== null && !Array.isArray(config)) {
    resolveToolsConfig(config);
    return config;
  }
  const received = text.trim().slice(0, MAX_QUOTE_CHARS);
  throw new EvershellError("BAD_OPTION", `must hold an object of options; received ${received}`);
}
