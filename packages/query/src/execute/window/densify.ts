/**
 * $densify: rows in the order of the field, and new rows for the steps between them. Each partition has a next step. A row on that step
 * advances it; a row between two steps does not.
 */
import { compareValues } from '../../bson/compare.ts';
import { valueKey } from '../../bson/key.ts';
import { isNullish, isNumeric, typeName } from '../../bson/type.ts';
import { BsonDate, BsonDocument, type BsonValue, Int32, type Maybe } from '../../bson/value.ts';
import { type Numeric, toDouble } from '../../functions/numbers/number.ts';
import { add } from '../../functions/numbers/sums.ts';
import type { Path } from '../../plan/expr.ts';
import type { DensifyStage } from '../../plan/window.ts';
import { QueryError } from '../../query-error.ts';
import type { StageContext } from '../../stages/definition.ts';
import { valueAt } from '../expressions/path.ts';
import type { Budget } from '../limits/budget.ts';
import { sizeOf } from '../limits/size-limits.ts';
import type { Row, Rows } from '../row.ts';
import { runSort } from '../stages/sort.ts';
import { addTime } from './add-time.ts';

/** MongoDB's own limit on new rows. */
const maxRows = 500_000;

const chunkRows = 1000;

interface Gap {
  /** The partition's fields, which new rows repeat. */
  readonly fields: BsonDocument;
  next: BsonValue;
}

export async function* runDensify(stage: DensifyStage, input: Rows, { budget }: StageContext): Rows {
  const { bounds, partitionBy } = stage;
  const { next, densified } = steppingOf(stage);
  const [low, high] = typeof bounds === 'string' ? [] : bounds.map(({ value }) => value ?? null);
  const gaps = new Map<string, Gap>();
  let least: BsonValue | undefined;
  let greatest: BsonValue | undefined;
  let made = 0;

  /** New rows from the gap's next step up to `end`, which is excluded unless `closed`. */
  function* steps(gap: Gap, end: BsonValue, closed = false): Generator<Row> {
    while (closed ? compareValues(gap.next, end) <= 0 : isBelow(gap.next, end)) {
      if (++made > maxRows) throw tooMany();
      yield { document: withField(gap.fields, stage.field, gap.next) };
      gap.next = next(gap.next);
    }
  }

  /** The new rows before a row. */
  function* before(row: Row): Generator<Row> {
    const value = densified(row.document);
    if (value === undefined) return;
    const fields = partitionOf(row.document, partitionBy);
    const id = partitionBy.length === 0 ? '' : valueKey(fields);
    let gap = gaps.get(id);
    if (gap === undefined) {
      least ??= value;
      gap = { fields, next: low ?? (bounds === 'full' ? least : value) };
      gaps.set(id, gap);
      budget.hold(sizeOf(fields) + id.length + 64, '$densify');
    }
    greatest = value;
    if (high !== undefined && compareValues(value, high) >= 0) yield* steps(gap, high);
    else {
      yield* steps(gap, value);
      if (compareValues(gap.next, value) === 0) gap.next = next(gap.next);
    }
  }

  /** The new rows after the last row. */
  function* after(): Generator<Row> {
    if (low !== undefined && high !== undefined) {
      // Without any value there is at least the lower bound.
      if (gaps.size === 0 && partitionBy.length === 0) {
        const gap = { fields: new BsonDocument(), next: low };
        yield* steps(gap, high, compareValues(low, high) === 0);
      }
      for (const gap of gaps.values()) yield* steps(gap, high);
    } else if (bounds === 'full' && greatest !== undefined) {
      for (const gap of gaps.values()) yield* steps(gap, greatest, true);
    }
  }

  function* withGaps(rows: readonly Row[]): Generator<Row> {
    for (const row of rows) {
      yield* before(row);
      yield row;
    }
  }

  const by = [...(bounds === 'full' ? [] : partitionBy), stage.field].map((path) => ({ path, descending: false }));
  for await (const rows of runSort({ k: 'sort', by }, input, { budget })) yield* paced(withGaps(rows), budget);
  yield* paced(after(), budget);
}

async function* paced(rows: Iterable<Row>, budget: Budget): Rows {
  let chunk: Row[] = [];
  for (const row of rows) {
    if (chunk.push(row) < chunkRows) continue;
    await budget.pause();
    yield chunk;
    chunk = [];
  }
  await budget.pause();
  if (chunk.length > 0) yield chunk;
}

function tooMany(): QueryError {
  return new QueryError(5897900, `$densify can create at most ${maxRows} new documents, this one would create more`, {
    hint: 'take a larger step or narrower bounds',
  });
}

/** The fields at their paths; missing ones are omitted. */
function partitionOf(document: BsonDocument, paths: readonly Path[]): BsonDocument {
  const fields = new BsonDocument();
  for (const path of paths) {
    let into = fields;
    for (const name of path.slice(0, -1)) {
      const below = into.get(name);
      const nested = below instanceof BsonDocument ? below : new BsonDocument();
      into.set(name, nested);
      into = nested;
    }
    const value = valueAt(document, path);
    if (value !== undefined) into.set(path[path.length - 1]!, value);
  }
  return fields;
}

function withField(fields: BsonDocument, path: Path, value: BsonValue, depth = 0): BsonDocument {
  const result = new BsonDocument(fields);
  const name = path[depth]!;
  const below = fields.get(name);
  if (Array.isArray(below)) throw new QueryError(5733307, '$densify cannot create fields inside arrays');
  if (depth === path.length - 1) result.set(name, value);
  else {
    if (below !== undefined && !(below instanceof BsonDocument)) {
      throw new QueryError(5733308, '$densify cannot overwrite a value that is not an object with an object');
    }
    result.set(name, withField(below ?? new BsonDocument(), path, value, depth + 1));
  }
  return result;
}

interface Stepping {
  readonly next: (value: BsonValue) => BsonValue;
  /** @returns undefined for null and missing. @throws QueryError for a value that does not match the step. */
  readonly densified: (document: BsonDocument) => BsonValue | undefined;
}

/** Values to densify, numbers or dates, and the step from one to the next. */
function steppingOf({ field, step, unit }: DensifyStage): Stepping {
  const amount = step.value ?? new Int32(1);
  const whole = toDouble(amount as Numeric);
  return {
    next: (value) =>
      value instanceof BsonDate && unit !== undefined
        ? new BsonDate(addTime(value.ms, unit, whole))
        : (add(value, amount) ?? null),
    densified: (document) => {
      const value = nestedValue(document, field);
      if (isNullish(value)) return undefined;
      if (!isNumeric(value) && !(value instanceof BsonDate)) {
        throw new QueryError(5733201, `$densify takes numbers and dates, found ${typeName(value)}`);
      }
      if (value instanceof BsonDate !== (unit !== undefined)) {
        throw new QueryError(
          6053600,
          unit === undefined ? 'dates are densified with a unit' : 'numbers are densified without a unit',
        );
      }
      return value;
    },
  };
}

function isBelow(left: BsonValue, right: BsonValue): boolean {
  return compareValues(left, right) < 0;
}

/** Arrays on the path give no value. */
function nestedValue(document: BsonDocument, path: Path): Maybe {
  let current: Maybe = document;
  for (const name of path) {
    if (!(current instanceof BsonDocument)) return undefined;
    current = current.get(name);
  }
  return current;
}
