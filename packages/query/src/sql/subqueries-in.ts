/** Whether an expression, or a SELECT outside of FROM, has subqueries. */

import type { Select, SqlNode } from './ast.ts';

export function hasSubquery(part: SqlNode | Select): boolean {
  switch (part.k) {
    case 'select':
      return [
        ...part.items.flatMap((item) => (item.k === 'expression' ? [item.value] : [])),
        ...(part.groupBy ?? []).map(({ value }) => value),
        ...part.aggregates.map(({ value }) => value),
        ...part.orderBy.map(({ value }) => value),
        ...[part.where, part.having].filter((node) => node !== undefined),
      ].some(hasSubquery);
    case 'subquery':
      return true;
    case 'call':
      return part.args.some(hasSubquery);
    case 'document':
      return part.fields.some(([, value]) => hasSubquery(value));
    case 'access':
    case 'assert':
      return hasSubquery(part.of);
    case 'aggregate':
      return part.arg !== undefined && hasSubquery(part.arg);
    case 'literal':
    case 'column':
      return false;
  }
}
