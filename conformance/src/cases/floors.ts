/** Rates below which the run fails. Only names with ten cases or more are held to theirs. */

import { readFileSync } from 'node:fs';
import type { Count, Tally } from './tally.ts';

export interface Floors {
  readonly groups: Readonly<Record<string, number>>;
  readonly stages: Readonly<Record<string, number>>;
  readonly operators: Readonly<Record<string, number>>;
  readonly kinds: Readonly<Record<string, number>>;
}

const leastCases = 10;

export function readFloors(): Floors {
  return JSON.parse(readFileSync(new URL('./floors.json', import.meta.url), 'utf8')) as Floors;
}

/** One line for each rate that is below its floor. `*` in the floors is for all names that have none of their own. */
export function belowFloors(tally: Tally, floors: Floors): string[] {
  return [
    ...below('group', tally.byGroup, floors.groups),
    ...below('stage', tally.byStage, floors.stages),
    ...below('operator', tally.byOperator, floors.operators),
    ...below('kind', tally.byKind, floors.kinds),
  ];
}

function below(what: string, counts: ReadonlyMap<string, Count>, floors: Readonly<Record<string, number>>): string[] {
  const found: string[] = [];
  for (const [name, { passed, cases }] of counts) {
    const floor = floors[name] ?? floors['*'];
    if (floor === undefined || cases < leastCases || passed >= floor * cases) continue;
    found.push(`${what} ${name}: ${passed}/${cases} is below its floor of ${(floor * 100).toFixed(1)} %`);
  }
  return found;
}
