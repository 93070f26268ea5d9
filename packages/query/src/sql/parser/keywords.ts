/** Words that cannot be bare names, and the words with which a typing mistake is compared. */

import type { Token } from './lex.ts';

export const reserved: ReadonlySet<string> = new Set(
  `SELECT DISTINCT ALL FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET AS AND OR NOT IN BETWEEN LIKE ESCAPE IS NULL MISSING TRUE FALSE
   CASE WHEN THEN ELSE END CAST ASC DESC UNION INTERSECT EXCEPT JOIN NATURAL INNER LEFT RIGHT CROSS FULL OUTER ON USING UNWIND FLATTEN WITH EXISTS SOME ANY FETCH AGGREGATE`
    .split(/\s+/)
    .filter((word) => word !== ''),
);

/** A name that may follow without AS. */
export function isName(token: Token): boolean {
  return token.kind === 'quoted' || (token.kind === 'word' && !reserved.has(token.text.toUpperCase()));
}

/** The nearest of the candidates, if it is near enough to be meant. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

function editDistance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > 4 || left.length > 64) return 64;
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  let above: number[] = [];
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1];
      let cost = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      if (swapped) cost = Math.min(cost, above[j - 2]! + 1);
      next.push(cost);
    }
    above = row;
    row = next;
  }
  return row[right.length]!;
}
