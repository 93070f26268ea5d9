/** The name that was probably meant by a misspelled one; undefined if none is near. */
export function closestName(given: string, names: readonly string[]): string | undefined {
  const near = names
    .map((name) => ({ name, steps: distance(given.toLowerCase(), name) }))
    .filter(({ name, steps }) => steps <= Math.max(1, Math.floor(name.length / 3)));
  return near.toSorted((a, b) => a.steps - b.steps)[0]?.name;
}

/** The number of insertions, deletions, replacements and swaps of neighbouring letters that turn one text into the other. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const at = (y: number, x: number): number => rows[y]?.[x] ?? row[x] ?? 0;
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(at(i - 1, j) + 1, (row[j - 1] ?? 0) + 1, at(i - 1, j - 1) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, at(i - 2, j - 2) + 1);
      row.push(least);
    }
    rows.push(row);
  }
  return rows[a.length]?.[b.length] ?? 0;
}
