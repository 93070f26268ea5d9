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
