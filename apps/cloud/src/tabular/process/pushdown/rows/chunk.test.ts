import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Chunk } from './chunk.ts';

let instance: DuckDBInstance;
beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:', { threads: '2' });
});
afterAll(() => instance.closeSync());

const text = (length: string): string => `repeat(chr(97 + CAST(i % 26 AS INTEGER)), ${length}) || CAST(i AS VARCHAR)`;

test.each([
  ['short and long', text('i % 40')],
  ['without a value in between', `CASE WHEN i % 3 = 0 THEN NULL ELSE ${text('i % 40')} END`],
  [
    'of many sizes, some larger than a block',
    text('(i * i * 7919) % 5000 + CASE WHEN i % 500 = 0 THEN 300000 ELSE 0 END'),
  ],
  ['few that are repeated', "'one text of some length ' || CAST(i % 5 AS VARCHAR)"],
  ['the same', "'one text of some length'"],
])('texts are read as DuckDB wrote them: %s', async (_, sql) => {
  const connection = await instance.connect();
  await connection.run(`CREATE OR REPLACE TABLE made AS SELECT i, ${sql} AS t FROM range(6000) r(i)`);
  for (const from of [
    'FROM made',
    'FROM made WHERE i % 37 = 0',
    'FROM made WHERE hash(i) % 2 = 0',
    'FROM made ORDER BY hash(i)',
    'FROM made ORDER BY i DESC',
    'FROM (SELECT i, max(t) AS t FROM made GROUP BY i)',
  ]) {
    const result = await connection.stream(`SELECT CAST(i AS INTEGER), t, md5(t) ${from}`);
    let rows = 0;
    for (let raw = await result.fetchChunk(); raw !== null && raw.rowCount > 0; raw = await result.fetchChunk()) {
      const expected = raw.getRows();
      const chunk = new Chunk(raw.chunk, raw.rowCount);
      const [present, blob] = [chunk.present(1), chunk.blob(1)];
      const found = expected.map((row, index) => [row[0], present(index) ? Buffer.from(blob(index)).toString() : null]);
      expect(found).toEqual(expected.map((row) => [row[0], row[1]]));
      rows += raw.rowCount;
    }
    expect(rows).toBeGreaterThan(100);
  }
  connection.closeSync();
});
