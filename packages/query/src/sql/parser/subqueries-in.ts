/** Whether an expression, or a SELECT outside FROM, has subqueries. */

import { expressionsOf, partsOf, type Select, type SqlNode } from './ast.ts';

export function hasSubquery(part: SqlNode | Select): boolean {
  if (part.k !== 'select') return part.k === 'subquery' || partsOf(part).some(hasSubquery);
  return [
    ...expressionsOf(part.items),
    ...(part.groupBy ?? []).map(({ value }) => value),
    ...part.aggregates.map(({ value }) => value),
    ...part.orderBy.map(({ value }) => value),
    ...[part.where, part.having].filter((node) => node !== undefined),
  ].some(hasSubquery);
}
