import { expect, test } from 'vitest';
import { Int32 } from '../bson/value.ts';
import { codeOf, evaluate } from '../testing/evaluate.ts';
import { bson, doc } from '../testing/run.ts';

test('$arrayToObject: the first element decides the form of all', async () => {
  const made = (a: unknown): Promise<unknown> => evaluate({ $arrayToObject: '$a' }, { a });
  expect(
    await made([
      ['x', 1],
      ['y', 2],
      ['x', 3],
    ]),
  ).toEqual(doc({ x: 3, y: 2 }));
  expect(await made([{ v: 1, k: 'x' }])).toEqual(doc({ x: 1 }));
  const code = (a: unknown): Promise<unknown> => codeOf({ $arrayToObject: '$a' }, { a });
  expect(await code([['x', 1], { k: 'y', v: 2 }])).toBe(40396);
  expect(await code([{ k: 'y', v: 2 }, ['x', 1]])).toBe(40391);
  expect(await code([['x']])).toBe(40397);
  expect(await code([{ k: 'x', v: 1, w: 2 }])).toBe(40392);
  expect(await code([{ k: 'x', w: 2 }])).toBe(40393);
  expect(await code([5])).toBe(40398);
  expect(await code([['a\0b', 1]])).toBe(4940400);
});

test('$mergeObjects: a later value wins but keeps the earlier position; null is ignored; items of one array are merged', async () => {
  const row = { a: { x: 1, y: 2 }, b: { x: 3 }, list: [{ p: 1 }, null, { q: 2 }] };
  const merged = await evaluate({ $mergeObjects: ['$a', '$missing', '$b'] }, row);
  expect(merged).toEqual(doc({ x: 3, y: 2 }));
  expect([...Object(merged).keys()]).toEqual(['x', 'y']);
  expect(await evaluate({ $mergeObjects: '$list' }, row)).toEqual(doc({ p: 1, q: 2 }));
  expect(await codeOf({ $mergeObjects: ['$list', {}] }, row)).toBe(40400);
});

test('$getField reads names that no path can: with dots and dollars; for a non-object it gives nothing', async () => {
  const row = { 'a.b': 1, $c: 2, n: 5, nothing: null };
  expect(await evaluate({ $getField: 'a.b' }, row)).toEqual(new Int32(1));
  expect(await evaluate({ $getField: { $literal: '$c' } }, row)).toEqual(new Int32(2));
  expect(await evaluate({ $getField: { field: 'x', input: '$n' } }, row)).toBe(undefined);
  expect(await evaluate({ $getField: { field: 'x', input: '$nothing' } }, row)).toBe(null);
  expect(await codeOf({ $getField: { field: '$n', input: '$$ROOT' } }, row)).toBe(3041704);
  expect(await codeOf({ $getField: { field: 'x' } }, row)).toBe(3041703);
});

test('$setField sets and removes by a constant name, in place', async () => {
  const set = (field: unknown, value: unknown): object => ({ $setField: { field, input: '$$ROOT', value } });
  expect([...Object(await evaluate(set('a', 9), { a: 1, b: 2 })).entries()]).toEqual([
    ['a', new Int32(9)],
    ['b', new Int32(2)],
  ]);
  expect(await evaluate(set('a', '$$REMOVE'), { a: 1, b: 2 })).toEqual(bson({ b: 2 }));
  expect(await evaluate({ $unsetField: { field: { $literal: '$x' }, input: '$$ROOT' } }, { $x: 1, b: 2 })).toEqual(
    bson({ b: 2 }),
  );
  expect(await codeOf(set('$a', 1))).toBe(4161108);
  expect(await codeOf(set({ $concat: ['$a', 'x'] }, 1))).toBe(4161106);
  expect(await codeOf(set(5, 1))).toBe(4161107);
});
