/** Resident memory of this process in bytes, once what is garbage has been collected. */
export async function settledMemory(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    // Finalizers, and the freeing of array buffers, run between two turns of the event loop.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return process.memoryUsage.rss();
}
