/** The accumulators of $group over windows: running if the window only grows, otherwise sliding, otherwise recomputed. */

import { compileAccumulators } from '../accumulators/compile-accumulators.ts';
import type { Fold } from '../accumulators/fold.ts';
import { accumulatorOf } from '../accumulators/registry.ts';
import type { Sliding } from '../accumulators/sliding/sliding.ts';
import { describe } from '../bson/describe.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../bson/value.ts';
import { extents } from '../execute/window/extent.ts';
import type { Partition, StartWalk, Walk, Workspace } from '../execute/window/partition.ts';
import { slide } from '../execute/window/slide.ts';
import { parseAccumulator, windowAccumulatorNames } from '../mql/accumulator.ts';
import type { Accumulator } from '../plan/accumulator.ts';
import type { WindowFold } from '../plan/window.ts';
import { malformed } from '../query-error.ts';
import type { WindowFunctionDefinition, WindowSpec } from './definition.ts';

export const fold: WindowFunctionDefinition<WindowFold> = {
  names: windowAccumulatorNames,
  takesWindow: true,
  parse: parseFold,
  start,
};

function parseFold({ name, argument, frame, at }: WindowSpec): WindowFold {
  if (name === '$count' && !(argument instanceof BsonDocument && argument.size === 0)) {
    throw malformed(`$count takes an empty object, found ${describe(argument)}`);
  }
  const accumulator = parseAccumulator(name, argument, at, true);
  if (accumulator === undefined) throw malformed(`${name} is not an accumulator`);
  return { k: 'fold', accumulator, frame };
}

function start(fn: WindowFold, workspace: Workspace): StartWalk {
  const newFold = foldMaker(fn.accumulator, workspace);
  const { frame } = fn;
  const grows = frame.lower === 'unbounded';
  const name = fn.accumulator.fn;
  return (partition, value) => {
    if (name === 'first' || name === 'last') return atEnd(fn, partition, value);
    if (grows && frame.upper === 'unbounded' && frame.k === 'documents') return once(newFold, partition, value);
    // A running percentile would sort everything again for each row.
    if (grows && name !== 'median' && name !== 'percentile') return running(fn, newFold(), partition, value);
    if (name === 'push') return slices(fn, partition, value, workspace);
    const sliding = accumulatorOf(name).slide?.(fn.accumulator, workspace.hold);
    return sliding === undefined ? anew(fn, partition, value, workspace) : moving(fn, sliding, partition, value);
  };
}

type ValueAt = (index: number) => Maybe;

/** Creates folds; `hold` receives the bytes that they keep. */
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

function running(fn: WindowFold, all: Fold, partition: Partition, value: ValueAt): Walk {
  const extent = extents(fn.frame, partition);
  let added = 0;
  return (index) => {
    const { to } = extent(index);
    for (; added < to; added++) all.add(value(added), partition.documents[added]!);
    return copied(all.result());
  };
}

/** Copied, because the fold continues to change its result. */
function copied(value: BsonValue): BsonValue {
  if (Array.isArray(value)) return [...value];
  return value instanceof BsonDocument ? new BsonDocument(value) : value;
}

function atEnd(fn: WindowFold, partition: Partition, value: ValueAt): Walk {
  const extent = extents(fn.frame, partition);
  return (index) => {
    const { from, to } = extent(index);
    if (from === to) return null;
    return value(fn.accumulator.fn === 'first' ? from : to - 1) ?? null;
  };
}

function slices(fn: WindowFold, partition: Partition, value: ValueAt, { worked }: Workspace): Walk {
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

function moving(fn: WindowFold, sliding: Sliding, partition: Partition, value: ValueAt): Walk {
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

/** Folds each window from its first row; memory of one window is released before the next. */
function anew(fn: WindowFold, partition: Partition, value: ValueAt, workspace: Workspace): Walk {
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
