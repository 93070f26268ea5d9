import { Binary, BsonDate, BsonDocument, type BsonValue, batchOf, Int32 } from '@platform/query';
import { tableFromIPC } from 'apache-arrow';
import { expect, test } from 'vitest';
import { arrowStream } from './arrow-rows.ts';

function tableOf(rows: readonly Record<string, BsonValue>[]) {
  return tableFromIPC(arrowStream(batchOf(rows.map((row) => BsonDocument.of(row)))));
}

test('a column has the type of its values; integers keep all digits, and become doubles if mixed with other numbers', () => {
  const table = tableOf([
    {
      n: new Int32(1),
      x: new Int32(1),
      at: new BsonDate(1_700_000_000_123),
      ok: true,
      name: 'a',
      raw: new Binary(new Uint8Array([1, 2])),
    },
    { n: 9_007_199_254_740_993n, x: 0.5, at: null },
  ]);
  const types = Object.fromEntries(table.schema.fields.map(({ name, type }) => [name, String(type)]));
  expect(types).toEqual({
    ...{ n: 'Int64', x: 'Float64', at: 'Timestamp<MILLISECOND, UTC>', ok: 'Bool', name: 'Utf8', raw: 'Binary' },
  });
  expect(table.getChild('n')?.toArray()).toEqual(new BigInt64Array([1n, 9_007_199_254_740_993n]));
  expect([...(table.getChild('x') ?? [])]).toEqual([1, 0.5]);
  expect([...(table.getChild('at') ?? [])]).toEqual([1_700_000_000_123, null]);
  expect([...(table.getChild('ok') ?? [])]).toEqual([true, null]);
  expect([...(table.getChild('raw') ?? [])]).toEqual([new Uint8Array([1, 2]), null]);
});

test('documents, lists and columns of mixed types become strings', () => {
  const table = tableOf([{ v: 'text', d: BsonDocument.of({ a: [1, null] }) }, { v: 2 }, { v: false }]);
  expect([...(table.getChild('v') ?? [])]).toEqual(['text', '2', 'false']);
  expect([...(table.getChild('d') ?? [])]).toEqual(['{"a":[1,null]}', null, null]);
});

test('an answer without rows is a stream without columns; many rows are split into batches', () => {
  expect(tableOf([]).numRows).toBe(0);
  const many = tableOf(Array.from({ length: 25_000 }, (_, n) => ({ n: new Int32(n) })));
  expect(many.numRows).toBe(25_000);
  expect(many.batches.length).toBe(3);
  expect(many.getChild('n')?.get(24_999)).toBe(24_999n);
});
