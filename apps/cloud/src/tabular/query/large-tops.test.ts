/** Sorts with a limit over many small files of large documents: only the documents of the answer are read. */
import type { JsonObject } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { type OpenTabular, openTabular } from '../testing/open-tabular.ts';

const files = 24;
const noonMs = Date.UTC(2026, 4, 17, 12);
const text = 'x'.repeat(20_000);

/** The kind of leaf changes from file to file, so that no two adjacent files share a statement. */
const mixed: readonly (JsonObject[string] | undefined)[] = [3, 'three', true, null, undefined, -0];

/** Each query that reads rows writes the rows before it to a file. */
async function fill(store: OpenTabular): Promise<void> {
  for (let file = 0; file < files; file++) {
    store.append({
      readings: [0, 1, 2].map((i) => {
        const value = mixed[file % mixed.length];
        const data = {
          n: file * 3 + i,
          of: file % 4,
          large: i > 0,
          text,
          ...(value !== undefined && { mixed: value }),
        };
        // Rows of several files have the same time.
        return { data, receivedMs: noonMs + Math.floor(file / 5) };
      }),
      syncedMs: noonMs,
    });
    await store.mql([{ $limit: 1 }]);
  }
}

const matches = [
  [],
  [{ $match: { component_name: 'cpu' } }],
  [{ $match: { component_name: 'cpu', 'data.large': true, 'data.mixed': { $nin: ['none', 9] } } }],
  [{ $match: { 'data.n': { $lt: 50, $gte: 3 }, 'data.mixed': { $ne: 'none' } } }],
];
const orders: readonly Record<string, 1 | -1>[] = [
  { time_received: -1 },
  { time_received: 1 },
  { 'data.n': -1 },
  { 'data.of': -1, time_received: 1 },
  { 'data.of': 1, 'data.large': -1 },
  { 'data.mixed': 1 },
  { 'data.mixed': -1, time_received: -1 },
  { 'data.none': 1 },
];

test('D34 I7 a sort with a limit over large documents reads only those that it returns, and few files if by time', async () => {
  await using store = await openTabular({ tailRows: 0, mergeFiles: 1_000, topBytes: 40_000 });
  await fill(store);
  for (const match of matches) {
    for (const order of orders) {
      for (const limit of [1, 2, 7]) {
        const stages = [...match, { $sort: order }, { $limit: limit }];
        const name = JSON.stringify(stages);
        const { explain, ...answer } = await store.ask(stages, { explain: true });
        const expected = await store.ask(stages, { pushDown: false });
        expect(Buffer.compare(answer.bytes, expected.bytes), name).toBe(0);
        expect(answer.count, name).toBe(limit);
        const { sources = [], rows } = explain ?? {};
        const isMixed = order['data.mixed'] !== undefined;
        // Columns do not distinguish 0 from -0: such files return their own documents.
        if (!isMixed) expect(rows, name).toBe(limit);
        // Rows of later files are later, so those files are not read.
        if (order['time_received'] !== undefined && Object.keys(order).length === 1)
          expect(sources[0]?.files, name).toBeLessThan(files);
        // Otherwise all files share one statement.
        if (!isMixed && !name.includes('mixed')) continue;
        expect(sources[0], name).toMatchObject({ does: 'top', rows: 0 });
        expect(sources[0]?.statements, name).toBeLessThanOrEqual(mixed.length);
        expect(sources.at(-1)?.does === 'documents' || isMixed, name).toBe(true);
      }
    }
  }
});

test('D34 one statement over many large documents reads those of its first rows in small batches', async () => {
  await using store = await openTabular({ topBytes: 1_000 });
  store.append({ readings: Array.from({ length: 90 }, (_, n) => ({ data: { n, text: text.repeat(10) } })) });
  await store.tabular.seal();
  const stages = [{ $sort: { 'data.n': -1 } }, { $limit: 85 }];
  const { explain, ...answer } = await store.ask(stages, { explain: true });
  expect(explain?.sources.map(({ does, rows }) => [does, rows])).toEqual([
    ['top', 0],
    ['documents', 83],
    ['documents', 2],
  ]);
  expect(Buffer.compare(answer.bytes, (await store.ask(stages, { pushDown: false })).bytes)).toBe(0);
});
