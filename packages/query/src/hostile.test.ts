import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBson } from './bson/decode.ts';
import { encodeBson } from './bson/encode.ts';
import { parseMql } from './mql/parse.ts';
import { decodePlan, encodePlan } from './plan/plan-codec.ts';
import type { Stage } from './plan/stage.ts';
import { QueryError } from './query-error.ts';
import { parseSql } from './sql/parse.ts';
import { doc, run } from './testing/run.ts';

const rows = [{ component_name: 'a', data: { x: 1, y: [1, { z: 'q' }] } }, { data: null }].map(doc);

async function survives(parse: () => ReturnType<typeof parseSql>): Promise<void> {
  try {
    const plan = parse();
    expect(decodePlan(encodePlan(plan))).toEqual(plan);
    const answer = await run(rows, plan.stages);
    for (const row of answer) expect(decodeBson(encodeBson(row))).toEqual(row);
    // A stage that needs whole rows: plans that read only the fields they name must give the same answer.
    const wholeRows: Stage = { k: 'shape', mode: 'set', tree: { k: 'tree', fields: [] } };
    expect(await run(rows, [wholeRows, ...plan.stages])).toEqual(answer);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    expect(error.message).not.toBe('');
  }
}

test('any sequence of SQL words gives rows or a query error, never a crash', async () => {
  const word = fc.constantFrom(
    ...`SELECT SELECT FROM FROM readings readings WHERE GROUP BY ORDER LIMIT HAVING DISTINCT AS * , , ( ) ( ) . [ ] { } : = < >= <> + - / || ::
      INT TIMESTAMP NOT AND OR IN BETWEEN LIKE IS NULL CASE WHEN THEN END CAST COUNT(*) SUM( MAX( UPPER( data data.x component_name 1 0 2.5
      'a' 'a' x VALUE DESC UNWIND( WITH PATH => tags tags[] INDEX OUTER TRUE /* */ LOG( COUNT( LCASE(`.split(/\s+/),
  );
  const sentence = fc.oneof(
    fc.array(word, { maxLength: 15 }),
    fc.array(word, { maxLength: 10 }).map((words) => ['SELECT', 'data.x', 'FROM', 'readings', 'WHERE', ...words]),
    fc.array(word, { maxLength: 8 }).map((words) => ['SELECT', ...words, 'FROM', 'readings']),
  );
  await fc.assert(
    fc.asyncProperty(sentence, (words) => survives(() => parseSql(words.join(' ')))),
    { numRuns: 2000 },
  );
});

test('any combination of MQL operators gives rows or a query error, never a crash', async () => {
  const name = fc.constantFrom(
    ...[
      '$match',
      '$project',
      '$addFields',
      '$group',
      '$sort',
      '$limit',
      '$skip',
      '$count',
      '$unset',
      '$and',
      '$or',
      '$not',
      '$in',
      '$eq',
      '$gt',
    ],
    ...[
      '$regex',
      '$elemMatch',
      '$size',
      '$type',
      '$mod',
      '$all',
      '$expr',
      '$add',
      '$divide',
      '$cond',
      '$map',
      '$filter',
      '$switch',
      '$let',
    ],
    ...[
      ...[
        '$reduce',
        '$range',
        '$zip',
        '$sortArray',
        '$setUnion',
        '$setEquals',
        '$getField',
        '$setField',
        '$mergeObjects',
      ],
      ...[
        '$arrayToObject',
        '$objectToArray',
        '$regexFindAll',
        '$replaceAll',
        '$split',
        '$trim',
        '$indexOfBytes',
        '$first',
      ],
      ...['$substrBytes', '$avg', '$firstN', '$percentile', 'vars', 'initialValue', 'find', 'replacement', 'regex'],
      ...['inputs', 'field', 'value', 'sortBy', 'n', 'cond', 'as', 'p', 'method', 'chars'],
    ],
    ...[
      '$slice',
      '$concat',
      '$toDate',
      '$dateTrunc',
      '$sum',
      '$push',
      '$literal',
      '_id',
      'a',
      'data',
      'data.x',
      'data.y.z',
      'input',
      'in',
      'if',
    ],
  );
  const { node } = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { depthSize: 'medium' },
      fc.constantFrom(
        0,
        1,
        -1,
        2.5,
        null,
        true,
        'a',
        '$data',
        '$data.x',
        '$data.y',
        '$$ROOT',
        '$$this',
        '$$REMOVE',
        '',
      ),
      fc.array(tie('node'), { maxLength: 3 }),
      fc.dictionary(name, tie('node'), { maxKeys: 2, noNullPrototype: true }),
    ),
  }));
  const stage = fc.tuple(
    fc.constantFrom('$match', '$project', '$addFields', '$group', '$sort'),
    fc.dictionary(name, node, { maxKeys: 2, noNullPrototype: true }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(stage, { minLength: 1, maxLength: 2 }), (stages) =>
      survives(() =>
        parseMql(stages.map(([key, spec]) => doc({ [key]: key === '$group' ? { _id: null, ...spec } : spec }))),
      ),
    ),
    { numRuns: 2000 },
  );
});

test('long chains and deep nesting end in a query error, never in an exhausted stack', () => {
  const hostile = [
    `SELECT ${'-'.repeat(2).concat('\n').repeat(10)}1${' + 1'.repeat(20_000)} FROM readings`,
    `SELECT data${'[0]'.repeat(20_000)} FROM readings`,
    `SELECT 1${'::INT'.repeat(20_000)} FROM readings`,
    `SELECT 1${' IS NULL'.repeat(20_000)} FROM readings`,
    `SELECT ${'NOT '.repeat(20_000)}TRUE FROM readings`,
    `SELECT ${'CASE WHEN '.repeat(50_000)}`,
    `SELECT ${'['.repeat(50_000)}`,
    `SELECT ${'ABS('.repeat(20_000)}`,
  ];
  for (const text of hostile) expect(() => parseSql(text)).toThrow(QueryError);
});
