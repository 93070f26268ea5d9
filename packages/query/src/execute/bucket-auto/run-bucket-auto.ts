/** $bucketAuto: rows in the order of a key, divided into buckets of about the same number of rows. */
import { compileAccumulators } from '../../accumulators/compile-accumulators.ts';
import { compareValues } from '../../bson/compare.ts';
import { isNumeric, typeName } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, Int32, type Maybe } from '../../bson/value.ts';
import { toDouble } from '../../functions/numbers/number.ts';
import type { BucketAutoStage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import type { StageContext } from '../../stages/definition.ts';
import { compileExpression } from '../expressions/expression.ts';
import { enterRow } from '../expressions/scope.ts';
import { sizeOf } from '../limits/size-limits.ts';
import type { Row, Rows } from '../row.ts';
import { series } from './series.ts';

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

interface Rounder {
  /** The least number of the series that is greater; zero stays. */
  readonly up: (value: Maybe) => BsonValue;
  /** The greatest number of the series that is less; zero stays. */
  readonly down: (value: Maybe) => BsonValue;
}

/** Rounds the bounds of buckets to a series: to the next number above or below a value. */
function newRounder(granularity: string): Rounder {
  const decade = series[granularity];
  const [up, down] = decade === undefined ? [powerAbove, powerBelow] : [above(decade), below(decade)];
  const rounded = (value: Maybe, round: (number: number) => number): BsonValue => {
    const number = checked(value);
    if (number === 0) return value ?? null;
    return decade === undefined ? power(round(number)) : round(number);
  };
  return { up: (value) => rounded(value, up), down: (value) => rounded(value, down) };
}

function checked(value: Maybe): number {
  if (!isNumeric(value)) {
    throw new QueryError(40258, `$bucketAuto with a granularity takes numbers, found ${typeName(value)}`);
  }
  const number = toDouble(value);
  if (Number.isNaN(number)) throw new QueryError(40259, '$bucketAuto with a granularity takes numbers, found NaN');
  if (number < 0) throw new QueryError(40260, `$bucketAuto with a granularity takes no negative numbers: ${number}`);
  return number;
}

/** Powers of two from 1 to below 2^63 are integers, of the width that they need. */
function power(number: number): BsonValue {
  if (number < 1 || number >= 2 ** 63) return number;
  return number < 2 ** 31 ? new Int32(number) : BigInt(number);
}

function powerAbove(number: number): number {
  return 2 ** (Math.floor(Math.log2(number)) + 1);
}

function powerBelow(number: number): number {
  return 2 ** (Math.ceil(Math.log2(number)) - 1);
}

function above(decade: readonly number[]): (number: number) => number {
  const [first, last] = [decade[0]!, decade.at(-1)!];
  return (number) => {
    if (number === Number.POSITIVE_INFINITY) return number;
    let scale = 1;
    while (number >= last * scale) scale *= 10;
    while (number < first * scale) {
      const next = first * scale;
      scale /= 10;
      if (number >= last * scale) return next;
    }
    return decade.find((each) => each * scale > number)! * scale;
  };
}

function below(decade: readonly number[]): (number: number) => number {
  const [first, last] = [decade[0]!, decade.at(-1)!];
  return (number) => {
    if (number === Number.POSITIVE_INFINITY) return number;
    let scale = 1;
    while (number <= first * scale) scale /= 10;
    while (number > last * scale) {
      const next = last * scale;
      scale *= 10;
      if (number <= first * scale) return next;
    }
    return decade.findLast((each) => each * scale < number)! * scale;
  };
}
