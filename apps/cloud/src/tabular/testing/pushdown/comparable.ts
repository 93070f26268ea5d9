/** How far the language defines the answer of a plan. */
import type { Plan, Stage } from '@platform/query';

/** Behind a limit no one looks, but rows are computed in batches: whether one there fails the query is left open. */
export function isLimited({ stages }: Plan): boolean {
  return stages.some((stage) => stage.k === 'slice' && stage.limit !== undefined);
}

/** Groups may come in any order: then what follows must not depend on it, or the answer is not defined. */
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
