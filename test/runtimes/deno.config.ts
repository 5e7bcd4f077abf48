import type { ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = {
  test: {
    root: `${import.meta.dirname}/../..`,
    include: ["test/runtimes/deno.contract.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 30_000,
  },
};

export default config;
