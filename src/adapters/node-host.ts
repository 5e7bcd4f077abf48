/** What Node.js tells of the host. */

import { EvershellError } from "../core/errors.ts";

/** See `Runtime.locale`. */
export const locale: string = process.platform === "darwin" ? "en_US.UTF-8" : "C.UTF-8";

/** See `Runtime.workingDirectory`. */
export function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new EvershellError(
      "BAD_CWD",
      "the working directory of the host is gone: name one that exists with the option cwd",
      { cause },
    );
  }
}
