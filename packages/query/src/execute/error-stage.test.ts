import { expect, test } from 'vitest';
import { batchOf } from '../bson/batch.ts';
import { parseMql } from '../mql/parse.ts';
import { splitPlan } from '../plan/rewrite/split-plan.ts';
import { QueryError } from '../query-error.ts';
import { doc, runMql, runSql } from '../testing/run.ts';
import { executeSplit } from './execute-split.ts';

const rows = [
  { n: 1, s: 'x', a: [1], b: [2] },
  { n: 2, s: 'y', a: [1], b: [2] },
].map(doc);

async function errorOf(run: Promise<unknown>): Promise<QueryError> {
  const error: unknown = await run.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (error instanceof QueryError) return error;
  throw error ?? new Error('the query was answered');
}

async function cutError(...pipeline: object[]): Promise<QueryError> {
  const { pre, post } = splitPlan(parseMql(pipeline.map(doc)));
  const run = async (): Promise<void> => {
    const input = [{ batch: batchOf(rows), done: false }];
    for await (const _ of executeSplit(pre, post, input));
  };
  return await errorOf(run());
}

const sortBy = { n: 1 };
const last2 = { documents: [-1, 0] };

test.each([
  [[{ $match: {} }, { $match: { $expr: { $divide: ['$n', 0] } } }], 1, '$match', 2],
  [[{ $match: {} }, { $limit: 9 }, { $project: { r: { $add: ['$s', 1] } } }], 2, '$project', 14],
  [[{ $project: { r: { $divide: [1, 0] } } }], 0, '$project', 2],
  [[{ $limit: 9 }, { $group: { _id: null, t: { $sum: { $toInt: '$s' } } } }, { $sort: { _id: 1 } }], 1, '$group', 241],
  [[{ $match: {} }, { $sort: { a: 1, b: 1 } }, { $group: { _id: '$n', f: { $first: '$s' } } }], 1, '$sort', 2],
  [[{ $limit: 9 }, { $bucket: { groupBy: '$s', boundaries: [1, 2] } }], 1, '$bucket', 40066],
  [[{ $limit: 9 }, { $replaceWith: '$n' }, { $count: 'n' }], 1, '$replaceWith', 40228],
  [
    [{ $limit: 9 }, { $setWindowFields: { sortBy, output: { d: { $derivative: { input: '$s' }, window: last2 } } } }],
    ...[1, '$setWindowFields', 14],
  ],
  [[{ $limit: 9 }, { $fill: { sortBy: { s: 1 }, output: { n: { method: 'linear' } } } }], 1, '$fill', 14],
] as [object[], number, string, number][])(
  '%j ends with the stage that failed, even when the plan is split',
  async (pipeline, stage, stageName, code) => {
    const error = await errorOf(runMql(rows, pipeline));
    expect(error).toMatchObject({ stage, stageName, code });
    expect(error.message).toMatch(`stage ${stage} (${stageName})`);
    expect((await cutError(...pipeline)).message).toBe(error.message);
  },
);

test('an error states the stage, the position in it, what was found, and the code', async () => {
  const failing = { $project: { total: { $add: ['$s', 1] } } };
  expect((await errorOf(runMql(rows, [{ $match: {} }, failing]))).message).toBe(
    'stage 1 ($project) at $project.total.$add: $add only supports numeric or date types, not string (TypeMismatch, code 14)',
  );
});

test('$derivative of texts reports that, with the output field', async () => {
  const output = { slope: { $derivative: { input: '$s' }, window: last2 } };
  expect(await errorOf(runMql(rows, [{ $setWindowFields: { sortBy, output } }]))).toMatchObject({
    codeName: 'TypeMismatch',
    path: '$setWindowFields.output.slope',
    reason: "the input of $derivative must be numbers, found string: can't $subtract string from string",
  });
});

test('errors that end the whole query, errors of its input, and SQL errors have no stage', async () => {
  const late = await errorOf(runMql(rows, [{ $sort: { n: 1 } }], { signal: AbortSignal.abort() }));
  expect(late).toMatchObject({ codeName: 'Interrupted', stage: undefined });
  const torn = [{ bytes: Uint8Array.of(5, 0, 0, 0, 9), ends: Uint32Array.of(5), count: 1 }];
  const input = async (): Promise<void> => {
    for await (const _ of executeSplit(
      [],
      parseMql([doc({ $sort: { n: 1 } })]).stages,
      torn.map((batch) => ({ batch, done: false })),
    ));
  };
  expect(await errorOf(input())).toMatchObject({ stage: undefined });
  const ofSql = errorOf(runSql([doc({ data: { list: [1] } })], 'SELECT data.list + 1 FROM readings'));
  expect(await ofSql).toMatchObject({ stage: undefined, line: 1, column: 18 });
});
