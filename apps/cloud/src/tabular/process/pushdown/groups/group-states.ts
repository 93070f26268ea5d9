/** Accumulators as SQL aggregates, and the partial states (plan/partial-state.ts of @platform/query) built from their results. */
import {
  type Accumulator,
  BsonDate,
  BsonDocument,
  type BsonValue,
  Decimal128,
  ExactSum,
  type Expr,
  Int32,
  isTimeColumn,
  type Maybe,
} from '@platform/query';
import { kind } from '../../files/file-facts.ts';
import { hasCanonicalForm } from '../conditions/canonical-form.ts';
import type { ConditionContext } from '../conditions/condition.ts';
import { type Decision, decisionOf, maxDecisions, truthOf } from '../conditions/decision.ts';
import { isOfKind, leafAt } from '../conditions/leaf.ts';
import { referencedFields } from '../conditions/referenced-fields.ts';
import { and, not, or, type Sql, yes } from '../conditions/sql.ts';
import type { Chunk } from '../rows/chunk.ts';
import { isOfSeries } from '../series/series-values.ts';
import { maxParts, sumMarker } from '../statement.ts';
import { exactProduct, partsOfWhole, type Summed, type SumPlan, sumPlan } from './exact-sum.ts';
import { type Cells, cellOf, isOfNumbers, type ReadStates, type StateColumns } from './group-cells.ts';
import { isOfSet, numbersState, setState } from './list-states.ts';

/** @param among the rows that count. Undefined if DuckDB's answer could differ from the executor's in any bit. */
export function stateColumns(
  accumulator: Accumulator,
  context: ConditionContext,
  cells: Cells,
  among: Sql = yes,
): StateColumns | undefined {
  const { fn, arg } = accumulator;
  if (accumulator.by !== undefined) return undefined;
  if (isOfSet(accumulator)) return setState(accumulator, context, cells, among);
  if (isOfNumbers(accumulator)) {
    const read = numbersState(accumulator, context, cells, among);
    return read && { constants: [], read };
  }
  if (fn === 'count') return { constants: [], read: counting(cells, among) };
  if (isOfSeries(arg)) return constantState(accumulator, context, cells, among);
  const decision = decisionOf(arg);
  if (decision !== undefined) return decidedState(accumulator, decision, context, cells, among);
  if (arg.k !== 'field') return undefined;
  const [column = '', ...below] = arg.path;
  const isTime = isTimeColumn(column) && below.length === 0;
  if (!isTime && column !== 'data') return undefined;
  const read = isTime ? timeState(fn, column, cells, among) : leafState(fn, below, context, cells, among);
  return read && { constants: [], read };
}

/** Sums where the condition holds, and separately where it does not. Other accumulators may depend on the order of rows. */
function decidedState(
  accumulator: Accumulator,
  decision: Decision,
  context: ConditionContext,
  cells: Cells,
  among: Sql,
): StateColumns | undefined {
  const { fn } = accumulator;
  if (++cells.decisions > maxDecisions) return undefined;
  const truth = isSum(fn) || fn === 'sql.count' ? truthOf(decision.when, context) : undefined;
  if (truth === undefined) return undefined;
  const state = (arg: Expr, where: Sql): StateColumns | undefined =>
    stateColumns({ ...accumulator, arg }, context, cells, and([among, where]));
  const [then, otherwise] = [state(decision.then, truth), state(decision.otherwise, not(truth))];
  if (then === undefined || otherwise === undefined) return undefined;
  return {
    constants: [...then.constants, ...otherwise.constants],
    read: (...from) => {
      const [one, other] = [then.read(...from), otherwise.read(...from)];
      return (row) => together(one(row), other(row));
    },
  };
}

/** Adds two counts or two sums. */
function together(one: BsonValue, other: BsonValue): BsonValue {
  if (typeof one === 'bigint' && typeof other === 'bigint') return one + other;
  const sum = new ExactSum();
  sum.merge(one);
  sum.merge(other);
  return sum.partial();
}

function counting(cells: Cells, among: Sql): ReadStates {
  const cell = cellOf(cells, among === yes ? 'count(*)' : `count(*) FILTER (WHERE ${among})`);
  return (chunk) => {
    const counts = chunk.int64(cell);
    return (row) => counts[row] as bigint;
  };
}

/** A column's values in rows that count, NULL elsewhere. */
function within(among: Sql, column: string): Sql {
  return among === yes ? column : `(CASE WHEN ${among} THEN ${column} END)`;
}

/** The sum of no numbers. */
export function noSum(): BsonDocument {
  return BsonDocument.of({ n: new Int32(0), kinds: new Int32(0) });
}

export function isSum(fn: Accumulator['fn']): boolean {
  return fn === 'sum' || fn === 'avg';
}

function constantState(
  { fn, arg }: Accumulator,
  { values }: ConditionContext,
  cells: Cells,
  among: Sql,
): StateColumns | undefined {
  const all = values.values(arg);
  if (all === undefined) return undefined;
  const state = constantStates(fn, arg, all);
  if (state === undefined) return undefined;
  if (referencedFields(arg)?.length !== 0) cells.ofSeries = true;
  const count = counting(cells, among);
  return {
    constants: [arg],
    read: (...from) => {
      const [counts, value] = [count(...from), from[2](arg)];
      return (row) => state(counts(row) as bigint, value(row));
    },
  };
}

/** The state of a number of rows with one value of `arg`, which is one of `all`. */
export function constantStates(
  fn: Accumulator['fn'],
  arg: Expr,
  all: readonly Maybe[],
): ((n: bigint, value: Maybe) => BsonValue) | undefined {
  const isNone = (value: Maybe): value is null | undefined => value === undefined || value === null;
  if (fn === 'sql.count') return (n, value) => (isNone(value) ? 0n : n);
  if (fn === 'min' || fn === 'max')
    return !hasCanonicalForm(arg) ? undefined : (_, value) => (isNone(value) ? null : value);
  let last: Maybe;
  const hasNoSum = (value: Maybe): boolean => {
    // The value is usually the same for all.
    if (value === last && value !== undefined) return false;
    last = value;
    return constantSum(value, 2 ** 52) === undefined;
  };
  if (!isSum(fn) || all.some(hasNoSum)) return undefined;
  return (n, value) => constantSum(value, Number(n)) ?? null;
}

/** The sum of a value that occurs `count` times. */
function constantSum(value: Maybe, count: number): BsonDocument | undefined {
  if (count === 0) return noSum();
  const n = BigInt(count);
  if (value instanceof Decimal128) return undefined;
  if (value instanceof Int32) return BsonDocument.of({ n, kinds: new Int32(0), ...whole(BigInt(value.value) * n) });
  if (typeof value === 'bigint') return BsonDocument.of({ n, kinds: new Int32(2), ...whole(value * n) });
  if (typeof value !== 'number') return noSum();
  const parts = exactProduct(value, count);
  return parts && BsonDocument.of({ n, kinds: new Int32(1), parts: [...parts] });
}

function whole(sum: bigint): { whole: bigint | string } {
  return { whole: BigInt.asIntN(64, sum) === sum ? sum : String(sum) };
}

function timeState(fn: Accumulator['fn'], column: string, cells: Cells, among: Sql): ReadStates | undefined {
  if (fn === 'sql.count') return counting(cells, and([among, `${column} IS NOT NULL`]));
  if (isSum(fn)) return () => () => noSum();
  if (fn !== 'min' && fn !== 'max') return undefined;
  const cell = cellOf(cells, `${fn}(${column})`);
  return (chunk) => {
    const [present, times] = [chunk.present(cell), chunk.int64(cell)];
    return (row) => (present(row) ? new BsonDate(millisecondsOf(times[row] as bigint)) : null);
  };
}

/** Rounded down, even before 1970. */
export function millisecondsOf(microseconds: bigint): number {
  const rest = microseconds % 1_000n;
  return Number((microseconds - (rest < 0n ? rest + 1_000n : rest)) / 1_000n);
}

function leafState(
  fn: Accumulator['fn'],
  path: readonly string[],
  { facts }: ConditionContext,
  cells: Cells,
  among: Sql,
): ReadStates | undefined {
  const leaf = leafAt(facts, path);
  if (leaf === undefined || !leaf.isKnown) return undefined;
  if (isSum(fn)) {
    // A value found inside arrays reaches the accumulator as an array, which is not a number.
    const { number } = leaf.columns;
    if (number === undefined) return () => () => noSum();
    const of = { rows: facts.rows, number: leaf.facts?.number };
    return sumState(within(among, number), of, leaf.kinds === kind.double && among === yes, cells);
  }
  if (leaf.isThroughArray) return undefined;
  if (fn === 'sql.count') {
    // A document counts only if it holds a value.
    if ((leaf.kinds & kind.object) !== 0) return undefined;
    const isNone = or([isOfKind(leaf, kind.missing), isOfKind(leaf, kind.null)]);
    return counting(cells, and([among, not(isNone)]));
  }
  if (fn !== 'min' && fn !== 'max') return undefined;
  if ((leaf.kinds & (kind.object | kind.array)) !== 0) return undefined;
  // Of 0 and -0 the first row's value is used. NaN is less than all numbers for us, but not for DuckDB.
  if (leaf.facts?.number?.negativeZero === true || leaf.facts?.number?.nonFinite === true) return undefined;
  const { number, text, bool } = leaf.columns;
  const at = (column: string | undefined): number => (column === undefined ? -1 : cellOf(cells, `${fn}(${column})`));
  return extremes([at(number), at(text), at(bool)], fn);
}

function sumState(column: string, of: Summed, isEveryRow: boolean, cells: Cells): ReadStates | undefined {
  if (sumPlan([of]) === undefined) return undefined;
  const counts = cellOf(cells, isEveryRow ? 'count(*)' : `count(${column})`);
  const known = cells.sums.findIndex((sum) => sum.column === column);
  const sum = known >= 0 ? known : cells.sums.push({ column, of }) - 1;
  const parts = Array.from({ length: maxParts }, (_, part) => cellOf(cells, sumMarker(sum, part)));
  return (chunk, plans) => {
    const ns = chunk.int64(counts);
    const read = partReader(chunk, parts, plans[sum]);
    return (row) => {
      const n = ns[row] as bigint;
      return n === 0n ? noSum() : BsonDocument.of({ n, kinds: new Int32(1), parts: [...read(row)] });
    };
  };
}

function partReader(
  chunk: Chunk,
  cells: readonly number[],
  plan: SumPlan | undefined,
): (row: number) => readonly number[] {
  if (plan?.k === 'whole') {
    const words = chunk.hugeint(cells[0] as number);
    return (row) => partsOfWhole(words(row), plan.lowest);
  }
  const sums = cells.map((cell) => chunk.double(cell));
  return (row) => sums.map((values) => values[row] as number).filter((part) => part !== 0);
}

/** Numbers order before texts, and texts before booleans. */
function extremes([number, text, bool]: readonly [number, number, number], fn: 'min' | 'max'): ReadStates {
  return (chunk) => {
    const readers: ((row: number) => BsonValue)[] = [];
    if (number >= 0) {
      const [present, values] = [chunk.present(number), chunk.double(number)];
      readers.push((row) => (present(row) ? (values[row] as number) : null));
    }
    if (text >= 0) {
      const [present, values] = [chunk.present(text), chunk.blob(text)];
      readers.push((row) => (present(row) ? Buffer.from(values(row)).toString('utf8') : null));
    }
    if (bool >= 0) {
      const [present, values] = [chunk.present(bool), chunk.bytes(bool)];
      readers.push((row) => (present(row) ? values[row] !== 0 : null));
    }
    if (fn === 'max') readers.reverse();
    return (row) => {
      for (const read of readers) {
        const value = read(row);
        if (value !== null) return value;
      }
      return null;
    };
  };
}
