/** Programs, folders and spill files, through node:fs. */

import { accessSync, constants, readdirSync, rmSync, statSync } from "node:fs";
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { EvershellError } from "../core/errors.ts";
import type { SpillFile, SpillStore } from "../core/spill.ts";

/** See `Runtime.findBash`. */
export function findBash(name: string, env: Readonly<Record<string, string>>): string {
  const folders = name.includes("/") ? [""] : (env.PATH ?? "").split(delimiter);
  const found = folders
    .map((folder) => (folder === "" ? resolve(name) : join(folder, name)))
    .find(isExecutable);
  if (found !== undefined) return found;
  throw new EvershellError(
    "BASH_NOT_FOUND",
    `no executable ${JSON.stringify(name)} ${name.includes("/") ? "there" : "in PATH"}: install bash, or name it with the option "bash"`,
  );
}

/**
 * See `Runtime.resolveCwd`.
 *
 * @param base what a relative path is relative to; by default the host's working directory
 */
export function resolveCwd(path: string, base = "."): string {
  const absolute = resolve(base, path);
  const why = whyNoFolder(absolute);
  if (why === null) return absolute;
  throw new EvershellError(
    "BAD_CWD",
    `cwd ${JSON.stringify(absolute)} ${why}: name a directory that exists`,
  );
}

/** See `Runtime.openSpillStore`. */
export function openSpillStore(folder: string | null): SpillStore {
  if (folder !== null) checkWritable(folder);
  return new FolderStore(folder ?? tmpdir());
}

class FolderStore implements SpillStore {
  readonly #parent: string;
  #folder: Promise<string> | null = null;
  #files = 0;

  constructor(parent: string) {
    this.#parent = parent;
  }

  async create(): Promise<SpillFile> {
    // mkdtemp makes it with mode 0700.
    this.#folder ??= mkdtemp(join(this.#parent, "evershell-")).then(removeAtExit);
    try {
      const path = join(await this.#folder, `output-${++this.#files}.txt`);
      return new LocalFile(path, await open(path, "wx", 0o600));
    } catch (error) {
      this.#files--;
      if (this.#files === 0) this.#folder = null;
      throw error;
    }
  }

  async close(): Promise<void> {
    const folder = await this.#folder?.catch(() => null);
    if (folder) await removePath(folder);
  }
}

/** Folders to remove if the host ends without closing its shells. */
const openFolders = new Set<string>();

function removeAtExit(folder: string): string {
  if (openFolders.size === 0) process.on("exit", removeOpenFolders);
  openFolders.add(folder);
  return folder;
}

function removeOpenFolders(): void {
  for (const folder of openFolders) rmSync(folder, { recursive: true, force: true });
}

async function removePath(path: string): Promise<void> {
  openFolders.delete(path);
  if (openFolders.size === 0) process.off("exit", removeOpenFolders);
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    // It is in the system's folder for temporary files, which is cleaned by others.
  }
}

class LocalFile implements SpillFile {
  readonly path: string;
  readonly #handle: FileHandle;
  #open = true;

  constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  async append(bytes: Uint8Array): Promise<void> {
    await this.#handle.writeFile(bytes);
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    try {
      await this.#handle.close();
    } catch {
      // What could be written has been; the append that failed has told.
    }
  }

  async remove(): Promise<void> {
    await this.close();
    await removePath(this.path);
  }
}

function whyNoFolder(path: string): string | null {
  try {
    return statSync(path).isDirectory() ? null : "is not a directory";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? "does not exist" : `cannot be used (${code})`;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Missing, or not ours to run.
    return false;
  }
}

function checkWritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    readdirSync(folder);
  } catch (cause) {
    throw new EvershellError(
      "SPILL_UNAVAILABLE",
      `spillDir ${JSON.stringify(folder)} cannot be written: name an existing folder that you may write to, or leave it out`,
      { cause },
    );
  }
}
