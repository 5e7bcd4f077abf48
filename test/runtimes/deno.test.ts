import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { folder } from "../support.ts";
import { consumer, finished, programOf } from "./support.ts";

const PROJECT = join(import.meta.dirname, "../..");

const deno = programOf("deno");

test("terminals on Deno keep what the contract promises", async () => {
  const told = await finished(deno, ["task", "test", "--reporter=dot", "--no-color"], {
    limitMs: 240_000,
  });
  expect(told).toMatch(/^ *Tests +\d{3,} passed \(\d+\)$/m);
}, 250_000);

test("a shell on Deno does what it does on Node.js, from source and from the package", async () => {
  const cwd = consumer();
  writeFileSync(join(cwd, "package.json"), '{ "dependencies": { "evershell": "*" } }');
  const onNode = await finished(process.execPath, ["smoke.mjs"], { cwd });
  expect(await finished(deno, ["run", "--allow-all", "smoke.mjs"], { cwd })).toBe(onNode);
  expect(await finished(deno, ["task", "--quiet", "smoke"])).toBe(onNode);
}, 190_000);

test("the sources are what Deno checks and JSR takes", async () => {
  await finished(deno, ["task", "check"]);
  await finished(deno, ["publish", "--dry-run", "--allow-dirty"]);
}, 130_000);

test("many shells leave Deno its threads, and nothing of them is left once they are closed", async () => {
  const path = join(folder(), "shells_test.ts");
  writeFileSync(path, SHELLS);
  const options = ["--allow-all", "--no-check", "--config", "deno.json"];
  const told = await finished(deno, ["test", ...options, path]);
  expect(told).toMatch(/2 passed/);
}, 70_000);

/** Deno has 32 threads for calls that wait; its test runner tells what a test leaves open. */
const SHELLS = `
import { openShell } from ${JSON.stringify(pathToFileURL(join(PROJECT, "src/deno.ts")).href)};

const sanitize = { sanitizeOps: true, sanitizeResources: true };

Deno.test({ ...sanitize, name: "many" }, async () => {
  const shells = await Promise.all(Array.from({ length: 40 }, () => openShell()));
  await Deno.readTextFile("deno.json");
  const results = await Promise.all(shells.map((shell, number) => shell.run("echo " + number)));
  results.forEach(({ output }, number) => {
    if (output !== String(number)) throw new Error(output);
  });
  await Promise.all(shells.map((shell) => shell.close()));
});

Deno.test({ ...sanitize, name: "one after another" }, async () => {
  const open = (path) => [...Deno.readDirSync(path)].length;
  const before = open("/dev/fd");
  for (let round = 0; round < 20; round++) {
    const shell = await openShell();
    await shell.run("exit 3");
    await shell.run("sleep 100", { timeoutMs: 50 });
    await shell.close();
  }
  if (open("/dev/fd") !== before) throw new Error("descriptors are left open");
});
`;
