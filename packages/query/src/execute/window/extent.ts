/** The first and last row of each row's window. Neither end ever moves back. */

import type { BsonValue } from '../../bson/value.ts';
import type { Bound, WindowFrame } from '../../plan/window.ts';
import { valueAt } from '../expressions/path.ts';
import { type Partition, sortPath } from './partition.ts';
import { checkRangeValue, thresholdOf } from './threshold.ts';

/** The first row and the one after the last; equal if the window is empty. */
export interface Extent {
  readonly from: number;
  readonly to: number;
}

/** Called once for each index, from 0 upwards. */
export function extents(frame: WindowFrame, partition: Partition): (index: number) => Extent {
  if (frame.k === 'range') return rangeExtents(frame, partition);
  const count = partition.documents.length;
  const [lower, upper] = [offset(frame.lower), offset(frame.upper)];
  return (index) => {
    const from = lower === undefined ? 0 : Math.min(Math.max(index + lower, 0), count);
    const to = upper === undefined ? count : Math.min(Math.max(index + upper + 1, 0), count);
    return { from, to: Math.max(from, to) };
  };
}

function offset(bound: Bound<number>): number | undefined {
  if (bound === 'unbounded') return undefined;
  return bound === 'current' ? 0 : bound;
}

function rangeExtents(frame: WindowFrame & { k: 'range' }, partition: Partition): (index: number) => Extent {
  const { lower, upper, unit } = frame;
  const path = sortPath(partition.by);
  const values = partition.documents.map((document) => checkRangeValue(valueAt(document, path), unit));
  let from = 0;
  let to = 0;
  return (index) => {
    const base = values[index]!;
    if (lower === 'current') from = index;
    else if (lower !== 'unbounded') {
      const compare = thresholdOf(base, lower.value as BsonValue, unit);
      while (from < values.length && compare(values[from]!) < 0) from++;
    }
    if (upper === 'current') to = index + 1;
    else if (upper === 'unbounded') to = values.length;
    else {
      const compare = thresholdOf(base, upper.value as BsonValue, unit);
      to = Math.max(to, from);
      while (to < values.length && compare(values[to]!) <= 0) to++;
    }
    return { from, to: Math.max(from, to) };
  };
}
