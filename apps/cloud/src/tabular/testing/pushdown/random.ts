/** Seeded random numbers: the same seed gives the same cases on any computer. */

export interface Random {
  /** From 0 to below 1. */
  next(): number;
  /** An integer from 0 to below the bound. */
  int(below: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** In random order, each at most once. */
  some<T>(from: readonly T[], atLeast: number, atMost: number): T[];
  shuffled<T>(from: readonly T[]): T[];
  list<T>(atLeast: number, atMost: number, make: () => T): T[];
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number): number => Math.floor(next() * below);
  const shuffled = <T>(from: readonly T[]): T[] => {
    const all = [...from];
    for (let at = all.length - 1; at > 0; at--) {
      const other = int(at + 1);
      [all[at], all[other]] = [all[other] as T, all[at] as T];
    }
    return all;
  };
  const between = (atLeast: number, atMost: number): number => atLeast + int(atMost - atLeast + 1);
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick: (from) => from[int(from.length)] as (typeof from)[number],
    some: (from, atLeast, atMost) => shuffled(from).slice(0, between(atLeast, atMost)),
    shuffled,
    list: (atLeast, atMost, make) => Array.from({ length: between(atLeast, atMost) }, make),
  };
}
