import { expect, test } from 'vitest';
import { Int32 } from '../bson/value.ts';
import { codeOf, evaluate } from '../testing/evaluate.ts';
import { bson } from '../testing/run.ts';

test('$reduce: value starts with the initial value and then takes each result', async () => {
  const joined = { $reduce: { input: '$a', initialValue: '', in: { $concat: ['$$value', '$$this'] } } };
  expect(await evaluate(joined, { a: ['x', 'y', 'z'] })).toBe('xyz');
  expect(await evaluate(joined, { a: [] })).toBe('');
  expect(await evaluate(joined, { a: null })).toBe(null);
  expect(await codeOf(joined, { a: 'x' })).toBe(40080);
  expect(await codeOf({ $reduce: { input: [], in: 1 } })).toBe(40078);
});

test('$reduce within $reduce: the inner this and value hide the outer ones only inside', async () => {
  const inner = { $reduce: { input: '$$this', initialValue: 0, in: { $add: ['$$value', '$$this'] } } };
  const outer = { $reduce: { input: '$a', initialValue: [], in: { $concatArrays: ['$$value', [inner]] } } };
  expect(await evaluate(outer, { a: [[1, 2], [3], []] })).toEqual(bson([3, 3, 0]));
});

test('a path starts at CURRENT if the query binds it', async () => {
  const row = { b: 'outer', a: [{ b: 1 }, { b: 2 }] };
  expect(await evaluate({ $map: { input: '$a', as: 'CURRENT', in: '$b' } }, row)).toEqual(bson([1, 2]));
  expect(
    await evaluate({ $let: { vars: { CURRENT: { $first: '$a' } }, in: ['$b', '$$CURRENT.b', '$$ROOT.b'] } }, row),
  ).toEqual([new Int32(1), new Int32(1), 'outer']);
});

test('names of variables: which may be bound, and which may be read', async () => {
  const binding = (name: string): object => ({ $let: { vars: Object.fromEntries([[name, 1]]), in: 1 } });
  expect(await codeOf(binding('größe_1'))).toBe(undefined);
  for (const name of ['', 'Upper', '1st', '$x', 'a-b', 'ROOT', 'NOW'])
    expect(await codeOf(binding(name)), name).toBe(9);
  expect(await codeOf('$$')).toBe(9);
  expect(await codeOf('$$a-b')).toBe(9);
  for (const text of ['$$unknown', '$$unknown.']) expect(await codeOf(text)).toBe(17276);
  expect(await codeOf('$$ROOT.')).toBe(40353);
  expect(await codeOf('$$CLUSTER_TIME')).toBe(10071200);
  expect(await codeOf('$')).toBe(16872);
  expect(await codeOf('$$ROOT.$a')).toBe(16410);
});
