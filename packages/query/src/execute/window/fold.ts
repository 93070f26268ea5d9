/** The accumulators of $group over windows: running where the window only grows, else sliding, else computed anew. */

import { compileAccumulators } from '../../accumulators/compile-accumulators.ts';
import type { Fold } from '../../accumulators/fold.ts';
import { slidingDeviation } from '../../accumulators/sliding/deviation.ts';
import { slidingExtreme } from '../../accumulators/sliding/extreme.ts';
import { slidingPercentile } from '../../accumulators/sliding/percentile.ts';
import { slidingSet } from '../../accumulators/sliding/set.ts';
import type { Sliding } from '../../accumulators/sliding/sliding.ts';
import { slidingAvg, slidingSum } from '../../accumulators/sliding/sum.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import type { Accumulator } from '../../plan/stage.ts';
import type { WindowFunction } from '../../plan/window.ts';
import { compileExpression } from '../expressions/expression.ts';
import { extents } from './extent.ts';
import { evaluator, type Partition, type StartWalk, type Walk, type Workspace } from './partition.ts';
import { slide } from './slide.ts';

type Stage = WindowFunction & { k: 'fold' };

export function fold(fn: Stage, workspace: Workspace): StartWalk {
  const input = compileExpression(fn.accumulator.arg);
  const newFold = foldMaker(fn.accumulator, workspace);
  const { frame } = fn;
  const grows = frame.lower === 'unbounded';
  const name = fn.accumulator.fn;
  return (partition) => {
    const value = evaluator(input, partition, workspace);
    if (name === 'first' || name === 'last') return atEnd(fn, partition, value);
    if (grows && frame.upper === 'unbounded' && frame.k === 'documents') return once(newFold, partition, value);
    // A percentile sorts what it was given so far.
    if (grows && name !== 'median' && name !== 'percentile') return running(fn, newFold(), partition, value);
    if (name === 'push') return slices(fn, partition, value, workspace);
    const sliding = slidingOf(fn.accumulator, workspace);
    return sliding === undefined ? anew(fn, partition, value, workspace) : moving(fn, sliding, partition, value);
  };
}

type ValueAt = (index: number) => Maybe;

/** New folds; `hold` is told what they keep. */
function foldMaker(accumulator: Accumulator, { budget, hold }: Workspace): () => Fold {
  const compiled = compileAccumulators([['', accumulator]], budget, hold);
  return () => compiled.open(null)[0]!;
}

function once(newFold: () => Fold, { documents }: Partition, value: ValueAt): Walk {
  let result: BsonValue | undefined;
  return () => {
    if (result !== undefined) return result;
    const all = newFold();
    for (let index = 0; index < documents.length; index++) all.add(value(index), documents[index]!);
    result = all.result();
    return result;
  };
}

function running(fn: Stage, all: Fold, partition: Partition, value: ValueAt): Walk {
  const extent = extents(fn.frame, partition);
  let added = 0;
  return (index) => {
    const { to } = extent(index);
    for (; added < to; added++) all.add(value(added), partition.documents[added]!);
    return copied(all.result());
  };
}

/** The fold goes on changing what it gave. */
function copied(value: BsonValue): BsonValue {
  if (Array.isArray(value)) return [...value];
  return value instanceof BsonDocument ? new BsonDocument(value) : value;
}

function atEnd(fn: Stage, partition: Partition, value: ValueAt): Walk {
  const extent = extents(fn.frame, partition);
  return (index) => {
    const { from, to } = extent(index);
    if (from === to) return null;
    return value(fn.accumulator.fn === 'first' ? from : to - 1) ?? null;
  };
}

function slices(fn: Stage, partition: Partition, value: ValueAt, { worked }: Workspace): Walk {
  const extent = extents(fn.frame, partition);
  return (index) => {
    const { from, to } = extent(index);
    const values: BsonValue[] = [];
    for (let at = from; at < to; at++) {
      const found = value(at);
      if (found !== undefined) values.push(found);
    }
    worked(to - from);
    return values;
  };
}

function moving(fn: Stage, sliding: Sliding, partition: Partition, value: ValueAt): Walk {
  const move = slide(
    extents(fn.frame, partition),
    (index) => sliding.add(value(index)),
    (index) => sliding.remove(value(index)),
  );
  return (index) => {
    move(index);
    return sliding.result();
  };
}

/** Each window from its first row; what one keeps is given back before the next. */
function anew(fn: Stage, partition: Partition, value: ValueAt, workspace: Workspace): Walk {
  const extent = extents(fn.frame, partition);
  let held = 0;
  const hold = (bytes: number): void => {
    held += bytes;
    workspace.hold(bytes);
  };
  const newFold = foldMaker(fn.accumulator, { ...workspace, hold });
  return (index) => {
    const { from, to } = extent(index);
    const window = newFold();
    for (let at = from; at < to; at++) window.add(value(at), partition.documents[at]!);
    workspace.worked(to - from);
    const result = window.result();
    workspace.hold(-held);
    held = 0;
    return result;
  };
}

function slidingOf(accumulator: Accumulator, { hold }: Workspace): Sliding | undefined {
  switch (accumulator.fn) {
    case 'sum':
      return slidingSum();
    case 'avg':
      return slidingAvg();
    case 'stdDevPop':
      return slidingDeviation(0);
    case 'stdDevSamp':
      return slidingDeviation(1);
    case 'min':
      return slidingExtreme(1);
    case 'max':
      return slidingExtreme(-1);
    case 'addToSet':
      return slidingSet(hold);
    case 'median':
    case 'percentile':
      return slidingPercentile(accumulator, hold);
    default:
      return undefined;
  }
}
