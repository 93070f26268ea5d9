/** The warning for a key that the schema does not know: names the known key that is closest to it, and a few others. */

import type { Problem } from '@platform/base';
import { formatValue } from './format-value.ts';

const maxOthers = 8;
/** Characters of a key used for the distance: known keys are shorter. */
const maxCompared = 32;

export function unknownKey(path: string, key: string, known: readonly string[]): Problem {
  const closest = closestOf(key.slice(0, maxCompared), known);
  const others = known.filter((one) => one !== closest);
  const left = others.length - maxOthers;
  const list = [...(closest === undefined ? [] : [closest]), ...others.slice(0, maxOthers)].join(', ');
  const expected = list === '' ? 'no keys' : `one of ${list}${left > 0 ? ` and ${left} more` : ''}`;
  const hint = closest === undefined ? '' : ` (closest: ${closest})`;
  const message = `expected ${expected}, found ${formatValue(key)}${hint}: this key has no effect`;
  return { path, level: 'warning', message };
}

/** Of several equally close ones, the first; undefined if none resembles the key: more than half of its letters differ. */
function closestOf(key: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(key.length / 2)) + 1;
  for (const one of known) {
    if (Math.abs(one.length - key.length) >= least) continue;
    const found = distance(key.toLowerCase(), one.toLowerCase());
    if (found < least) [best, least] = [one, found];
  }
  return best;
}

/** Levenshtein distance: the number of letters added, removed or replaced. */
function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const here = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      here.push(Math.min(replaced, (above[column] ?? 0) + 1, (here[column - 1] ?? 0) + 1));
    }
    above = here;
  }
  return above[b.length] ?? 0;
}
