import { expect, test } from 'vitest';
import { bson, doc, refusalOf, runMql } from '../testing/run.ts';

const rows = [
  { _id: 1, g: 'a', v: 3, at: 1, tags: ['x', 'y'], facts: { k: 1 } },
  { _id: 2, g: 'a', v: null, at: 4, tags: ['y'], facts: { k: 2, l: 3 } },
  { _id: 3, g: 'a', v: 8, at: 2, tags: [], facts: null },
  { _id: 4, g: 'a', at: 3 },
].map(doc);

async function folded(accumulator: object, over = rows): Promise<unknown> {
  const [row] = await runMql(over, [{ $group: { _id: '$g', r: accumulator } }]);
  return row?.get('r');
}

test.each([
  [{ $firstN: { n: 2, input: '$v' } }, [3, null]],
  [{ $lastN: { n: 2, input: '$v' } }, [8, null]],
  [{ $lastN: { n: 9, input: '$v' } }, [3, null, 8, null]],
  [{ $minN: { n: 5, input: '$v' } }, [3, 8]],
  [{ $maxN: { n: 1, input: '$v' } }, [8]],
  [{ $top: { sortBy: { at: -1 }, output: '$_id' } }, 2],
  [{ $bottom: { sortBy: { at: -1 }, output: ['$_id', '$v'] } }, [1, 3]],
  [{ $topN: { n: 2, sortBy: { at: 1 }, output: '$_id' } }, [1, 3]],
  [{ $bottomN: { n: 2, sortBy: { at: 1 }, output: '$_id' } }, [4, 2]],
  [{ $top: { sortBy: { at: 1 }, output: '$none' } }, null],
  [{ $mergeObjects: '$facts' }, { k: 2, l: 3 }],
  [{ $setUnion: '$tags' }, ['x', 'y']],
  [{ $concatArrays: '$tags' }, ['x', 'y', 'y']],
  [{ $stdDevPop: '$v' }, 2.5],
  [{ $stdDevSamp: '$none' }, null],
  [{ $median: { input: '$at', method: 'approximate' } }, 2.0],
  [{ $percentile: { input: '$v', p: [0, 0.5, 1], method: 'approximate' } }, [3, 3, 8]],
])('%o', async (accumulator, expected) => {
  const found = await folded(accumulator);
  const isReal = '$median' in accumulator || '$percentile' in accumulator;
  expect(found).toEqual(isReal ? expected : bson(expected));
});

test('rows with equal keys keep their original order', async () => {
  const same = [1, 2, 3].map((n) => doc({ n, at: 0 }));
  expect(await folded({ $topN: { n: 2, sortBy: { at: 1 }, output: '$n' } }, same)).toEqual(bson([1, 2]));
  expect(await folded({ $bottomN: { n: 2, sortBy: { at: 1 }, output: '$n' } }, same)).toEqual(bson([2, 3]));
});

test('how many values are kept may depend on the group key', async () => {
  const input = [1, 1, 2, 2].map((part) => doc({ part }));
  const n = { $cond: [{ $eq: ['$part', 1] }, 1, 5] };
  const group = { _id: { part: '$part' }, r: { $firstN: { n, input: '$part' } } };
  expect((await runMql(input, [{ $group: group }])).map((row) => row.get('r'))).toEqual([bson([1]), bson([2, 2])]);
});

test('kept values count against the query’s memory, and are released', async () => {
  const many = Array.from({ length: 20_000 }, (_, n) => doc({ n, text: 'x'.repeat(100) }));
  const limits = { maxBytes: 200_000 };
  const few = { $topN: { n: 3, sortBy: { n: -1 }, output: '$text' } };
  expect(await runMql(many, [{ $group: { _id: null, r: few } }], limits)).toHaveLength(1);
  for (const accumulator of [{ $push: '$text' }, { $topN: { n: 1e6, sortBy: { n: 1 }, output: '$text' } }]) {
    await expect(runMql(many, [{ $group: { _id: null, r: accumulator } }], limits)).rejects.toMatchObject({
      codeName: 'QueryExceededMemoryLimitNoDiskUseAllowed',
    });
  }
});

test.each([
  [5787906, { $firstN: { input: '$v' } }],
  [5787907, { $firstN: { n: 1 } }],
  [5787901, { $maxN: { n: 1, input: '$v', by: 1 } }],
  [7548606, { $lastN: { n: 0, input: '$v' } }],
  [5788003, { $topN: { sortBy: { v: 1 }, output: 1 } }],
  [5788004, { $top: { sortBy: { v: 1 } } }],
  [5788005, { $top: { output: 1 } }],
  [7436100, { $median: 1 }],
  [40414, { $median: { input: 1 } }],
  [7750303, { $percentile: { input: 1, p: [2], method: 'approximate' } }],
  [40237, { $sum: [1] }],
  [14, { $count: 1 }],
  [15952, { $accumulator: {} }],
])('refused with code %i: %o', (code, accumulator) => {
  expect(refusalOf({ $group: { _id: null, r: accumulator } })).toMatchObject({ code, stage: 0, stageName: '$group' });
});
