/** Times, medians, and rounds in which the contenders take turns. */

/** One of the things that are compared. */
export interface Contender {
  /** Measures once. Resolves with milliseconds. */
  readonly measure: () => Promise<number>;
  /**
   * How many rounds it takes part in; all by default. One that sits some out is slow, so it is not warmed
   * up either: it is to share its code with another.
   */
  readonly rounds?: number;
}

/**
 * Lets the contenders take turns, so that whatever else the machine does meets all of them alike. A round
 * before the first one warms up; each other round goes through them in the opposite order.
 *
 * @returns the median of each, in milliseconds
 */
export async function interleave<Name extends string>(
  rounds: number,
  contenders: Readonly<Record<Name, Contender>>,
): Promise<Record<Name, number>> {
  const entries = Object.entries<Contender>(contenders);
  for (const [, { measure, rounds: own }] of entries) if (own === undefined) await measure();
  const times = new Map<string, number[]>(entries.map(([name]) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    const taking = entries.filter(([, { rounds: own = rounds }]) => round < own);
    for (const [name, { measure }] of round % 2 === 0 ? taking : taking.reverse())
      times.get(name)?.push(await measure());
  }
  const medians = entries.map(([name]) => [name, median(times.get(name) ?? [])]);
  return Object.fromEntries(medians) as Record<Name, number>;
}

/** Milliseconds that an action takes. */
export async function timed(action: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

/** The median of the milliseconds that each of `times` actions takes when they follow each other. */
export async function medianOfBlock(
  times: number,
  action: () => Promise<unknown>,
): Promise<number> {
  const all: number[] = [];
  for (let i = 0; i < times; i++) all.push(await timed(action));
  return median(all);
}

/** The middle value; between two of them their mean; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}
