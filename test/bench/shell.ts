/** The shell under test. */

import { openShell, type Shell } from "evershell";

/** Opens a shell, lets the action use it, and closes it. */
export async function withShell<T>(action: (shell: Shell) => Promise<T>): Promise<T> {
  const shell = await openShell();
  try {
    return await action(shell);
  } finally {
    await shell.close();
  }
}

/**
 * Runs a command to its end.
 *
 * @returns the length of its complete output in characters
 * @throws {Error} if it fails: a benchmark of failures says nothing
 */
export async function runWell(shell: Shell, command: string): Promise<number> {
  const { output, end, clip } = await shell.run(command);
  if (end.kind === "finished" && end.exitCode === 0) return clip?.totalChars ?? output.length;
  throw new Error(`${command.slice(0, 80)}: ${JSON.stringify(end)}`);
}
