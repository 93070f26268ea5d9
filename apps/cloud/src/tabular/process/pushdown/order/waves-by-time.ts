/** Orders files by when their rows can be first in an order by time, so that files without such rows need not be read. */
import { BsonDate, type BsonValue, isTimeColumn, type SortKey } from '@platform/query';
import type { SeriesFacts } from '../../files/file-facts.ts';
import { timeFacts } from '../conditions/operand.ts';
import { millisecondsOf } from '../groups/group-states.ts';
import type { OpenFile } from '../open-files.ts';

/** Files in the first wave; each later wave has as many as all before it. */
const firstWave = 4;

export interface Waves {
  /** Indexes of files; files whose rows may come first are in earlier waves. */
  readonly places: readonly (readonly number[])[];
  /** Whether every row of this wave and later ones comes after a row with this first key. */
  isPast(wave: number, key: BsonValue | undefined): boolean;
}

/** Undefined if the order does not begin with a time, or there are so few files that they are read at once. */
export function wavesByTime(files: readonly OpenFile[], by: readonly SortKey[]): Waves | undefined {
  const [first] = by;
  const [column = '', ...below] = first?.path ?? [];
  if (first === undefined || !isTimeColumn(column) || below.length > 0 || files.length <= firstWave) return undefined;
  const { descending } = first;
  const bounds = files.map((file) => boundOf(file, timeFacts[column], descending));
  const sign = descending ? -1 : 1;
  const order = [...files.keys()].sort((a, b) => compare(bounds[a] as number, bounds[b] as number) * sign || a - b);
  const places: number[][] = [];
  for (let at = 0; at < order.length; ) {
    const end = at === 0 ? firstWave : at * 2;
    places.push(order.slice(at, end));
    at = end;
  }
  return {
    places,
    isPast(wave, key) {
      const next = places[wave]?.[0];
      if (next === undefined || !(key instanceof BsonDate)) return false;
      // Among equal times, other keys or the order of files decide.
      return compare(bounds[next] as number, key.ms) * sign > 0;
    },
  };
}

function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Milliseconds before which, in the order, no wanted row of the file comes. A row without the time precedes all that have one. */
function boundOf(
  { facts, wanted }: OpenFile,
  name: (typeof timeFacts)[keyof typeof timeFacts],
  latest: boolean,
): number {
  let bound = latest ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  for (const number of wanted) {
    const { min, max, missing } = (facts.series[number] as SeriesFacts)[name];
    if (latest) {
      if (max !== null) bound = Math.max(bound, millisecondsOf(max));
    } else if (missing > 0) bound = Number.NEGATIVE_INFINITY;
    else if (min !== null) bound = Math.min(bound, millisecondsOf(min));
  }
  return bound;
}
