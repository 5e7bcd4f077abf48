/** What Ctrl-C and other signals do to the program. */

import type { Shell } from "../core/index.ts";
import { signalStatus } from "./status.ts";

const ENDING = ["SIGTERM", "SIGHUP"] as const;

/**
 * The first SIGINT interrupts the command that runs; a second one, SIGTERM or SIGHUP closes the shell and ends
 * the program.
 *
 * @returns a function that ends this
 */
export function handleSignals(shell: Shell): () => void {
  let interrupted = false;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    await shell.close();
    process.exit(signalStatus(signal));
  };
  const interrupt = (signal: NodeJS.Signals): void => {
    if (interrupted) void end(signal);
    else void shell.interrupt();
    interrupted = true;
  };
  process.on("SIGINT", interrupt);
  for (const signal of ENDING) process.on(signal, end);
  return () => {
    process.off("SIGINT", interrupt);
    for (const signal of ENDING) process.off(signal, end);
  };
}

/** Has every signal that ends a program end this one in a way of its own; it may come more than once. */
export function onEndingSignal(end: (signal: NodeJS.Signals) => void): void {
  for (const signal of ["SIGINT", ...ENDING] as const) process.on(signal, end);
}
