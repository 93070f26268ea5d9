/** $densify: a field, its step, and its bounds. */

import { compareValues } from '../../bson/compare.ts';
import { describe } from '../../bson/describe.ts';
import { isNumeric, typeName } from '../../bson/type.ts';
import { BsonDate, BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import type { Unit } from '../../functions/dates/date-unit.ts';
import type { Path } from '../../plan/expr.ts';
import type { Stage } from '../../plan/stage.ts';
import type { Constant, DensifyStage } from '../../plan/window.ts';
import { malformed, QueryError, withErrorsAt } from '../../query-error.ts';
import { parseFieldPath } from '../path.ts';
import { parseTimeUnit, wholeOf } from './bounds.ts';
import { strictFields } from './strict-fields.ts';

export function parseDensify(spec: BsonValue): Stage {
  if (!(spec instanceof BsonDocument)) {
    throw malformed(`$densify takes an object, found ${typeName(spec)}`);
  }
  const fields = strictFields(spec, '$densify', {
    field: { type: 'string', required: true },
    partitionByFields: { type: 'strings' },
    range: { type: 'object', required: true },
  });
  const range = parseRange(fields.get('range') as BsonDocument);
  const names = (fields.get('partitionByFields') ?? []) as string[];
  const partitionBy = names.map(parseFieldPath);
  const field = parseFieldPath(fields.get('field') as string);
  for (const path of partitionBy) refuseOverlap(field, path);
  if (range.bounds === 'partition' && partitionBy.length === 0) {
    throw new QueryError(5733408, "the bounds 'partition' need partitionByFields that are not empty", {
      hint: "without partitions the bounds are 'full'",
    });
  }
  return { k: 'densify', field, partitionBy, ...range };
}

/** New rows repeat the partition's fields, so these must not overlap with the field that is filled. */
function refuseOverlap(field: Path, partition: Path): void {
  const shared = Math.min(field.length, partition.length);
  if (field.slice(0, shared).join('.') !== partition.slice(0, shared).join('.')) return;
  const code = field.length === partition.length ? 8993000 : 9554500;
  throw new QueryError(code, `partitionByFields must not overlap the field, found '${partition.join('.')}'`);
}

function parseRange(spec: BsonDocument): Pick<DensifyStage, 'step' | 'unit' | 'bounds'> {
  const fields = strictFields(spec, '$densify.range', {
    step: { type: 'number', required: true },
    unit: { type: 'string' },
    bounds: { type: 'any', required: true },
  });
  const step = fields.get('step')!;
  if (compareValues(step, 0) <= 0) {
    throw new QueryError(5733401, `the step must be a positive number, found ${describe(step)}`);
  }
  const given = fields.get('unit');
  if (given !== undefined && wholeOf(step) === undefined) {
    throw new QueryError(6586400, `the step must be a whole number of the unit, found ${describe(step)}`);
  }
  const unit =
    given === undefined ? undefined : withErrorsAt({ path: '$densify.range.unit' }, () => parseTimeUnit(given));
  const bounds = parseBounds(fields.get('bounds')!, step, unit);
  return { step: constant(step), bounds, ...(unit === undefined ? {} : { unit }) };
}

function parseBounds(value: BsonValue, step: BsonValue, unit: Unit | undefined): DensifyStage['bounds'] {
  if (typeof value === 'string') {
    if (value === 'full' || value === 'partition') return value;
    throw new QueryError(5946802, `the bounds are 'full', 'partition' or an array, found ${describe(value)}`);
  }
  if (!Array.isArray(value)) {
    throw new QueryError(5733404, `the bounds are 'full', 'partition' or an array, found ${describe(value)}`);
  }
  const [low, high] = value;
  if (value.length !== 2 || low === undefined || high === undefined) {
    throw new QueryError(5733403, `bounds are an array of two, found ${value.length}`);
  }
  if (compareValues(low, high) > 0) {
    throw new QueryError(5733402, `bounds ascend, found ${describe(low)} before ${describe(high)}`);
  }
  if (isNumeric(low)) {
    if (unit !== undefined) throw new QueryError(5733409, "bounds that are numbers have no 'unit'");
    if (!isNumeric(high)) throw new QueryError(5733406, `bounds are two numbers or two dates, found ${typeName(high)}`);
    if (typeName(low) !== typeName(high) || typeName(low) !== typeName(step)) {
      const found = [low, high, step].map((each: Maybe) => typeName(each)).join(', ');
      throw new QueryError(5876900, `bounds and step must have the same type, found ${found}`);
    }
  } else if (low instanceof BsonDate) {
    if (!(high instanceof BsonDate)) {
      throw new QueryError(5733405, `bounds are two numbers or two dates, found ${typeName(high)}`);
    }
    if (unit === undefined) throw new QueryError(5733410, "bounds that are dates need a 'unit'");
  } else throw new QueryError(5946800, `bounds are numbers or dates, found ${typeName(low)}`);
  return [constant(low), constant(high)];
}

function constant(value: BsonValue): Constant {
  return { k: 'lit', value };
}
