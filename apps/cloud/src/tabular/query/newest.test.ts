import { expect, test } from 'vitest';
import { openTabular } from '../testing/open-tabular.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);
const dayMs = 86_400_000;

test('the newest readings of several days in one hot series are correct for each day queried', async () => {
  await using store = await openTabular();
  const times = [noonMs - dayMs, noonMs - dayMs + 1, noonMs, noonMs + 1];
  store.append({ readings: times.map((receivedMs, v) => ({ data: { v }, receivedMs })), syncedMs: noonMs + 2 });
  const newest = { $sort: { time_received: -1 } };
  const ask = (stages: readonly Record<string, unknown>[]) => store.mql([...stages, { $project: { v: '$data.v' } }]);
  const yesterday = { $match: { capture_day: '2026-05-16' } };
  expect(await ask([yesterday, newest, { $limit: 1 }])).toEqual([{ v: 1 }]);
  const days = [newest, { $group: { _id: '$capture_day', v: { $first: '$data.v' } } }, { $sort: { _id: 1 } }];
  for (const pushDown of [true, false])
    expect(await store.mql(days, { pushDown })).toEqual([
      { _id: '2026-05-16', v: 1 },
      { _id: '2026-05-17', v: 3 },
    ]);
});
