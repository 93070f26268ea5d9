/** The aggregates that a SELECT asks for outside of AGGREGATE, in the order in which they appear; not those of subqueries. */

import type { Select, SqlAggregate, SqlNode } from './ast.ts';

export function aggregatesIn(select: Pick<Select, 'items' | 'having' | 'orderBy'>): SqlAggregate[] {
  const found: SqlAggregate[] = [];
  const gather = (node: SqlNode): void => {
    switch (node.k) {
      case 'aggregate':
        found.push(node);
        return;
      case 'call':
        node.args.forEach(gather);
        return;
      case 'document':
        for (const [, value] of node.fields) gather(value);
        return;
      case 'access':
      case 'assert':
        gather(node.of);
        return;
      case 'subquery':
        if (node.left !== undefined) gather(node.left);
        return;
      case 'literal':
      case 'column':
        return;
    }
  };
  for (const item of select.items) if (item.k === 'expression') gather(item.value);
  if (select.having !== undefined) gather(select.having);
  for (const item of select.orderBy) gather(item.value);
  return found;
}
