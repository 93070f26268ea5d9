import { expect, test } from 'vitest';
import { type Batch, batchOf } from '../../bson/batch.ts';
import { Int32 } from '../../bson/value.ts';
import { parseMql } from '../../mql/parse.ts';
import { doc, runMql } from '../../testing/run.ts';
import { execute } from '../execute.ts';

const rows = Array.from({ length: 5000 }, (_, n) => doc({ n, text: 'x'.repeat(100) }));

test('a sort or group that exceeds its memory is refused', async () => {
  await expect(runMql(rows, [{ $sort: { n: -1 } }], { maxBytes: 100_000 })).rejects.toMatchObject({
    code: 292,
    status: 'resource_exhausted',
  });
  await expect(runMql(rows, [{ $group: { _id: '$n' } }], { maxBytes: 100_000 })).rejects.toMatchObject({ code: 292 });
});

test('a sort with a small limit holds few rows, whatever their order; equal ones keep their order', async () => {
  const all = [rows, rows, rows, rows].flat().map((row, at) => doc({ n: row.get('n'), text: row.get('text'), at }));
  for (const [by, [first, second]] of [
    [1, [0, 1]],
    [-1, [4_999, 4_998]],
  ] as const) {
    const top = await runMql(all, [{ $sort: { n: by } }, { $limit: 6 }], { maxBytes: 400_000 });
    const of = (name: string): unknown[] => top.map((row) => row.get(name));
    expect(of('n')).toEqual([first, first, first, first, second, second].map((n) => new Int32(n)));
    expect(of('at')).toEqual(
      [0, 1, 2, 3, 0, 1].map((copy, index) => new Int32(copy * rows.length + (index < 4 ? first : second))),
    );
  }
});

test('a sort with a small limit over large documents holds a few of them, not hundreds', async () => {
  const text = 'x'.repeat(1 << 20);
  const large = Array.from({ length: 60 }, (_, n) => doc({ n: (n * 7) % 60, text }));
  const top = await runMql(large, [{ $sort: { n: -1 } }, { $limit: 2 }], { maxBytes: 16 << 20 });
  expect(top.map((row) => row.get('n'))).toEqual([new Int32(59), new Int32(58)]);
});

test('the deadline and the signal end a query', async () => {
  const clock = {
    now: () => 2000,
    monotonic: () => 0,
    sleep: () => Promise.resolve(),
    after: () => ({ [Symbol.dispose]: () => {} }),
    every: () => ({ [Symbol.dispose]: () => {} }),
  };
  await expect(runMql(rows, [{ $match: {} }], { deadlineMs: 1000, clock })).rejects.toMatchObject({
    codeName: 'MaxTimeMSExpired',
    status: 'deadline_exceeded',
  });
  await expect(runMql(rows, [{ $match: {} }], { signal: AbortSignal.abort() })).rejects.toMatchObject({
    status: 'canceled',
  });
});

test('rows stream: reaching a limit stops reading the input', async () => {
  let read = 0;
  async function* endless(): AsyncGenerator<Batch> {
    for (;;) {
      read++;
      yield batchOf([doc({ n: read })]);
    }
  }
  let count = 0;
  for await (const batch of execute(parseMql([doc({ $match: {} }), doc({ $limit: 3 })]).stages, endless()))
    count += batch.count;
  expect(count).toBe(3);
  expect(read).toBeLessThan(5);
});

test('rows that only pass filters keep their original bytes', async () => {
  const input = batchOf([doc({ n: 1, deep: { a: [1, 'x'] } }), doc({ n: 2 })]);
  const output: Batch[] = [];
  for await (const batch of execute(parseMql([doc({ $match: { n: 1 } })]).stages, [input])) output.push(batch);
  expect(output[0]!.bytes).toEqual(input.bytes.slice(0, input.ends[0]));
});

const repeated = (times: number, stage: object): object[] => Array.from({ length: times }, () => stage);

test('values that grow without limit are refused while they are built, and never as an engine error', async () => {
  const row = [doc({ n: 1 })];
  const start = { $addFields: { a: 'x'.repeat(1000) } };
  let lets: unknown = '$$v0';
  for (let depth = 60; depth > 0; depth--) {
    const value = [`$$v${depth - 1}`, `$$v${depth - 1}`];
    lets = {
      $let: { vars: { [`v${depth}`]: depth === 1 ? ['$a', '$a'] : value }, in: depth === 60 ? `$$v${depth}` : lets },
    };
  }
  const hostile: object[][] = [
    [start, ...repeated(40, { $addFields: { a: { $concat: ['$a', '$a'] } } })],
    [start, ...repeated(40, { $addFields: { a: ['$a', '$a'] } })],
    [start, ...repeated(40, { $addFields: { a: { x: '$a', y: '$a' } } })],
    [start, ...repeated(40, { $addFields: { a: '$$ROOT', b: '$$ROOT' } })],
    [start, ...repeated(40, { $project: { a: '$$ROOT', b: '$$ROOT' } })],
    [start, ...repeated(40, { $replaceRoot: { newRoot: { a: '$$ROOT', b: '$$ROOT' } } })],
    [start, ...repeated(40, { $group: { _id: ['$_id', '$_id', '$a'], a: { $first: '$a' } } })],
    [start, ...repeated(40, { $addFields: { a: { $map: { input: ['$a', '$a'], in: '$$this' } } } })],
    [start, { $addFields: { a: lets } }],
  ];
  for (const pipeline of hostile) {
    await expect(runMql(row, pipeline), JSON.stringify(pipeline[1]).slice(0, 60)).rejects.toMatchObject({
      codeName: expect.stringMatching(/BSONObjectTooLarge|MemoryLimit/),
      status: 'resource_exhausted',
      message: expect.stringContaining('bytes'),
    });
  }
});

test('many rows of large values pass one after the other, and those held are counted', async () => {
  const grow = [
    { $addFields: { a: 'x'.repeat(1000) } },
    ...repeated(12, { $addFields: { a: { $concat: ['$a', '$a'] } } }),
  ];
  const many = rows.slice(0, 300);
  const lengths = await runMql(many, [...grow, { $project: { length: { $strLenCP: '$a' } } }, { $limit: 50 }]);
  expect(lengths).toHaveLength(50);
  const held = [
    { $sort: { n: 1 } },
    { $group: { _id: '$n', a: { $first: '$a' } } },
    { $group: { _id: '$n', a: { $max: '$a' } } },
  ];
  for (const stage of held) await expect(runMql(many, [...grow, stage])).rejects.toMatchObject({ code: 292 });
});

test('what one row builds and discards is limited too', async () => {
  const wide = { $map: { input: '$list', in: { $concat: ['$text', '$text'] } } };
  const row = doc({ text: 'x'.repeat(4_000_000), list: Array.from({ length: 1000 }, (_, n) => n) });
  await expect(runMql([row], [{ $match: { $expr: { $eq: [{ $size: wide }, 1] } } }])).rejects.toMatchObject({
    codeName: 'ExceededMemoryLimit',
    status: 'resource_exhausted',
  });
});

test('a pipeline of more than a thousand stages is refused', () => {
  expect(() => parseMql(repeated(1001, { $limit: 1 }).map(doc))).toThrow(/1000 stages, this one has 1001/);
});

test('nested loops end at the deadline, in the middle of a row', async () => {
  let calls = 0;
  const clock = {
    now: () => (calls++ > 50 ? 2000 : 0),
    monotonic: () => 0,
    sleep: () => Promise.resolve(),
    after: () => ({ [Symbol.dispose]: () => {} }),
    every: () => ({ [Symbol.dispose]: () => {} }),
  };
  const nested = (depth: number): object => ({
    $reduce: { input: { $range: [0, 100_000] }, initialValue: 0, in: depth === 0 ? 1 : nested(depth - 1) },
  });
  const endless = runMql([doc({ n: 1 })], [{ $project: { r: nested(3) } }], { deadlineMs: 1000, clock });
  await expect(endless).rejects.toMatchObject({ codeName: 'MaxTimeMSExpired' });
});
