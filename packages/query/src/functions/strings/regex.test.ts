import { expect, test } from 'vitest';
import { Int32, Regex } from '../../bson/value.ts';
import { codeOf, evaluate } from '../../testing/evaluate.ts';
import { bson, doc } from '../../testing/run.ts';

test('$regexFind counts characters, and groups that took no part are null', async () => {
  expect(await evaluate({ $regexFind: { input: '😀 x1', regex: '(x)|(y)' } })).toEqual(
    doc({ match: 'x', idx: 2, captures: ['x', null] }),
  );
  expect(await evaluate({ $regexFind: { input: 'abc', regex: 'z' } })).toBe(null);
});

test('$regexFindAll continues after a match, one character after an empty one, and not beyond the end', async () => {
  const all = await evaluate({ $regexFindAll: { input: 'é1é22', regex: '[0-9]+' } });
  expect(all).toEqual(
    bson([
      { match: '1', idx: 1, captures: [] },
      { match: '22', idx: 3, captures: [] },
    ]),
  );
  const empty = await evaluate({ $regexFindAll: { input: '😀a', regex: '' } });
  expect(empty).toEqual(
    bson([
      { match: '', idx: 0, captures: [] },
      { match: '', idx: 1, captures: [] },
    ]),
  );
});

test('without a text or a pattern nothing matches, but the types are still checked', async () => {
  expect(await evaluate({ $regexMatch: { input: null, regex: 'a' } })).toBe(false);
  expect(await evaluate({ $regexFindAll: { input: 'a', regex: '$missing' } })).toEqual([]);
  expect(await codeOf({ $regexFind: { input: 5, regex: null } })).toBe(51104);
  expect(await codeOf({ $regexFind: { input: null, regex: 5 } })).toBe(51105);
  expect(await codeOf({ $regexFind: { input: null, regex: null, options: 5 } })).toBe(51106);
  expect(await codeOf({ $regexFind: { input: null, regex: '(' } })).toBe(51111);
});

test('options may be given in only one place', async () => {
  const match = (regex: unknown, options: unknown): object => ({ $regexMatch: { input: 'ABC', regex, options } });
  expect(await evaluate(match('b', 'i'))).toBe(true);
  expect(await evaluate(match(new Regex('b', 'i'), null))).toBe(true);
  expect(await codeOf(match(new Regex('b', 'i'), ''))).toBe(51107);
  expect(await codeOf(match('b', 'g'))).toBe(51108);
});

test('a dollar at the end matches before a last line break; a look-ahead at the end is not part of the match', async () => {
  expect(await evaluate({ $regexFind: { input: 'ab\n', regex: '(b)$' } })).toEqual(
    doc({ match: 'b', idx: 1, captures: ['b'] }),
  );
  expect(await evaluate({ $regexFind: { input: 'a1 a2', regex: 'a(?=(2))' } })).toEqual(
    doc({ match: 'a', idx: 3, captures: ['2'] }),
  );
  const places = await evaluate({ $regexFindAll: { input: 'aab', regex: '(?=a)' } });
  expect(places).toEqual(
    bson([
      { match: '', idx: 0, captures: [] },
      { match: '', idx: 1, captures: [] },
    ]),
  );
});

test('a pattern may begin with a request for UTF-8', async () => {
  expect(await evaluate({ $regexMatch: { input: 'é', regex: '(*UTF8)^.$' } })).toBe(true);
});

test('a negative look-ahead at the end of a pattern', async () => {
  const found = (input: string, regex: string, options = ''): Promise<unknown> =>
    evaluate({ $getField: { field: 'idx', input: { $regexFind: { input, regex, options } } } });
  expect(await found('foobar foobaz foo', 'foo(?!ba[rz])')).toEqual(new Int32(14));
  expect(await found('AX a', 'a(?!x)', 'i')).toEqual(new Int32(3));
});
