/** The aggregates in expressions, in order of appearance, without those in subqueries. */

import { partsOf, type SqlAggregate, type SqlNode } from './ast.ts';

export function aggregatesIn(nodes: readonly SqlNode[]): SqlAggregate[] {
  return nodes.flatMap((node) => (node.k === 'aggregate' ? [node] : aggregatesIn(partsOf(node))));
}
