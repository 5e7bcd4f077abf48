import { readFileSync, rmSync } from "node:fs";
import typescript from "@rollup/plugin-typescript";

const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const external = [
  /^node:/,
  /^bun(:|$)/,
  ...Object.keys(dependencies).map((name) => new RegExp(`^${name}(/|$)`)),
];

/** Empties `dist` just before it is written, so that no module outlives its source. */
const clean = {
  name: "clean",
  renderStart: () => rmSync("dist", { recursive: true, force: true }),
};

export default {
  input: [
    "src/node.ts",
    "src/node-tools.ts",
    "src/bun.ts",
    "src/bun-tools.ts",
    "src/deno.ts",
    "src/deno-tools.ts",
    "src/integrations/mcp.ts",
    "src/cli.ts",
    "src/core/index.ts",
  ],
  external,
  output: {
    dir: "dist",
    format: "es",
    preserveModules: true,
    preserveModulesRoot: "src",
    sourcemap: true,
    sourcemapExcludeSources: true,
  },
  plugins: [
    clean,
    typescript({
      include: ["src/**"],
      filterRoot: ".",
      noEmitOnError: true,
      compilerOptions: {
        noEmit: false,
        rootDir: "src",
        outDir: "dist",
        declarationMap: true,
        paths: {},
      },
    }),
  ],
};
