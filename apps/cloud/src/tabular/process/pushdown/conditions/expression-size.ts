/** Limits the size of expressions that are examined for each file and series, on the thread that all queries share. */
import { type BsonValue, type Expr, partsOf } from '@platform/query';

const mostParts = 2_000;

export function isSmall(expr: Expr, most: number = mostParts): boolean {
  return smallPrefix([expr], most) === 1;
}

/** How many expressions, from the first on, are small enough together. */
export function smallPrefix(exprs: readonly Expr[], most: number = mostParts): number {
  let left = most;
  const spend = (expr: Expr): boolean => {
    if (left-- <= 0) return false;
    if (expr.k === 'lit') left -= sizeOf(expr.value);
    return left >= 0 && partsOf(expr).every(spend);
  };
  const end = exprs.findIndex((expr) => !spend(expr));
  return end < 0 ? exprs.length : end;
}

/** The length of a list; for a text, the cost of comparing it. */
function sizeOf(value: BsonValue | undefined): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + 1 + sizeOf(each), 0);
  return typeof value === 'string' ? value.length >> 8 : 0;
}
