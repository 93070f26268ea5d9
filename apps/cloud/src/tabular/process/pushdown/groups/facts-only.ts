/**
 * Recognises queries that only need the number of rows of a series and their least and greatest times. These are in the footers of files
 * and in the facts of rows in memory. Nothing here loads DuckDB, because the process that queues queries also uses this module.
 */
import { canFail, type Expr, type PlanSplit } from '@platform/query';
import { smallPrefix } from '../conditions/expression-size.ts';
import { splitFilter } from '../conditions/split-filter.ts';
import { isOfSeries } from '../series/series-values.ts';
import { factsGroup } from './group-facts.ts';

export interface FilterParts {
  /** Parts of the filters before the split, in order. */
  readonly parts: readonly Expr[];
  /** How many parts precede the first one that can fail or is too large to examine for each file. */
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
