/** A whole `pre` that ends in a partial group, as one statement: exact filters, then DuckDB's grouping. */

import { getOrInsert } from '@platform/base';
import {
  BsonDate,
  BsonDocument,
  type BsonValue,
  compareValues,
  DocumentBatch,
  type Expr,
  evaluator,
  type GroupStage,
  type Maybe,
  typeName,
} from '@platform/query';
import { kind } from '../../files/file-facts.ts';
import { allOf } from '../all-of.ts';
import { checkScope, haveSameScope } from '../check-scope.ts';
import type { ConditionContext } from '../conditions/condition.ts';
import { referencedFields } from '../conditions/referenced-fields.ts';
import { and, type Binds, onlyUsed, type Sql } from '../conditions/sql.ts';
import type { OpenFile } from '../open-files.ts';
import type { Chunk } from '../rows/chunk.ts';
import { numberingOf } from '../series/series-identity.ts';
import { isOfSeries } from '../series/series-values.ts';
import { type Emission, fileKeyMarker, fileMarker } from '../statement.ts';
import type { Cells, ConstantOf, StateColumns } from './group-cells.ts';
import { type KeyParts, keyParts, truthField } from './group-key.ts';
import { stateColumns } from './group-states.ts';
import { timeStep, truthColumn } from './key-columns.ts';
import { setOf } from './list-states.ts';

/** @param where exactly the rows to group. Undefined if the answer could differ from the executor's in any bit. */
export function emitGroup(
  stage: GroupStage,
  context: ConditionContext,
  where: readonly Sql[],
  binds: Binds,
): Emission | undefined {
  const parts = keyParts(stage.key, context);
  if (parts === undefined) return undefined;
  const { inputs } = parts;
  const cells: Cells = { sql: [], sums: [], ofSeries: inputs.ofSeries, decisions: 0, lists: [] };
  const states = allOf(stage.accumulators, ([, accumulator]) => stateColumns(accumulator, context, cells));
  if (states === undefined) return undefined;
  const aggregates = cells.sql;
  const keys: string[] = [];
  const ofSeries = cells.ofSeries ? [keys.push(fileMarker) - 1, keys.push('series') - 1] : [];
  const leaves = inputs.leaves.map(({ leaf: { columns } }) => ({
    number: keyCell(keys, columns.number),
    text: keyCell(keys, columns.text),
    bool: keyCell(keys, columns.bool),
    kind: keyCell(keys, columns.kind),
  }));
  const times = inputs.times.map(({ column, stepMs }) => keyCell(keys, timeStep(column, stepMs, context.facts)));
  const truths = inputs.truths.map((truth) => keyCell(keys, truthColumn(truth)));
  // Aggregates follow the key columns; empty input gives empty output.
  const sql = `SELECT ${[...keys, ...aggregates, ...(aggregates.length === 0 ? ['count(*)'] : [])].join(', ')}
FROM read_parquet($1) WHERE ${and(where)}${keys.length === 0 ? '' : ` GROUP BY ${groupBy(keys)}`} HAVING count(*) > 0`;
  return {
    kind: 'group',
    variant: inputs.leaves.map(({ leaf }) => leaf.kinds).join(' '),
    ...onlyUsed(sql, binds.values, cells.sums),
    done: true,
    ...(cells.lists.length > 0 && { gathered: context.facts.rows * cells.lists.length * listedBytes }),
    ...(cells.ofSeries && { isOfNumber: (files) => haveSameScope(files) && isOfNumber(parts.key, states, files) }),
    decode: (files, sums) => {
      const key = keyReader(parts, files, { ofSeries, leaves, times, truths });
      return (chunk) => {
        if (cells.ofSeries) checkScope(chunk, files);
        const readKey = key(chunk);
        const behind = chunk.from(keys.length);
        const [file, series] = ofSeries.map((cell) => chunk.int32(cell));
        const constantOf: ConstantOf = (expr) => {
          const values = valuesIn(files, expr);
          return (row) => values(file?.[row] ?? 0)[series?.[row] ?? 0];
        };
        const sets = foldedSets(stage, states, chunk.rows, readKey, constantOf);
        if (sets !== undefined) return sets;
        const reads = states.map(({ read }) => read(behind, sums, constantOf));
        const documents: BsonDocument[] = [];
        for (let row = 0; row < chunk.rows; row++) {
          const document = new BsonDocument([['_id', readKey(row)]]);
          for (const [index, [name]] of stage.accumulators.entries())
            document.set(name, (reads[index] as (row: number) => BsonValue)(row));
          documents.push(document);
        }
        return new DocumentBatch(documents, listedIn(behind, cells));
      };
    },
  };
}

/**
 * Used when accumulators only need sets of series names, grouped by row values. There is a row for each series and only few groups, which
 * are built here. Undefined when something else is needed, or equal keys may look different, as 1 and 1.0 do.
 */
function foldedSets(
  { accumulators }: GroupStage,
  states: readonly StateColumns[],
  rows: number,
  keyOf: (row: number) => BsonValue,
  constantOf: ConstantOf,
): DocumentBatch | undefined {
  if (states.length === 0 || !states.every(({ isSet }) => isSet === true)) return undefined;
  const values = states.map(({ constants: [constant] }) => constantOf(constant as Expr));
  const groups = new Map<string, { readonly key: BsonValue; readonly sets: readonly Set<string>[] }>();
  for (let row = 0; row < rows; row++) {
    const key = keyOf(row);
    const text = plainText(key);
    if (text === undefined) return undefined;
    const group = getOrInsert(groups, text, () => ({ key, sets: values.map(() => new Set<string>()) }));
    for (const [index, set] of group.sets.entries()) {
      const value = values[index]?.(row);
      if (typeof value !== 'string') return undefined;
      set.add(value);
    }
  }
  const documents = Array.from(
    groups.values(),
    ({ key, sets }) =>
      new BsonDocument([
        ['_id', key],
        ...accumulators.map(([name], index) => [name, setOf([...(sets[index] ?? [])])] as const),
      ]),
  );
  return new DocumentBatch(documents, rows * 8);
}

/** A text that only equal keys share; undefined unless the key consists of documents, strings, booleans and null. */
function plainText(key: BsonValue): string | undefined {
  if (key === null || typeof key === 'string' || typeof key === 'boolean') return JSON.stringify(key);
  if (!(key instanceof BsonDocument)) return undefined;
  const parts: string[] = [];
  for (const [name, value] of key) {
    const text = plainText(value);
    if (text === undefined) return undefined;
    parts.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${parts.join(',')}}`;
}

/** Bytes of a value in a list, including what DuckDB needs to collect it. */
const listedBytes = 32;

/** Work to fold the values in a chunk's lists, expressed in bytes of documents. A packed value counts as half a byte. */
function listedIn(chunk: Chunk, { lists }: Cells): number {
  return lists.reduce((bytes, cell) => bytes + chunk.lists(cell).items.rows / 2, 0);
}

/** By index of a file: the value of an expression by series. Computed only for files that are requested. */
function valuesIn(files: readonly OpenFile[], expr: Expr): (file: number) => readonly Maybe[] {
  const known: (readonly Maybe[])[] = [];
  return (file) => (known[file] ??= files[file]?.values.values(expr) ?? []);
}

function groupBy(keys: readonly string[]): string {
  return keys
    .map((sql, index) => (sql === fileMarker ? fileKeyMarker : `${index + 1}, `))
    .join('')
    .replace(/, $/, '');
}

/** Whether a series number has the same key and the same constants in all files. */
function isOfNumber(key: Expr, states: readonly StateColumns[], [first, ...others]: readonly OpenFile[]): boolean {
  const parts = [...partsOfSeries(key), ...states.flatMap(({ constants }) => constants)];
  if (first === undefined || others.some(({ facts }) => facts.series.length !== first.facts.series.length))
    return false;
  // Days are not part of a series.
  const ofDays = parts.some((expr) => referencedFields(expr)?.some(([name]) => name === 'capture_day') ?? true);
  const isAlike = ({ facts, captureDay }: OpenFile): boolean =>
    numberingOf(facts) === numberingOf(first.facts) && (!ofDays || captureDay === first.captureDay);
  if (others.every(isAlike)) return true;
  return parts.every((expr) => {
    const values = first.values.values(expr) ?? [];
    return others.every(({ values: other }) => {
      const found = other.values(expr) ?? [];
      return found.length === values.length && found.every((value, index) => areSame(value, values[index]));
    });
  });
}

/** The parts of a key that depend only on the series; other parts are grouped separately. */
function partsOfSeries(key: Expr): readonly Expr[] {
  if (isOfSeries(key)) return [key];
  if (key.k === 'doc') return key.fields.flatMap(([, value]) => partsOfSeries(value));
  return key.k === 'call' ? key.args.flatMap(partsOfSeries) : [];
}

function areSame(left: Maybe, right: Maybe): boolean {
  return (
    left === right ||
    (typeName(left) === typeName(right) && typeof left === 'object' && compareValues(left, right) === 0)
  );
}

function keyCell(keys: string[], sql: string | undefined): number {
  return sql === undefined ? -1 : keys.push(sql) - 1;
}

interface KeyCells {
  readonly ofSeries: readonly number[];
  readonly leaves: readonly Readonly<Record<'number' | 'text' | 'bool' | 'kind', number>>[];
  readonly times: readonly number[];
  readonly truths: readonly number[];
}

/** Computes keys from grouped inputs with the plan's own expression. */
function keyReader(
  { key, inputs }: KeyParts,
  files: readonly OpenFile[],
  cells: KeyCells,
): (chunk: Chunk) => (row: number) => BsonValue {
  if (isOfSeries(key)) {
    const keys = valuesIn(files, key);
    if (referencedFields(key)?.length === 0) return () => () => keys(0)[0] ?? null;
    return (chunk) => {
      const [file, series] = cells.ofSeries.map((cell) => chunk.int32(cell)) as [Int32Array, Int32Array];
      return (row) => keys(file[row] as number)[series[row] as number] ?? null;
    };
  }
  const { value } = evaluator(key);
  return (chunk) => {
    // Accumulators may need the series even if the key does not.
    const [file, series] = inputs.ofSeries ? cells.ofSeries.map((cell) => chunk.int32(cell)) : [];
    const leaves = cells.leaves.map((each, index) =>
      inputs.leaves[index]?.leaf.kinds === kind.null ? () => null : leafReader(chunk, each),
    );
    const times = cells.times.map((cell) => ({ present: chunk.present(cell), values: chunk.int64(cell) }));
    const truths = cells.truths.map((cell) => chunk.bytes(cell));
    return (row) => {
      const known = file && series && files[file[row] as number]?.values.documents()[series[row] as number];
      const document = new BsonDocument(known ?? []);
      for (const [index, { column, stepMs }] of inputs.times.entries()) {
        const { present, values } = times[index] as (typeof times)[number];
        document.set(column, present(row) ? new BsonDate(Number(values[row]) * stepMs) : null);
      }
      for (const [n, truth] of truths.entries()) document.set(truthField(n), truth[row] !== 0);
      if (leaves.length > 0) {
        const data = new BsonDocument();
        for (const [index, { path }] of inputs.leaves.entries()) {
          const found = leaves[index]?.(row);
          if (found !== undefined) put(data, path, found);
        }
        document.set('data', data);
      }
      return value(document) ?? null;
    };
  };
}

function put(document: BsonDocument, path: readonly string[], value: BsonValue): void {
  let inner = document;
  for (const name of path.slice(0, -1)) {
    const below = inner.get(name);
    if (below instanceof BsonDocument) inner = below;
    else {
      const made = new BsonDocument();
      inner.set(name, made);
      inner = made;
    }
  }
  inner.set(path.at(-1) as string, value);
}

/** For a leaf that is neither object nor array; undefined where it is missing. */
function leafReader(
  chunk: Chunk,
  cells: Readonly<Record<'number' | 'text' | 'bool' | 'kind', number>>,
): (row: number) => BsonValue | undefined {
  const readers: ((row: number) => BsonValue | undefined)[] = [];
  if (cells.number >= 0) {
    const [present, values] = [chunk.present(cells.number), chunk.double(cells.number)];
    readers.push((row) => (present(row) ? (values[row] as number) : undefined));
  }
  if (cells.text >= 0) {
    const [present, values] = [chunk.present(cells.text), chunk.blob(cells.text)];
    readers.push((row) => (present(row) ? Buffer.from(values(row)).toString('utf8') : undefined));
  }
  if (cells.bool >= 0) {
    const [present, values] = [chunk.present(cells.bool), chunk.bytes(cells.bool)];
    readers.push((row) => (present(row) ? values[row] !== 0 : undefined));
  }
  if (cells.kind >= 0) {
    const [present, values] = [chunk.present(cells.kind), chunk.bytes(cells.kind)];
    readers.push((row) => (present(row) && values[row] === kind.null ? null : undefined));
  }
  return (row) => {
    for (const read of readers) {
      const value = read(row);
      if (value !== undefined) return value;
    }
    return undefined;
  };
}
