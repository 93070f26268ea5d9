/**
 * Which queries ask nothing of rows but how many there are of a series, and their least and greatest times: footers of files and facts of
 * rows in memory say that. Nothing here loads DuckDB: the process that queues queries asks it, too.
 */
import { canFail, type Expr, type PlanSplit } from '@platform/query';
import { smallPrefix } from '../conditions/expression-size.ts';
import { splitFilter } from '../conditions/split-filter.ts';
import { isOfSeries } from '../series/series-values.ts';
import { factsGroup } from './group-facts.ts';

export interface FilterParts {
  /** Parts of the filters before the split, in their order. */
  readonly parts: readonly Expr[];
  /** How many of them come before the first that can fail, or is too large to be looked at for each file. */
  readonly sure: number;
}

export function filterParts(split: PlanSplit): FilterParts {
  const parts = split.pre.flatMap((stage) => (stage.k === 'filter' ? splitFilter(stage.where) : []));
  const small = parts.slice(0, smallPrefix(parts));
  const failing = small.findIndex((part) => !isOfSeries(part) && canFail(part));
  return { parts, sure: failing < 0 ? small.length : failing };
}

export function keepsBySeries({ parts, sure }: FilterParts): boolean {
  return sure === parts.length && parts.every(isOfSeries);
}

export function isFactsOnly(split: PlanSplit): boolean {
  return factsGroup(split.end) !== undefined && keepsBySeries(filterParts(split));
}
