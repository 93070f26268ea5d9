/** How far the language defines the answer of a plan. */
import type { Plan, Stage } from '@platform/query';

/** Rows after a limit are not used, but rows are computed in batches, so it is undefined whether a failing row there fails the query. */
export function isLimited({ stages }: Plan): boolean {
  return stages.some((stage) => stage.k === 'slice' && stage.limit !== undefined);
}

/** Groups may come in any order, so the answer is only defined if later stages do not depend on that order. */
export function orderOf({ stages }: Plan): 'in order' | 'in any order' | undefined {
  const reordered = stages.findIndex(({ k }) => k === 'group' || k === 'sample');
  if (reordered < 0) return 'in order';
  return stages.slice(reordered + 1).every(isFree) ? 'in any order' : undefined;
}

function isFree(stage: Stage): boolean {
  if (stage.k === 'group')
    return stage.accumulators.every(([, { fn }]) => fn === 'count' || fn === 'min' || fn === 'max');
  return stage.k === 'filter' || stage.k === 'shape' || stage.k === 'replace' || stage.k === 'sort';
}
