/** Waiting for something that a signal may cut short. */

import { defer } from "./deferred.ts";
import { aborted } from "./errors.ts";

/** @throws {EvershellError} `ABORTED` if the signal is aborted first */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal | null): Promise<T> {
  if (signal === null) return promise;
  const abort = defer<never>();
  const onAbort = (): void => abort.reject(aborted(signal));
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([abort.promise, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
