/** What the benchmark finds: rows of figures, each with its target if it has one. */

export type Unit = "ms" | "MB";

/** A figure that went into a row. */
export interface Raw {
  readonly label: string;
  readonly value: number;
  /** `ms`, or `MB` of 10^6 bytes. */
  readonly unit: Unit;
}

export interface Row {
  readonly name: string;
  /** What it is that was measured: `this ÷ that`, or what the amount is of. */
  readonly what: string;
  readonly value: number;
  /** `ratio`, or the unit of an amount. */
  readonly unit: "ratio" | Unit;
  /** The most that the value is to be; null for a row that is for information. */
  readonly target: number | null;
  /** Whether the value keeps to the target; null without one. */
  readonly holds: boolean | null;
  readonly raw: readonly Raw[];
}

/** One thing to measure. */
export interface Benchmark {
  /** What `--only` calls it. */
  readonly name: string;
  readonly measure: (effort: Effort) => Promise<Row[]>;
}

/** How thoroughly to measure. */
export type Effort = "quick" | "full";

/** A row that divides one time by another, both in milliseconds. */
export function ratioRow(
  name: string,
  over: readonly [label: string, ms: number],
  under: readonly [label: string, ms: number],
  target: number | null = null,
): Row {
  const value = over[1] / under[1];
  return {
    name,
    what: `${over[0]} ÷ ${under[0]}`,
    value,
    unit: "ratio",
    target,
    holds: holdsTo(value, target),
    raw: [over, under].map(([label, value]) => ({ label, value, unit: "ms" })),
  };
}

/** A row that is an amount: of memory in megabytes (10^6 bytes), or of time. */
export function amountRow(
  name: string,
  what: string,
  value: number,
  unit: Unit,
  target: number | null,
  raw: readonly Raw[],
): Row {
  return { name, what, value, unit, target, holds: holdsTo(value, target), raw };
}

function holdsTo(value: number, target: number | null): boolean | null {
  return target === null ? null : value <= target;
}
