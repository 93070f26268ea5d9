/** The aggregates that a SELECT asks for outside AGGREGATE, in the order in which they appear; not those of subqueries. */

import { partsOf, type Select, type SqlAggregate, type SqlNode } from './ast.ts';

export function aggregatesIn(select: Pick<Select, 'items' | 'having' | 'orderBy'>): SqlAggregate[] {
  const found: SqlAggregate[] = [];
  const gather = (node: SqlNode): void => {
    if (node.k === 'aggregate') found.push(node);
    else partsOf(node).forEach(gather);
  };
  for (const item of select.items) if (item.k === 'expression') gather(item.value);
  if (select.having !== undefined) gather(select.having);
  for (const item of select.orderBy) gather(item.value);
  return found;
}
