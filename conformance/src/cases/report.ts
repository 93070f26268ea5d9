/** The readable output of a run. */

import type { CheckedCase } from './check-case.ts';
import { apartSource, type Count, type Tally } from './tally.ts';

/** How many failures are named without `--list`, and how many operators with the most failures are shown. */
const namedFailures = 20;
const shownOperators = 40;
const longestText = 1500;

export function tallyLines(title: string, tally: Tally): string[] {
  const { passed, cases } = tally.all;
  const excluded = [...tally.excluded.values()].reduce((sum, each) => sum + each, 0);
  return [
    `${title}: ${rate(tally.all)}${excluded > 0 ? `, ${excluded} excluded` : ''}`,
    ...(cases === passed ? [] : [`  ${cases - passed} failed`]),
    ...section('by source', tally.bySource),
    ...section('by group', tally.byGroup),
    ...section('by kind', tally.byKind),
    ...section('by stage', tally.byStage),
    ...section(`by operator, at most ${shownOperators} with failures`, worst(tally.byOperator)),
    ...[...tally.excluded].map(([reason, count]) => `  excluded ${count}: ${reason}`),
  ];
}

export function failureLines(failed: readonly CheckedCase[], all: boolean): string[] {
  if (failed.length === 0) return [];
  const named = all ? failed : failed.slice(0, namedFailures);
  const rest = failed.length - named.length;
  return [
    `failed:`,
    ...named.map(({ name, source }) => `  ${name}${source === apartSource ? ` (${source})` : ''}`),
    ...(rest > 0 ? [`  … and ${rest} more (--list names them, --show N shows the first N)`] : []),
  ];
}

export function detailLines({ name, msg, details }: CheckedCase): string[] {
  if (details === undefined) return [];
  const { docs, query, expected, actual } = details;
  return [
    '',
    name,
    ...(msg === '' ? [] : [`  ${msg}`]),
    ...Object.entries({ docs, query, expected, actual }).map(([what, text]) => `  ${what.padEnd(8)} ${cut(text)}`),
  ];
}

function section(title: string, counts: ReadonlyMap<string, Count>): string[] {
  if (counts.size === 0) return [];
  const sorted = [...counts].sort(([left], [right]) => (left < right ? -1 : 1));
  return [`  ${title}`, ...sorted.map(([name, count]) => `    ${name.padEnd(34)} ${rate(count)}`)];
}

function worst(counts: ReadonlyMap<string, Count>): Map<string, Count> {
  const failures = ({ passed, cases }: Count): number => cases - passed;
  const withFailures = [...counts].filter(([, count]) => failures(count) > 0);
  return new Map(withFailures.sort(([, a], [, b]) => failures(b) - failures(a)).slice(0, shownOperators));
}

function rate({ passed, cases }: Count): string {
  const percent = cases === 0 ? '' : ` (${((100 * passed) / cases).toFixed(1)} %)`;
  return `${passed}/${cases}${percent}`;
}

function cut(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText)} … (${text.length} characters)`;
}
