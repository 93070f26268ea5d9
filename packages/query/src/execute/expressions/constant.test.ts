import { expect, test } from 'vitest';
import { codeOf, evaluate } from '../../testing/evaluate.ts';
import { runMql } from '../../testing/run.ts';

test('a constant that fails is an error even in a branch that is not taken and over no rows', async () => {
  const cond = { $cond: [{ $gt: ['$a', 0] }, 'yes', { $concat: ['x', 5] }] };
  expect(await codeOf(cond, { a: 1 })).toBe(16702);
  await expect(runMql([], [{ $project: { r: cond } }])).rejects.toMatchObject({
    code: 16702,
    path: expect.any(String),
  });
});

test('an expression that depends on the row fails only where it is evaluated', async () => {
  const cond = { $cond: [{ $gt: ['$a', 0] }, 'yes', { $concat: ['x', '$a'] }] };
  expect(await evaluate(cond, { a: 1 })).toBe('yes');
  expect(await codeOf(cond, { a: -1 })).toBe(16702);
});

test('a $switch whose cases are all constant and false is distinguished from one that no row matched', async () => {
  const branches = (when: unknown): object => ({
    $switch: {
      branches: [
        Object.fromEntries([
          ['case', when],
          ['then', 1],
        ]),
      ],
    },
  });
  expect(await codeOf(branches(false))).toBe(40069);
  expect(await codeOf(branches('$missing'))).toBe(40066);
  expect(await evaluate({ $switch: { ...Object(branches(null)).$switch, default: 'd' } })).toBe('d');
});

test('a $switch of constants may fail where it is never reached; its default is always read', async () => {
  const branch = (when: unknown, value: unknown): object =>
    Object.fromEntries([
      ['case', when],
      ['then', value],
    ]);
  const fails = { $divide: [1, 0] };
  expect(await evaluate({ $switch: { branches: [branch(false, fails)], default: 'd' } })).toBe('d');
  expect(await evaluate({ $switch: { branches: [branch('$a', 1), branch(true, 'b'), branch(fails, fails)] } })).toBe(
    'b',
  );
  expect(await codeOf({ $switch: { branches: [branch(true, 1)], default: fails } })).toBe(2);
  expect(await codeOf({ $switch: { branches: [branch('$a', fails)], default: 1 } })).toBe(2);
});

test('a constant that decides an $and or $or takes effect before its predecessors', async () => {
  const fails = { $divide: [1, '$zero'] };
  expect(await evaluate({ $and: [fails, false] }, { zero: 0 })).toBe(false);
  expect(await evaluate({ $or: [fails, 1] }, { zero: 0 })).toBe(true);
  expect(await codeOf({ $and: [fails, true] }, { zero: 0 })).toBe(2);
});

test('thousands of large constants are built row by row and dropped, not kept with the query', async () => {
  const large = { $replaceAll: { input: 'x'.repeat(1000), find: 'x', replacement: 'y'.repeat(1000) } };
  const fields = Object.fromEntries(
    Array.from({ length: 120 }, (_none, index) => [`f${index}`, { $strLenBytes: large }]),
  );
  await expect(runMql([], [{ $project: fields }])).resolves.toEqual([]);
  expect(await codeOf(Object.values(fields), {})).toBe(146);
});
