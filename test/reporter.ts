import type { Reporter, SerializedError, TestModule } from "vitest/node";

/**
 * Ends the run with one plain line, `N passed, N failed`. Errors outside of tests count as failures,
 * and so does a run in which no test was run.
 */
export default class SummaryLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const { passed, failed } = count(modules);
    const nothingRan = passed + failed + unhandled.length === 0;
    const failures = failed + unhandled.length + (nothingRan ? 1 : 0);
    if (nothingRan) console.log("No test was run.");
    console.log(`${passed} passed, ${failures} failed`);
    if (failures > 0) process.exitCode = 1;
  }
}

function count(modules: readonly TestModule[]): { passed: number; failed: number } {
  let passed = 0;
  let failed = 0;
  for (const module of modules) {
    failed += module.errors().length;
    for (const suite of module.children.allSuites()) failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed") passed++;
      else if (state !== "skipped") failed++;
    }
  }
  return { passed, failed };
}
