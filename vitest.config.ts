import type { ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = {
  test: {
    include: ["test/**/*.test.ts"],
    environment: "node",
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    passWithNoTests: false,
    reporters: ["default", "./test/reporter.ts"],
  },
};

export default config;
