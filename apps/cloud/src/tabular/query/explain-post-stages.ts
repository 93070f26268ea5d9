/** The stages of a query that run once, on the combined output of all sources, with the reasons. */
import { decomposes, isReadOnce, type Plan, type PlanSplit, type Stage } from '@platform/query';
import type { NotPushed } from '../tabular.ts';

export function explainPostStages(plan: Plan, { end, post }: PlanSplit): readonly NotPushed[] {
  if (!isReadOnce(plan))
    return plan.stages.map((stage) => ({ part: nameOf(stage), why: 'rows are read in several places' }));
  const stages = post.filter(({ k }) => k !== 'merge');
  const isSort = end !== 'rows' && end.k === 'sort';
  const rest = isSort ? stages.slice(1) : stages;
  const [first, ...others] = rest;
  if (first === undefined) return [];
  if (isSort && first.k === 'slice') return later(others, 'after the limit');
  if (end !== 'rows')
    return later(rest, end.k === 'group' ? 'over the groups of all sources' : 'over the resulting rows');
  return [{ part: nameOf(first), why: reasonFor(first) }, ...later(others, `behind ${nameOf(first)}`)];
}

function later(stages: readonly Stage[], where: string): readonly NotPushed[] {
  return stages.map((stage) => ({ part: nameOf(stage), why: `it runs once, ${where}` }));
}

/** For stages after the filters that never run where the rows are stored. */
function reasonFor(stage: Stage): string {
  switch (stage.k) {
    case 'group': {
      const fns = stage.accumulators.flatMap(([, accumulator]) => (decomposes(accumulator) ? [] : [accumulator.fn]));
      const named = stage.at === undefined ? [] : fns.map((fn) => `$${fn}`);
      return `${named.length > 0 ? named.join(', ') : 'its result'} depends on the order of all rows`;
    }
    case 'sort':
      return 'all rows are sorted together; with a limit, each source returns its first rows';
    case 'slice':
      return 'rows of all sources are counted together';
    case 'shape':
      return 'rows keep fields that it does not name, and these have no columns';
    case 'replace':
      return 'the replacement of the row is not a list of fields';
    case 'unwind':
      return 'it turns one row into several';
    case 'sample':
      return 'rows are drawn from all sources together';
    case 'filter':
    case 'redact':
    case 'geoNear':
      return 'it reads the documents of the rows';
    default:
      return 'it needs the rows of all sources together';
  }
}

/** The stage's name in the query language; clauses of a SQL statement are identified by these names. */
function nameOf(stage: Stage): string {
  if (stage.k === 'filter' && stage.at === undefined && stage.where.k === 'call') return stage.where.at;
  return stage.at?.stageName ?? names[stage.k] ?? `$${stage.k}`;
}

const names: Readonly<Partial<Record<Stage['k'], string>>> = {
  filter: '$match',
  shape: '$project',
  replace: '$project',
  slice: '$limit',
};
