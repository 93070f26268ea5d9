import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { BsonDate, BsonDocument, type BsonValue, batchOf, documentsOf } from '@platform/query';
import { expect, test } from 'vitest';
import { kind } from '../../files/file-facts.ts';
import type { OpenFile } from '../open-files.ts';
import { Chunk } from './chunk.ts';
import { RowCells } from './row-cells.ts';
import { columnPart, fieldBytes, openObject, type Part, timePart, valueParts } from './row-parts.ts';
import type { Shape } from './row-shape.ts';
import { rowWriter } from './write-rows.ts';

function file(day: string, components: readonly string[]): OpenFile {
  const text = (number: number, column: string): string =>
    column === 'capture_day' ? day : (components[number] as string);
  return { values: { text }, allowed: Uint8Array.from(components, () => 1) } as unknown as OpenFile;
}

const files = [file('2026-05-16', ['cpu', 'a longer name']), file('2026-05-17', ['é'])];

function shape(name: string, kinds: number, columns: Shape['columns'], children: readonly Shape[] = []): Shape {
  return { name, kinds, writes: kinds, columns, isAlways: false, children };
}

const { missing, double, string, bool, object } = kind;
const optional = double | missing;

/** Rows of a table `t` as documents, and the number of chunks in which they came. */
async function written(fields: readonly Part[], cells: RowCells, table: string): Promise<[BsonDocument[], number]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection: DuckDBConnection = await instance.connect();
  await connection.run(`CREATE TABLE t AS ${table}`);
  const columns = cells.sql.map((sql) => (sql === '{file}' ? 'file' : sql));
  const result = await connection.stream(`SELECT ${columns.join(', ')} FROM t`);
  const decode = rowWriter(fields)(files);
  const rows: BsonDocument[] = [];
  let chunks = 0;
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) break;
    chunks++;
    rows.push(...documentsOf(decode(new Chunk(chunk.chunk, chunk.rowCount))));
  }
  connection.closeSync();
  return [rows, chunks];
}

const d = (fields: Record<string, BsonValue>): BsonDocument => BsonDocument.of(fields);
const of = (rows: readonly BsonDocument[], ...at: number[]): unknown[] => at.map((row) => rows[row]);

test('rows are correct across chunks and files, whichever parts have a fixed length', async () => {
  const cells = new RowCells();
  const inner = shape('in', object, {}, [
    shape('b', bool, { bool: 'b' }),
    shape('n', optional, { number: 'n' }),
    shape('maybe', object | missing, { kind: 'k' }, [shape('x', optional, { number: 'n' })]),
  ]);
  const fields: Part[] = [
    columnPart('component_name', 'name'),
    timePart('time_received', cells, 'at'),
    openObject('made'),
    ...valueParts(inner, cells),
    ...valueParts(shape('s', string | missing, { text: 's' }), cells),
    columnPart('capture_day', 'day'),
    { k: 'close' },
    { k: 'bytes', bytes: fieldBytes('one', 'constant') },
  ];
  const [rows, chunks] = await written(
    fields,
    cells,
    `SELECT CAST(i >= 5000 AS INTEGER) AS file, CAST(CASE WHEN i < 5000 THEN i % 2 ELSE 0 END AS INTEGER) AS series,
      CASE WHEN i < 2048 OR i % 3 > 0 THEN i * 1000 - 1 END AS time_received,
      i % 5 = 0 AS b, CASE WHEN i >= 4096 OR i % 2 = 0 THEN i / 4 END AS n,
      CASE WHEN i % 7 > 0 THEN 'text ' || repeat('t', i % 20) END AS s,
      CASE WHEN i % 11 > 0 THEN CAST(${object} AS UTINYINT) END AS k FROM range(7000) _(i)`,
  );
  expect(chunks).toBeGreaterThan(2);
  const expected = Array.from({ length: 7_000 }, (_, i) => {
    const n = i >= 4_096 || i % 2 === 0 ? { n: i / 4 } : {};
    const name = i >= 5_000 ? 'é' : i % 2 === 0 ? 'cpu' : 'a longer name';
    return d({
      name,
      at: i < 2_048 || i % 3 > 0 ? new BsonDate(i - 1) : null,
      made: d({
        in: d({ b: i % 5 === 0, ...n, ...(i % 11 > 0 && { maybe: d(i >= 4_096 || i % 2 === 0 ? { x: i / 4 } : {}) }) }),
        ...(i % 7 > 0 && { s: `text ${'t'.repeat(i % 20)}` }),
        day: i >= 5_000 ? '2026-05-17' : '2026-05-16',
      }),
      one: 'constant',
    });
  });
  expect(of(rows, 0, 1, 2_049, 4_097, 6_999)).toEqual(of(expected, 0, 1, 2_049, 4_097, 6_999));
  expect(batchOf(rows)).toEqual(batchOf(expected));
});

test('if only objects of a field are wanted, other values are omitted', async () => {
  const cells = new RowCells();
  const kinds = double | object | missing;
  const kept: Shape = {
    ...shape('o', kinds, { number: 'n', kind: 'k' }, [shape('x', optional, { number: 'x' })]),
    writes: object,
  };
  const [rows] = await written(
    valueParts(kept, cells),
    cells,
    `SELECT 0::INTEGER AS file, 0::INTEGER AS series, 1.5::DOUBLE AS n, 2.5::DOUBLE AS x, CAST(v AS UTINYINT) AS k
     FROM (VALUES (${object}), (${double}), (NULL)) _(v)`,
  );
  expect(rows).toEqual([d({ o: d({ x: 2.5 }) }), d({}), d({})]);
});

test('only large rows are checked', async () => {
  const cells = new RowCells();
  const fields = valueParts(shape('s', string, { text: 's' }), cells);
  const looked: number[] = [];
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const result = await connection.stream(
    "SELECT 0::INTEGER, 0::INTEGER, repeat('x', n) AS s FROM (VALUES (3), (600000), (500000), (700000)) _(n)",
  );
  const chunk = await result.fetchChunk();
  if (chunk === null) throw new Error('expected rows');
  const decode = rowWriter(fields, (row) => looked.push(row.length))(files);
  expect(decode(new Chunk(chunk.chunk, chunk.rowCount)).count).toBe(4);
  expect(looked).toEqual([600_013, 700_013]);
  connection.closeSync();
});
