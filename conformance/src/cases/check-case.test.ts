import { describe, expect, test } from 'vitest';
import { checkCase } from './check-case.ts';

const docs = [
  { _id: { $numberInt: '1' }, a: { $numberInt: '5' } },
  { _id: { $numberInt: '2' }, a: { $numberInt: '7' } },
];
const sevens = [{ $match: { a: { $numberInt: '7' } } }];

/** A line with these fields; the defaults make a case that passes. */
function line(fields: object): string {
  return JSON.stringify({
    name: 'own',
    source: 'own',
    docs,
    pipeline: sevens,
    ordered: true,
    expected: [docs[1]],
    ...fields,
  });
}

async function verdictOf(fields: object): Promise<string> {
  return (await checkCase(line(fields), false)).verdict;
}

describe('a result', () => {
  test('that is exact passes', async () => {
    expect(await verdictOf({})).toBe('passed');
  });

  test.each<[string, object[]]>([
    ['of another number type', [{ _id: { $numberInt: '2' }, a: { $numberLong: '7' } }]],
    ['with another order of fields', [{ a: { $numberInt: '7' }, _id: { $numberInt: '2' } }]],
    ['with fewer documents', []],
  ])('%s fails, with what was expected and found', async (_, expected) => {
    const { verdict, details } = await checkCase(line({ expected }), false);
    expect(verdict).toBe('failed');
    expect(details?.actual).toBe('[{"_id":{"$numberInt":"2"},"a":{"$numberInt":"7"}}]');
    expect(details?.query).toBe('[{"$match":{"a":{"$numberInt":"7"}}}]');
  });

  test('where a refusal is expected fails', async () => {
    expect(await verdictOf({ expected: undefined, error: { code: 40324 } })).toBe('failed');
    expect(await verdictOf({ expected: undefined, error: { msg: 'anything' } })).toBe('failed');
  });
});

describe('a refusal', () => {
  const twoKeys = [{ $match: {}, $limit: { $numberInt: '1' } }];

  test('passes only with the same numeric code', async () => {
    const refused = { pipeline: twoKeys, expected: undefined, in22: true };
    expect(await verdictOf({ ...refused, error: { code: 40323 } })).toBe('passed');
    expect(await verdictOf({ ...refused, error: { code: 40324 } })).toBe('failed');
  });

  test('passes with any code if the case has another implementation’s text', async () => {
    expect(await verdictOf({ pipeline: twoKeys, expected: undefined, error: { msg: 'some text' } })).toBe('passed');
  });

  test('where a result is expected fails', async () => {
    expect(await verdictOf({ pipeline: twoKeys })).toBe('failed');
  });
});

describe('a stage that we do not support', () => {
  const lookup = [{ $lookup: { from: 'x', as: 'y', pipeline: [] } }];

  test('must be refused as such, whatever the case expects', async () => {
    const checked = await checkCase(line({ pipeline: lookup, in22: false, expected: [] }), false);
    expect(checked).toMatchObject({ verdict: 'passed', kind: 'unsupported stage' });
  });

  test('is recognized even if the case does not say so', async () => {
    expect(await verdictOf({ pipeline: [...sevens, ...lookup] })).toBe('passed');
  });

  test('fails if it was run, or refused for another reason', async () => {
    expect(await verdictOf({ in22: false })).toBe('failed');
    expect(await verdictOf({ in22: false, pipeline: [{ $limit: { $numberInt: '-1' } }, ...lookup] })).toBe('failed');
  });
});

describe('cases that do not apply to this engine are excluded and counted with the reason', () => {
  test.each<[string, object, string]>([
    ['options', { options: { collation: { locale: 'en' } } }, 'the option collation is not on the wire'],
    ['text indexes', { pipeline: [{ $match: { $text: { $search: 'a' } } }] }, '$text needs a text index'],
    ['a fault of an index', { expected: undefined, error: { code: 27 } }, 'missing or unclear index'],
    ['documents that are not in the case', { docs: [] }, 'were written by an earlier query'],
  ])('%s', async (_, fields, reason) => {
    expect(await checkCase(line({ in22: true, ...fields }), false)).toMatchObject({
      verdict: 'excluded',
      reason: expect.stringContaining(reason),
    });
  });

  test('but never for an unsupported stage', async () => {
    expect(await verdictOf({ pipeline: [{ $facet: {} }], docs: [] })).toBe('passed');
  });
});

test('a statement that must not compile passes when it is refused, and fails when it is not', async () => {
  const sql = { source: 'own', current_db: 'db', databases: { db: { t: docs } }, schemas: {}, ordered: false };
  const check = async (text: string): Promise<string> =>
    (await checkCase(JSON.stringify({ ...sql, name: 'a.yml: b', sql: text, error: { parse_error: '' } }), false))
      .verdict;
  expect(await check('SELECT FROM WHERE')).toBe('passed');
  expect(await check('SELECT * FROM t')).toBe('failed');
});

test('a statement that must mean the same as another passes if both compile to the same plan', async () => {
  const sql = { source: 'own', name: 'a.yml: b', current_db: null, databases: {}, schemas: {}, ordered: false };
  const check = async (text: string, expected: string): Promise<string> =>
    (await checkCase(JSON.stringify({ ...sql, sql: text, expected }), false)).verdict;
  expect(await check('SELECT a  FROM t', 'SELECT a FROM t AS t')).toBe('passed');
  expect(await check('SELECT a FROM t', 'SELECT b FROM t')).toBe('failed');
  expect(await check('SELECT a FROM t', 'SELECT FROM WHERE')).toBe('failed');
});

test('labels name the stages, and the operator in the path or those in the pipeline', async () => {
  const pipeline = [{ $match: {} }, { $project: { x: { $abs: { $add: ['$a', { $numberInt: '1' }] } } } }];
  const named = 'core/operator/expressions/arithmetic/add/test_add.py::test[x]';
  const labels = async (name: string): Promise<object> => {
    const { stages, operators } = await checkCase(line({ name, pipeline }), false);
    return { stages, operators };
  };
  expect(await labels(named)).toEqual({ stages: ['$match', '$project'], operators: ['$add'] });
  expect(await labels('other.out:7')).toEqual({ stages: ['$match', '$project'], operators: ['$abs', '$add'] });
  expect(await labels('core/operator/stages/match/test.py::x')).toMatchObject({ operators: [] });
});

test('each alteration of a passed expectation is noticed', async () => {
  const pipeline = [{ $replaceWith: { a: { $numberInt: '1' }, b: null, c: { $numberDouble: '0.0' } } }];
  const expected = [{ a: { $numberInt: '1' }, b: null, c: { $numberDouble: '0.0' } }];
  const { verdict, alterations } = await checkCase(line({ docs: [{}], pipeline, expected }), true);
  expect(verdict).toBe('passed');
  expect(alterations).toEqual([
    { alteration: 'int → long', noticed: true },
    { alteration: 'key order', noticed: true },
    { alteration: 'dropped null', noticed: true },
    { alteration: '−0', noticed: true },
  ]);
});
