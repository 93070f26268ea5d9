/** Suggests corrections of a misspelled word. */

/** The candidates that differ by at most two letters, the nearest first. */
export function nearest(text: string, candidates: readonly string[]): readonly string[] {
  return candidates
    .map((one) => ({ one, away: distance(one.toLowerCase(), text.toLowerCase()) }))
    .filter(({ one, away }) => away <= Math.min(2, Math.max(one.length, text.length) / 2))
    .toSorted((a, b) => a.away - b.away)
    .map(({ one }) => one);
}

/** The Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(
        Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)),
      );
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
