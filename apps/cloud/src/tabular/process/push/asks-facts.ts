/**
 * Which queries ask nothing of rows but how many there are of a series, and their least and greatest times: footers of files and facts of
 * rows in memory say that. Nothing here loads DuckDB: the process that queues queries asks it, too.
 */
import type { Cut, Expr } from '@platform/query';
import { canFail } from './can-fail.ts';
import { factsGroup } from './group-facts.ts';
import { smallPrefix } from './is-small.ts';
import { isOfSeries } from './series-values.ts';
import { splitFilter } from './split-filter.ts';

export interface FilterParts {
  /** Parts of the filters before the cut, in their order. */
  readonly parts: readonly Expr[];
  /** How many of them come before the first that can fail, or is too large to be looked at for each file. */
  readonly sure: number;
}

export function filterParts(cut: Cut): FilterParts {
  const parts = cut.pre.flatMap((stage) => (stage.k === 'filter' ? splitFilter(stage.where) : []));
  const small = parts.slice(0, smallPrefix(parts));
  const failing = small.findIndex((part) => !isOfSeries(part) && canFail(part));
  return { parts, sure: failing < 0 ? small.length : failing };
}

export function keepsBySeries({ parts, sure }: FilterParts): boolean {
  return sure === parts.length && parts.every(isOfSeries);
}

export function asksFacts(cut: Cut): boolean {
  return factsGroup(cut.end) !== undefined && keepsBySeries(filterParts(cut));
}
