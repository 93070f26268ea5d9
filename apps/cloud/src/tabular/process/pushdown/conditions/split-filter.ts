/** Splits a condition into parts that must all hold, in the order in which the executor evaluates them. */
import type { Expr } from '@platform/query';

export function splitFilter(where: Expr): readonly Expr[] {
  if (where.k !== 'call') return [where];
  if (where.fn === 'match.expr') return splitFilter(where.args[0] as Expr);
  if (where.fn === 'match.and' || where.fn === 'agg.and') return where.args.flatMap(splitFilter);
  // SQL's AND rejects values that are not booleans; a part alone would not.
  if (where.fn === 'sql.and' && where.args.every((arg) => arg.k === 'call')) return where.args.flatMap(splitFilter);
  return [where];
}
