/** Counts of cases by names. */
import type { CheckedCase } from './check-case.ts';

export interface Count {
  passed: number;
  cases: number;
}

/** A suite whose expectations are another implementation's own results; it does not count towards rates. */
export const apartSource = 'microsoft/documentdb regress';

export class Tally {
  readonly all: Count = { passed: 0, cases: 0 };
  readonly bySource: Map<string, Count> = new Map();
  readonly byGroup: Map<string, Count> = new Map();
  readonly byStage: Map<string, Count> = new Map();
  readonly byOperator: Map<string, Count> = new Map();
  readonly byKind: Map<string, Count> = new Map();
  readonly excluded: Map<string, number> = new Map();

  add(checked: CheckedCase): void {
    const { verdict, reason, source, group, stages, operators, kind } = checked;
    if (verdict === 'excluded') {
      const key = reason ?? '';
      this.excluded.set(key, (this.excluded.get(key) ?? 0) + 1);
      return;
    }
    const passed = verdict === 'passed';
    count(this.all, passed);
    countIn(this.bySource, source, passed);
    countIn(this.byGroup, group || (source === apartSource ? 'apart' : 'sql'), passed);
    countIn(this.byKind, kind, passed);
    for (const stage of stages) countIn(this.byStage, stage, passed);
    for (const operator of operators) countIn(this.byOperator, operator, passed);
  }
}

function countIn(counts: Map<string, Count>, name: string, passed: boolean): void {
  const found = counts.get(name) ?? { passed: 0, cases: 0 };
  counts.set(name, found);
  count(found, passed);
}

function count(into: Count, passed: boolean): void {
  into.cases++;
  if (passed) into.passed++;
}

/** How many failures are named without `--list`, and how many operators with the most failures are shown. */
const namedFailures = 20;
const shownOperators = 40;
const longestText = 1500;

/** The readable output of a run. */
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
