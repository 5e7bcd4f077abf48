// The package's own entry point is CommonJS; this path is its ES module, with the package's types.
declare module "@xterm/headless/lib-headless/xterm-headless.mjs" {
  export * from "@xterm/headless";
}
