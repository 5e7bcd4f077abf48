/** The kinds of values that callers pass, each with its rule. */

import * as v from "valibot";

/** Longest time that a timer of JavaScript can wait for. */
const MAX_MS = 2 ** 31 - 1;

export const milliseconds: v.GenericSchema<number> = v.pipe(
  v.number("must be a number of milliseconds"),
  v.integer("must be a whole number of milliseconds"),
  v.minValue(1, "must be at least 1 ms"),
  v.maxValue(MAX_MS, `must be at most ${MAX_MS} ms`),
);

/** UTF-16 code units of an output. */
export const characters: v.GenericSchema<number> = v.pipe(
  v.number("must be a number of characters"),
  v.integer("must be a whole number of characters"),
  v.minValue(1, "must be at least 1 character"),
  v.maxValue(100_000_000, "must be at most 100 000 000 characters"),
);

/** Cells of a terminal, in one direction. */
export const cells: v.GenericSchema<number> = v.pipe(
  v.number("must be a number of cells"),
  v.integer("must be a whole number of cells"),
  v.minValue(1, "must be 1 to 1000 cells"),
  v.maxValue(1000, "must be 1 to 1000 cells"),
);

export const text: v.GenericSchema<string> = v.pipe(
  v.string("must be a string"),
  v.nonEmpty("must not be empty"),
);

export const flag: v.GenericSchema<boolean> = v.boolean("must be true or false");

/** A program and its arguments. */
export const argv: v.GenericSchema<readonly [string, ...string[]]> = v.custom(
  (value) =>
    v.is(v.pipe(v.array(v.string()), v.minLength(1)), value) && (value as string[])[0] !== "",
  "must be a program and its arguments: an array of strings",
);

export function oneOf<const T extends readonly string[]>(
  ...options: T
): v.GenericSchema<T[number]> {
  const names = options.map((option) => JSON.stringify(option));
  return v.picklist(options, `must be ${names.join(" or ")}`);
}
