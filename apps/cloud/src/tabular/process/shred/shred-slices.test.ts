import { BsonDocument, encodeBson } from '@platform/query';
import { expect, test } from 'vitest';
import { largeRows } from '../../query/large-rows.ts';
import { shredSlices } from './shred-slices.ts';

test('D34 texts that are large on average get no column and are stored once, in the documents', async () => {
  const text = 'x'.repeat(2 * largeRows.rowBytes);
  const rows = [1, 2, 3].map((n) => encodeBson(BsonDocument.of({ n, text, name: 'a', rarely: n === 3 ? text : 'b' })));
  let end = 0;
  const ends = Uint32Array.from(rows, (row) => (end += row.length));
  const { leaves, buffers } = await shredSlices({ bytes: Buffer.concat(rows), ends }, [{ from: 0, to: 3 }]);
  const columns = (leaves[0] ?? []).map(({ path, column }) => [path.join('.'), column !== undefined]);
  expect(Object.fromEntries(columns)).toEqual({ '': true, n: true, text: false, name: true, rarely: true });
  expect(buffers.columns.map(({ type }) => type).toSorted()).toEqual(['DOUBLE', 'VARCHAR', 'VARCHAR']);
});
