/** Rates below which the run fails. They apply only to names with at least ten cases. */

import { readFileSync } from 'node:fs';
import type { Count, Tally } from './tally.ts';

export interface PassRates {
  readonly groups: Readonly<Record<string, number>>;
  readonly stages: Readonly<Record<string, number>>;
  readonly operators: Readonly<Record<string, number>>;
  readonly kinds: Readonly<Record<string, number>>;
}

const leastCases = 10;

export function readPassRates(): PassRates {
  return JSON.parse(readFileSync(new URL('./pass-rates.json', import.meta.url), 'utf8')) as PassRates;
}

/** One line for each rate below its minimum. `*` in the rates applies to all names without a specific one. */
export function belowRates(tally: Tally, rates: PassRates): string[] {
  return [
    ...below('group', tally.byGroup, rates.groups),
    ...below('stage', tally.byStage, rates.stages),
    ...below('operator', tally.byOperator, rates.operators),
    ...below('kind', tally.byKind, rates.kinds),
  ];
}

function below(what: string, counts: ReadonlyMap<string, Count>, rates: Readonly<Record<string, number>>): string[] {
  const found: string[] = [];
  for (const [name, { passed, cases }] of counts) {
    const minimum = rates[name] ?? rates['*'];
    if (minimum === undefined || cases < leastCases || passed >= minimum * cases) continue;
    found.push(`${what} ${name}: ${passed}/${cases} is below its minimum of ${(minimum * 100).toFixed(1)} %`);
  }
  return found;
}
