import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

/** The folders of `src` that each folder may import from. Files directly in `src` join them all. */
const mayImport: Record<string, string[]> = {
  core: ["core"],
  adapters: ["adapters", "core"],
  remote: ["remote", "core"],
  tools: ["tools", "core"],
  integrations: ["integrations", "tools", "core"],
  cli: ["cli", "tools", "integrations", "core"],
};
const corePackages = /^(valibot|@xterm\/headless(\/.+)?)$/;

type Import = { from: string; to: string };

const imports: Import[] = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"))
  .flatMap((file) => importsOf(`src/${file}`));

function importsOf(from: string): Import[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(from, "utf8"));
  return importedFiles.map(({ fileName: name }) => ({
    from,
    to: name.startsWith(".") ? posix.join(posix.dirname(from), name) : name,
  }));
}

function isAllowed({ from, to }: Import): boolean {
  const layer = folderOf(from);
  if (layer === "") return true;
  if (!to.startsWith("src/")) return layer !== "core" || corePackages.test(to);
  return mayImport[layer]?.includes(folderOf(to)) ?? false;
}

function folderOf(file: string): string {
  return /^src\/([^/]+)\//.exec(file)?.[1] ?? "";
}

test("each layer imports only what it may", () => {
  expect(imports.filter((each) => !isAllowed(each))).toEqual([]);
});

test("exactly one module imports the terminal emulator", () => {
  const importers = imports.filter(({ to }) => to.startsWith("@xterm/")).map(({ from }) => from);
  expect(new Set(importers).size, importers.join(", ")).toBe(1);
});

test("no imports form a cycle", () => {
  let rest = imports;
  for (let size = -1; size !== rest.length; ) {
    size = rest.length;
    // An import that leads on to no other, or that no other leads to, is on no cycle.
    const [sources, targets] = [rest.map(({ from }) => from), rest.map(({ to }) => to)];
    rest = rest.filter(({ from, to }) => sources.includes(to) && targets.includes(from));
  }
  expect(rest).toEqual([]);
});
