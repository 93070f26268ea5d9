/** $sample: a number of random rows. */

import { chunks } from '@platform/base';
import { decimalToNumber } from '../bson/decimal.ts';
import { toWholeDecimal } from '../bson/decimal-arithmetic.ts';
import { describe } from '../bson/describe.ts';
import { isNumeric } from '../bson/type.ts';
import { BsonDocument, type BsonValue, Decimal128 } from '../bson/value.ts';
import { sizeOf } from '../execute/limits/size-limits.ts';
import type { Row, Rows } from '../execute/row.ts';
import { toDouble } from '../functions/numbers/number.ts';
import type { SampleStage } from '../plan/stage.ts';
import { QueryError } from '../query-error.ts';
import type { StageContext, StageDefinition } from './definition.ts';

export const sample: StageDefinition<SampleStage> = { mql: { $sample: parseSample }, run: runSample };

function parseSample(spec: BsonValue): SampleStage {
  if (!(spec instanceof BsonDocument)) throw new QueryError(28745, `$sample takes an object, found ${describe(spec)}`);
  let size: number | undefined;
  for (const [name, value] of spec) {
    if (name !== 'size') throw new QueryError(28748, `$sample has only the option size, found '${name}'`);
    if (!isNumeric(value)) throw new QueryError(28746, `size must be a number, found ${describe(value)}`);
    // Fractions of decimals are rounded, those of doubles cut off.
    size =
      value instanceof Decimal128 ? decimalToNumber(toWholeDecimal(value, 'halfEven')) : Math.trunc(toDouble(value));
    if (!(size > 0)) throw new QueryError(28747, `size must be a positive whole number, found ${describe(value)}`);
  }
  if (size === undefined) throw new QueryError(28749, '$sample needs a size');
  return { k: 'sample', size };
}

/** Gives each row a random position among those before it; only the wanted number is kept at any time. */
async function* runSample(stage: SampleStage, input: Rows, { budget }: StageContext, random = Math.random): Rows {
  const kept: Row[] = [];
  let seen = 0;
  for await (const rows of input) {
    for (const row of rows) {
      seen++;
      const place = Math.floor(random() * seen);
      if (kept.length < stage.size) {
        budget.hold(bytesOf(row), '$sample');
        kept.push(kept[place] ?? row);
        kept[place] = row;
      } else if (place < stage.size) {
        budget.hold(bytesOf(row) - bytesOf(kept[place]!), '$sample');
        kept[place] = row;
      }
    }
  }
  yield* chunks(kept, 1000);
}

function bytesOf(row: Row): number {
  return (row.bytes?.length ?? 0) + sizeOf(row.document);
}
