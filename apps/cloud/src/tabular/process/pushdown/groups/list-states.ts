/** Sets and quantiles: DuckDB returns the values of a group as a list, distinct or all of them, and the executor combines the lists. */
import { type Accumulator, Binary, BsonDocument, type BsonValue, isTimeColumn, type Maybe } from '@platform/query';
import type { ConditionContext } from '../conditions/condition.ts';
import { leafOfNumbers } from '../conditions/leaf.ts';
import { operandOf } from '../conditions/operand.ts';
import { referencedFields } from '../conditions/referenced-fields.ts';
import { and, type Sql, yes } from '../conditions/sql.ts';
import { millisecondsSql } from '../conditions/times.ts';
import type { Chunk } from '../rows/chunk.ts';
import { isOfSeries } from '../series/series-values.ts';
import { type Cells, cellOf, type ReadStates, type StateColumns } from './group-cells.ts';

export function isOfSet({ fn, distinct }: Accumulator): boolean {
  return distinct === true || fn === 'addToSet' || fn === 'setSize';
}

const none = new Binary(new Uint8Array());

/** All numbers of a leaf, packed. Undefined if DuckDB's answer could differ from the executor's in any bit. */
export function numbersState(
  { arg }: Accumulator,
  { facts }: ConditionContext,
  cells: Cells,
  among: Sql,
): ReadStates | undefined {
  if (arg.k !== 'field') return undefined;
  const [column = '', ...below] = arg.path;
  if (isTimeColumn(column) && below.length === 0) return () => () => none;
  const leaf = column === 'data' ? leafOfNumbers(facts, below) : undefined;
  if (leaf === undefined) return undefined;
  const { number } = leaf.columns;
  if (number === undefined) return () => () => none;
  const cell = listCell(cells, `list(${number}) FILTER (WHERE ${and([among, `${number} IS NOT NULL`])})`);
  return (chunk) => packedOf(chunk, cell);
}

function listCell(cells: Cells, sql: Sql): number {
  const cell = cellOf(cells, sql);
  if (!cells.lists.includes(cell)) cells.lists.push(cell);
  return cell;
}

function packedOf(chunk: Chunk, cell: number): (row: number) => Binary {
  const present = chunk.present(cell);
  const { items, of } = chunk.lists(cell);
  const bytes = items.bytes(0, 8);
  return (row) => {
    if (!present(row)) return none;
    const [from, to] = of(row);
    return new Binary(bytes.slice(from * 8, to * 8));
  };
}

/** The distinct values of a leaf, a time or a series name. Undefined as above. */
export function setState(
  { arg }: Accumulator,
  context: ConditionContext,
  cells: Cells,
  among: Sql,
): StateColumns | undefined {
  if (isOfSeries(arg)) return constantSet(arg, context, cells, among);
  if (arg.k !== 'field') return undefined;
  const [column = ''] = arg.path;
  const operand = operandOf(arg, context.facts);
  // Of 0 and -0 the first row's value would be used.
  if (operand === undefined || operand.negativeZero) return undefined;
  const parts: ((chunk: Chunk) => (row: number, values: BsonValue[]) => void)[] = [];
  const packs: { readonly name: string; readonly cell: number }[] = [];
  const pack = (name: string, sql: Sql): number => packs.push({ name, cell: listCell(cells, sql) });
  for (const { kind, is, value } of operand.alternatives) {
    const where = ` FILTER (WHERE ${and([among, is])})`;
    if (kind === 'object' || kind === 'array') return undefined;
    if (kind === 'missing') continue;
    if (kind === 'null') parts.push(nullPart(cellOf(cells, `count(*)${where}`)));
    else if (kind === 'double') pack('doubles', `list(DISTINCT ${value})${where}`);
    else if (kind === 'date') pack('times', `list(DISTINCT CAST(${millisecondsSql(column)} AS DOUBLE))${where}`);
    else
      parts.push(itemsPart(listCell(cells, `list(DISTINCT ${value})${where}`), kind === 'bool' ? truthsOf : textsOf));
  }
  return {
    constants: [],
    read: (chunk) => {
      const packed = packs.map(({ name, cell }) => ({ name, of: packedOf(chunk, cell) }));
      const others = parts.map((part) => part(chunk));
      return (row) => {
        const values: BsonValue[] = [];
        for (const other of others) other(row, values);
        const set = setOf(values);
        for (const { name, of } of packed) set.set(name, of(row));
        return set;
      };
    },
  };
}

export function setOf(values: BsonValue[]): BsonDocument {
  return BsonDocument.of(values.length > 0 ? { values } : {});
}

function nullPart(cell: number): (chunk: Chunk) => (row: number, values: BsonValue[]) => void {
  return (chunk) => {
    const counts = chunk.int64(cell);
    return (row, values) => {
      if (counts[row] !== 0n) values.push(null);
    };
  };
}

function itemsPart(
  cell: number,
  read: (items: Chunk) => (item: number) => BsonValue,
): (chunk: Chunk) => (row: number, values: BsonValue[]) => void {
  return (chunk) => {
    const present = chunk.present(cell);
    const { items, of } = chunk.lists(cell);
    const itemOf = read(items);
    return (row, values) => {
      if (!present(row)) return;
      const [from, to] = of(row);
      for (let item = from; item < to; item++) values.push(itemOf(item));
    };
  };
}

function textsOf(items: Chunk): (item: number) => string {
  const texts = items.blob(0);
  return (item) => Buffer.from(texts(item)).toString('utf8');
}

function truthsOf(items: Chunk): (item: number) => boolean {
  const truths = items.bytes(0);
  return (item) => truths[item] !== 0;
}

function constantSet(
  arg: Accumulator['arg'],
  { values }: ConditionContext,
  cells: Cells,
  among: Sql,
): StateColumns | undefined {
  const all = values.values(arg);
  if (all === undefined || !all.every(isWithoutNumbers)) return undefined;
  if (referencedFields(arg)?.length !== 0) cells.ofSeries = true;
  const count = among === yes ? undefined : cellOf(cells, `count(*) FILTER (WHERE ${among})`);
  return {
    constants: [arg],
    isSet: among === yes,
    read: (chunk, _, constantOf) => {
      const value = constantOf(arg);
      const counts = count === undefined ? undefined : chunk.int64(count);
      return (row) => {
        const found = counts?.[row] === 0n ? undefined : value(row);
        return setOf(found === undefined ? [] : [found]);
      };
    },
  };
}

/** Whether all equal values look the same, unlike 1 and 1.0. */
function isWithoutNumbers(value: Maybe): boolean {
  if (Array.isArray(value)) return value.every(isWithoutNumbers);
  if (value instanceof BsonDocument) return [...value.values()].every(isWithoutNumbers);
  return value === undefined || value === null || typeof value === 'string' || typeof value === 'boolean';
}
