import { type Clock, systemClock } from '@platform/base';
import { describe, expect, test } from 'vitest';
import type { BsonDocument, Int32 } from '../../bson/value.ts';
import { parseMql } from '../../mql/parse.ts';
import { decodePlan, encodePlan } from '../../plan/plan-codec.ts';
import { doc, run, runMql } from '../../testing/run.ts';

const rows = (count: number, of: (index: number) => object = (index) => ({ v: index })): BsonDocument[] =>
  Array.from({ length: count }, (_, index) => doc({ _id: index, t: index, ...of(index) }));

const over = (fn: object, documents: readonly unknown[]): object => ({
  $setWindowFields: { sortBy: { t: 1 }, output: { r: { ...fn, window: { documents } } } },
});

/** A clock that advances by one whenever a query reads it, which it does every few steps of work. */
function countingClock(): Clock {
  let looks = 0;
  return { ...systemClock, now: () => ++looks, monotonic: () => 0 };
}

describe('the cost of a window', () => {
  // 6,000 rows with windows of 4,000: folds that started over for each row would take 20 million steps and read the clock a million times.
  const wide = rows(6000);
  const looks = 20_000;

  test.each(['$sum', '$avg', '$min', '$max', '$stdDevPop', '$stdDevSamp', '$count', '$addToSet'])(
    'a wide moving %s costs each row a few steps, not its length',
    async (fn) => {
      const input = fn === '$count' ? {} : fn === '$addToSet' ? { $mod: ['$v', 3] } : '$v';
      const limits = { deadlineMs: looks, clock: countingClock() };
      expect(await runMql(wide, [over({ [fn]: input }, [-2000, 2000]), { $count: 'n' }], limits)).toHaveLength(1);
    },
  );

  test.each(['$covariancePop', '$integral', '$median', '$minMaxScaler'])(
    'a wide moving %s costs no more',
    async (fn) => {
      const argument = { $covariancePop: ['$v', '$t'], $median: { input: '$v', method: 'approximate' } }[fn];
      const stage = over({ [fn]: argument ?? { input: '$v' } }, [-2000, 2000]);
      const limits = { deadlineMs: looks, clock: countingClock() };
      expect(await runMql(wide, [stage, { $count: 'n' }], limits)).toHaveLength(1);
    },
  );

  test('a window that must start over for each row sees the deadline', async () => {
    const fn = { $topN: { n: 3, sortBy: { v: 1 }, output: '$v' } };
    const slow = runMql(wide, [over(fn, [-2000, 2000])], { deadlineMs: looks, clock: countingClock() });
    await expect(slow).rejects.toMatchObject({ codeName: 'MaxTimeMSExpired' });
  });
});

describe('the memory of a window', () => {
  test('rows that do not fit into the budget are refused', async () => {
    const wide = rows(2000, (index) => ({ v: index, text: 'x'.repeat(1000) }));
    await expect(runMql(wide, [over({ $sum: '$v' }, [-1, 0])], { maxBytes: 1_000_000 })).rejects.toMatchObject({
      codeName: 'QueryExceededMemoryLimitNoDiskUseAllowed',
      stageName: '$setWindowFields',
    });
  });

  test('the memory of a partition is released before the next', async () => {
    const many = rows(3000, (index) => ({ p: index % 100, v: 'x'.repeat(100) }));
    const stage = {
      $setWindowFields: {
        partitionBy: '$p',
        sortBy: { t: 1 },
        output: { r: { $push: '$v', window: { documents: ['unbounded', 'current'] } } },
      },
    };
    expect(await runMql(many, [stage, { $limit: 1 }], { maxBytes: 3_000_000 })).toHaveLength(1);
  });

  test('a fold that starts over releases the memory of the previous one', async () => {
    const fn = { $firstN: { n: 100, input: '$text' } };
    const texts = rows(1000, () => ({ text: 'x'.repeat(200) }));
    expect(await runMql(texts, [over(fn, [-100, 0]), { $limit: 1 }], { maxBytes: 2_000_000 })).toHaveLength(1);
  });

  test('$densify applies the limit of the budget to the rows it sorts', async () => {
    const wide = rows(2000, (index) => ({ v: index, text: 'x'.repeat(1000) }));
    const densify = { $densify: { field: 'v', range: { step: 1, bounds: 'full' } } };
    await expect(runMql(wide, [densify], { maxBytes: 1_000_000 })).rejects.toMatchObject({
      codeName: 'QueryExceededMemoryLimitNoDiskUseAllowed',
    });
  });

  test('$densify without end reaches its own limit', async () => {
    const far = [doc({ v: 0 }), doc({ v: 1e15 })];
    const densify = { $densify: { field: 'v', range: { step: 1, bounds: 'full' } } };
    await expect(runMql(far, [densify, { $count: 'n' }])).rejects.toMatchObject({ code: 5897900 });
  });
});

test('sums of windows of all lengths equal those computed from scratch', async () => {
  const values = Array.from({ length: 200 }, (_, index) => ((index * 7919) % 101) - 50);
  const input = rows(values.length, (index) => ({ v: values[index]! }));
  for (const [lower, upper] of [
    [-3, 0],
    [-10, 5],
    [2, 9],
    [-20, -7],
    [0, 0],
    [-300, 1],
  ] as const) {
    const found = await runMql(input, [over({ $sum: '$v' }, [lower, upper]), { $project: { _id: 0, r: 1 } }]);
    const wanted = values.map((_, index) =>
      values.slice(Math.max(0, index + lower), Math.max(0, index + upper + 1)).reduce((sum, value) => sum + value, 0),
    );
    expect(found.map((row) => (row.get('r') as Int32).value)).toEqual(wanted);
  }
});

test('a plan with windows, ranges and steps crosses a process unchanged', async () => {
  const pipeline = [
    { $densify: { field: 't', range: { step: 2, bounds: [0, 9] } } },
    {
      $setWindowFields: {
        sortBy: { t: 1 },
        output: {
          near: { $sum: '$v', window: { range: [-2, { $add: [1, 1] }] } },
          before: { $shift: { output: '$v', by: -1, default: 'none' } },
          rank: { $rank: {} },
        },
      },
    },
  ];
  const plan = parseMql(pipeline.map(doc));
  const input = rows(5);
  expect(await run(input, decodePlan(encodePlan(plan)).stages)).toEqual(await run(input, plan.stages));
});
