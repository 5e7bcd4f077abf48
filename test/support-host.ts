/**
 * Host programs of their own: a Node.js process that runs evershell and that a test can kill. Node 20 runs no
 * TypeScript, so the sources are compiled into a folder first, each file by itself and without type checks.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import ts from "typescript";

/** A host program that runs. */
export interface HostProcess {
  readonly pid: number;
  /** The next value that the program gave to `report`. Rejects if the program ends before. */
  report(): Promise<unknown>;
  /** Kills the program as nothing can be prepared for, and waits for its end. */
  kill(): Promise<void>;
}

/** The sources, compiled; starts host programs from them. */
export class Hosts {
  readonly #folder: string;
  readonly #running = new Set<ChildProcess>();

  constructor() {
    // Inside the project, where the packages are found.
    mkdirSync(".build", { recursive: true });
    this.#folder = mkdtempSync(".build/host-");
    for (const path of readdirSync("src", { recursive: true, encoding: "utf8" })) {
      if (path.endsWith(".ts") && !path.endsWith(".d.ts")) this.#compile(path);
    }
  }

  /**
   * Starts a program.
   *
   * @param script body of an async function; it has `openShell`, and `report(value)` to tell the test something
   */
  start(script: string): HostProcess {
    const entry = JSON.stringify(pathToFileURL(join(this.#folder, "node.js")).href);
    const program =
      `import { openShell } from ${entry};` +
      `const report = (value) => process.stdout.write(JSON.stringify(value) + "\\n");\n${script}`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#running.add(child);
    return new Host(child);
  }

  /** Ends all programs and removes what was compiled. */
  async close(): Promise<void> {
    await Promise.all([...this.#running].map(killed));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #compile(path: string): void {
    const { outputText } = ts.transpileModule(readFileSync(join("src", path), "utf8"), {
      fileName: path,
      compilerOptions: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
        rewriteRelativeImportExtensions: true,
      },
    });
    const output = join(this.#folder, path.replace(/\.ts$/, ".js"));
    mkdirSync(dirname(output), { recursive: true });
    writeFileSync(output, outputText);
  }
}

class Host implements HostProcess {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #reports: AsyncIterator<string>;
  #errors = "";

  constructor(child: ChildProcess) {
    if (child.pid === undefined || child.stdout === null) throw new Error("no host program");
    this.pid = child.pid;
    this.#child = child;
    this.#reports = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    child.stderr?.on("data", (text) => {
      this.#errors += text;
    });
  }

  async report(): Promise<unknown> {
    const { value, done } = await this.#reports.next();
    if (done) throw new Error(`the host program ended: ${this.#errors}`);
    return JSON.parse(value);
  }

  kill(): Promise<void> {
    return killed(this.#child);
  }
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}
