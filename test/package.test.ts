/**
 * The package as people get it: packed, installed in an empty folder with npm, and used there by an agent script on
 * each runtime that it is for.
 */

import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const run = promisify(execFile);

/** Of the package on each runtime: no longer than this may one script take. */
const LIMIT_MS = 120_000;

/** The agent script of the README. */
const AGENT = `
import { createTools } from "evershell/tools";

const tools = createTools();
const context = { owner: "agent-1", cwd: "/" };
for (const command of ["cd /tmp && export NAME=value", 'echo "$PWD $NAME"', "false"]) {
  console.log((await tools.bash.execute({ command }, context)).text);
}
await tools.dispose();
`;

let app: string;

beforeAll(async () => {
  app = mkdtempSync(join(tmpdir(), "evershell-app-"));
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", app]);
  const [tarball = ""] = readdirSync(app);
  writeFileSync(
    join(app, "package.json"),
    '{ "type": "module", "allowScripts": { "node-pty": true } }',
  );
  const newerNode = `node-${process.platform}-${process.arch}@24`;
  await run("npm", ["install", "--no-audit", "--no-fund", join(app, tarball), newerNode], {
    cwd: app,
  });
  writeFileSync(join(app, "agent.mjs"), AGENT);
  mkdirSync(join(app, "smoke"));
  cpSync("test/smoke/smoke.mjs", join(app, "smoke/smoke.mjs"));
}, 300_000);

afterAll(() => rmSync(app, { recursive: true, force: true }));

/** What a script of the folder prints on a runtime. */
async function printed([program, ...args]: readonly string[], script: string): Promise<string> {
  const { stdout } = await run(program as string, [...args, script], {
    cwd: app,
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
    maxBuffer: 2 ** 26,
  });
  return stdout;
}

const node24 = `node_modules/node-${process.platform}-${process.arch}/bin/node`;

/** Deno takes the packages of the folder as npm has installed them. */
const RUNTIMES: readonly [name: string, command: readonly string[]][] = [
  ["Node.js 24", [node24]],
  ["Bun", [resolve("node_modules/.bin/bun")]],
  ["Deno", [resolve("node_modules/.bin/deno"), "run", "-A", "--node-modules-dir=manual"]],
];

test("nothing is wrong with the package, nor with its types", async () => {
  const tarball = readdirSync(app).find((name) => name.endsWith(".tgz")) ?? "";
  const bin = (name: string): string => resolve("node_modules/.bin", name);
  await run(bin("publint"), ["run", "--strict", join(app, tarball)]);
  await run(bin("attw"), [join(app, tarball), "--profile", "esm-only"]);
}, 60_000);

describe("the package in an empty folder", () => {
  test("runs the agent script on Node.js", async () => {
    expect(await printed([process.execPath], "agent.mjs")).toBe(
      "[Command finished with exit code 0]\n/tmp value\n[Command finished with exit code 0]\n" +
        "[Command finished with exit code 1]\n",
    );
  });

  test.each(RUNTIMES)("and prints the same on %s", async (_, command) => {
    expect(await printed(command, "agent.mjs")).toBe(
      await printed([process.execPath], "agent.mjs"),
    );
  });

  test.each(RUNTIMES)(
    "does the same in many cases on %s",
    async (_, command) => {
      const here = await printed([process.execPath], "smoke/smoke.mjs");
      expect(here.split("\n").length).toBeGreaterThan(30);
      expect(await printed(command, "smoke/smoke.mjs")).toBe(here);
    },
    300_000,
  );
});
