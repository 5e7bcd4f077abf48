/** Reproducible randomness: the same seed gives the same cases on every machine. */

export interface Random {
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number;
  pick<T>(choices: readonly T[]): T;
}

/** Mulberry32: 32 bits of state are plenty for test cases. */
export function random(seed: number): Random {
  let state = seed;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
  return { below, pick: (choices) => choices[below(choices.length)] as (typeof choices)[number] };
}
