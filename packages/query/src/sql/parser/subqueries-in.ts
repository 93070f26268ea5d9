/** Whether an expression, or a SELECT outside FROM, has subqueries. */

import { partsOf, type Select, type SqlNode } from './ast.ts';

export function hasSubquery(part: SqlNode | Select): boolean {
  if (part.k !== 'select') return part.k === 'subquery' || partsOf(part).some(hasSubquery);
  return [
    ...part.items.flatMap((item) => (item.k === 'expression' ? [item.value] : [])),
    ...(part.groupBy ?? []).map(({ value }) => value),
    ...part.aggregates.map(({ value }) => value),
    ...part.orderBy.map(({ value }) => value),
    ...[part.where, part.having].filter((node) => node !== undefined),
  ].some(hasSubquery);
}
