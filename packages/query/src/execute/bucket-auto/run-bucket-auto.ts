/** $bucketAuto: rows in the order of a key, divided into buckets of about the same number of rows. */

import { compileAccumulators } from '../../accumulators/compile-accumulators.ts';
import { compareValues } from '../../bson/compare.ts';
import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import type { BucketAutoStage } from '../../plan/stage.ts';
import type { StageContext } from '../../stages/definition.ts';
import { compileExpression } from '../expressions/expression.ts';
import { enterRow } from '../expressions/scope.ts';
import { sizeOf } from '../limits/size.ts';
import type { Row, Rows } from '../row.ts';
import { newRounder, type Rounder } from './rounder.ts';

interface Keyed {
  readonly key: BsonValue;
  readonly document: BsonDocument;
}

export async function* runBucketAuto(stage: BucketAutoStage, input: Rows, { budget, frame }: StageContext): Rows {
  const keyOf = compileExpression(stage.key);
  const rounder = stage.granularity === undefined ? undefined : newRounder(stage.granularity);
  const hold = (bytes: number): void => budget.hold(bytes, '$bucketAuto');
  const sorted: Keyed[] = [];
  for await (const rows of input) {
    for (const { document } of rows) {
      enterRow(frame, document);
      const key = keyOf(frame) ?? null;
      rounder?.up(key);
      hold(sizeOf(document) + sizeOf(key));
      sorted.push({ key, document });
    }
  }
  sorted.sort((left, right) => compareValues(left.key, right.key));
  const accumulators = compileAccumulators(stage.accumulators, budget, hold);
  let chunk: Row[] = [];
  for (const { min, max, from, to } of buckets(sorted, stage.buckets, rounder)) {
    const folds = accumulators.open(null);
    for (let at = from; at < to; at++) {
      if (at % 1000 === 0) await budget.pause();
      const { document } = sorted[at]!;
      enterRow(frame, document);
      accumulators.add(folds, frame, document);
    }
    const document = new BsonDocument([['_id', BsonDocument.of({ min, max })]]);
    accumulators.result(folds, document);
    if (chunk.push({ document }) < 1000) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

interface Bucket {
  readonly min: BsonValue;
  readonly max: BsonValue;
  /** First row, and the one after the last. */
  readonly from: number;
  readonly to: number;
}

/** A bucket takes its share of the rows and all others below its upper bound; the last one takes the rest. */
function* buckets(sorted: readonly Keyed[], count: number, rounder: Rounder | undefined): Iterable<Bucket> {
  const share = Math.max(1, Math.round(sorted.length / count));
  let lastMax: BsonValue | undefined;
  let from = 0;
  for (let number = 1; from < sorted.length; number++) {
    const first = sorted[from]!.key;
    let to = number === count ? sorted.length : Math.min(sorted.length, from + share);
    const greatest = sorted[to - 1]!.key;
    const bound = rounder === undefined ? greatest : rounder.up(greatest);
    const belongs = (key: BsonValue): boolean => {
      const order = compareValues(key, bound);
      return rounder === undefined ? order === 0 : order < 0;
    };
    while (to < sorted.length && belongs(sorted[to]!.key)) to++;
    const next = sorted[to]?.key;
    const min: BsonValue = rounder === undefined ? first : (lastMax ?? rounder.down(first));
    const max: BsonValue =
      next === undefined
        ? bound
        : rounder === undefined
          ? next
          : compareValues(bound, 0) === 0
            ? rounder.down(next)
            : bound;
    yield { min, max, from, to };
    lastMax = max;
    from = to;
  }
}
