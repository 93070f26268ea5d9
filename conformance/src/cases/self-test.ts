/** Tests whether the comparison notices falsified expectations: 200 of them, distributed evenly over kinds and cases. */

import type { CheckedCase } from './check-case.ts';
import { type Alteration, alterations } from './mutate-case.ts';

const wanted = 200;

export interface SelfTestResult {
  readonly tried: number;
  readonly noticed: number;
  /** Names of cases with the alteration that was not noticed. */
  readonly missed: readonly string[];
  readonly byAlteration: ReadonlyMap<Alteration, number>;
}

export function selfTest(checked: readonly CheckedCase[]): SelfTestResult {
  const candidates = new Map(alterations.map((each): [Alteration, Candidate[]] => [each, []]));
  for (const { name, alterations: tried } of checked) {
    for (const { alteration, noticed } of tried) candidates.get(alteration)?.push({ name, noticed });
  }
  const quotas = shares(alterations.map((each) => candidates.get(each)!.length));
  const missed: string[] = [];
  const byAlteration = new Map<Alteration, number>();
  for (const [index, alteration] of alterations.entries()) {
    const chosen = evenly(candidates.get(alteration)!, quotas[index]!);
    byAlteration.set(alteration, chosen.length);
    missed.push(...chosen.filter(({ noticed }) => !noticed).map(({ name }) => `${name}: ${alteration}`));
  }
  const tried = [...byAlteration.values()].reduce((sum, each) => sum + each, 0);
  return { tried, noticed: tried - missed.length, missed, byAlteration };
}

interface Candidate {
  readonly name: string;
  readonly noticed: boolean;
}

/** How many of each kind: as equal as the available numbers allow, and together at most as many as wanted. */
function shares(available: readonly number[]): number[] {
  const given = available.map(() => 0);
  for (let left = wanted; left > 0; ) {
    const open = available.map((_, index) => index).filter((index) => given[index]! < available[index]!);
    if (open.length === 0) break;
    for (const index of open.slice(0, left)) given[index]!++;
    left -= Math.min(open.length, left);
  }
  return given;
}

function evenly<T>(from: readonly T[], count: number): T[] {
  return Array.from({ length: count }, (_, index) => from[Math.floor((index * from.length) / count)]!);
}
