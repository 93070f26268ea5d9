/**
 * Splits a plan in two by its stages alone: `pre` runs over the rows of each source, and `post` then runs once over all results, in the
 * order of the sources. Together they mean the same as the plan, except that merged groups come in the order of their keys.
 */

import type { Expr } from '../expr.ts';
import { decomposes } from '../partial-state.ts';
import { conjuncts } from '../path-filter.ts';
import { isReadOnce } from '../sources-of.ts';
import type { GroupStage, MergeStage, Plan, RowStage, SortStage, Stage } from '../stage.ts';
import { countDistinct } from './count-distinct.ts';
import { eliminateSort, type UnsortedGroup } from './eliminate-sort.ts';

export interface PlanSplit {
  /** Conditions that hold for every row that passes the filters of `pre`; a source may return any superset. */
  readonly where: readonly Expr[];
  /**
   * How `pre` ends: with its filters ('rows'), with partial groups (plan/partial-state.ts), with the first rows of an order, stable, or
   * with one new row for each row.
   */
  readonly end: 'rows' | GroupStage | (SortStage & { readonly top: number }) | RowStage;
  /** Filters, then the end. */
  readonly pre: readonly Stage[];
  readonly post: readonly Stage[];
}

export function splitPlan(plan: Plan): PlanSplit {
  if (!isReadOnce(plan)) return { where: [], end: 'rows', pre: [], post: plan.stages };
  const stages = countDistinct(plan.stages);
  const found = stages.findIndex((stage) => stage.k !== 'filter');
  const count = found < 0 ? stages.length : found;
  const filters = stages.slice(0, count);
  const rest = stages.slice(count);
  const where = filters.flatMap((stage) => (stage.k === 'filter' ? conjuncts(stage.where) : []));
  const grouped = decomposed(rest);
  if (grouped !== undefined) {
    const { group } = grouped;
    const { at, sortAt } = group;
    const end: GroupStage = { ...group, partial: true };
    const merge: MergeStage = {
      k: 'merge',
      accumulators: group.accumulators,
      ...(at && { at }),
      ...(sortAt && { sortAt }),
    };
    return { where, end, pre: [...filters, end], post: [merge, ...grouped.after] };
  }
  const [first] = rest;
  if (first?.k === 'sort' && first.top !== undefined) {
    const end = { ...first, top: first.top };
    return { where, end, pre: [...filters, end], post: rest };
  }
  if (first !== undefined && isRowStage(first))
    return { where, end: first, pre: [...filters, first], post: rest.slice(1) };
  return { where, end: 'rows', pre: filters, post: rest };
}

/** A stage that makes one new row from each row and names all of its fields. */
function isRowStage(stage: Stage): stage is RowStage {
  if (stage.k === 'shape') return stage.mode === 'include';
  return stage.k === 'replace' && stage.with.k === 'doc';
}

/** Stages that begin with a group whose accumulators decompose, and the rest. */
function decomposed(stages: readonly Stage[]): UnsortedGroup | undefined {
  const [first, second, ...others] = stages;
  if (first?.k === 'group') {
    const all = first.accumulators.every(([, accumulator]) => decomposes(accumulator));
    return all ? { group: first, after: stages.slice(1) } : undefined;
  }
  if (first?.k !== 'sort' || second?.k !== 'group') return undefined;
  const found = eliminateSort(first, second);
  return found && { group: found.group, after: [...found.after, ...others] };
}
