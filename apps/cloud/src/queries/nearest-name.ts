/** The nearest of known names: one that differs in a few letters, or has the same last part. */

const longest = 128;

/** @returns undefined if none is near enough to be meant */
export function nearestName(text: string, known: Iterable<string>): string | undefined {
  if (text.length > longest) return undefined;
  const wanted = text.toLowerCase();
  const last = wanted.slice(wanted.lastIndexOf('.') + 1);
  let best: string | undefined;
  let sameLast: string | undefined;
  let least = Math.max(2, Math.floor(text.length / 5)) + 1;
  for (const name of known) {
    if (name.length > longest) continue;
    const candidate = name.toLowerCase();
    if (candidate.slice(candidate.lastIndexOf('.') + 1) === last) sameLast ??= name;
    const found = distance(wanted, candidate, least);
    if (found < least) [best, least] = [name, found];
  }
  // A single missing letter is nearer than a missing part.
  return best !== undefined && (least <= 2 || sameLast === undefined) ? best : sameLast;
}

/** The Levenshtein distance, or `limit` if it is not less. */
function distance(left: string, right: string, limit: number): number {
  if (Math.abs(left.length - right.length) >= limit) return limit;
  let start = 0;
  while (start < left.length && left[start] === right[start]) start++;
  let [a, b] = [left.slice(start), right.slice(start)];
  while (a !== '' && a.at(-1) === b.at(-1)) [a, b] = [a.slice(0, -1), b.slice(0, -1)];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const here = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      here.push(Math.min(replaced, (above[column] ?? 0) + 1, (here[column - 1] ?? 0) + 1));
    }
    if (Math.min(...here) >= limit) return limit;
    above = here;
  }
  return above[b.length] ?? 0;
}
