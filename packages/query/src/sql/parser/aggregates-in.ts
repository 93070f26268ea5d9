/** The aggregates of expressions, in the order in which they appear, without those of subqueries. */

import { partsOf, type SqlAggregate, type SqlNode } from './ast.ts';

export function aggregatesIn(nodes: readonly SqlNode[]): SqlAggregate[] {
  return nodes.flatMap((node) => (node.k === 'aggregate' ? [node] : aggregatesIn(partsOf(node))));
}
