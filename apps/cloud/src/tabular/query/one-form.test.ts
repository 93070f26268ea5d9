import { expect, test } from 'vitest';
import { type OpenTabular, openTabular } from '../testing/open-tabular.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);
const dayMs = 86_400_000;

type Stages = readonly Record<string, unknown>[];

/** Seals one day for each sensor with the given number of readings. */
async function sealDays(
  store: OpenTabular,
  days: readonly (readonly [componentName: string, readings: number])[],
): Promise<void> {
  for (const [day, [componentName, count]] of days.entries()) {
    const readings = Array.from({ length: count }, (_, n) => ({
      data: { n },
      receivedMs: noonMs + day * dayMs + n * 1_000,
    }));
    store.append({ metadata: { componentName }, readings });
    await store.tabular.seal();
  }
}

async function expectSameBytes(store: OpenTabular, stages: Stages): Promise<void> {
  const [pushed, plain] = [await store.ask(stages), await store.ask(stages, { pushDown: false })];
  expect(Buffer.from(pushed.bytes).toString('hex')).toBe(Buffer.from(plain.bytes).toString('hex'));
}

const value = { $cond: [{ $eq: ['$component_name', 'cpu'] }, 1, { $toLong: 1 }] };
const zero = { $cond: [{ $eq: ['$component_name', 'cpu'] }, 0, { $toInt: 0 }] };
const ends: readonly Record<string, unknown>[] = [
  { $group: { _id: value, n: { $sum: 1 } } },
  { $group: { _id: { k: value } } },
  { $group: { _id: zero } },
  { $group: { _id: null, least: { $min: value } } },
  { $group: { _id: value, m: { $median: { input: '$data.n', method: 'approximate' } } } },
];

test('I7 among equal numbers of different types the first row determines the group key, however each file is read', async () => {
  await using store = await openTabular();
  await sealDays(store, [
    ['cpu', 3],
    ['arm', 3],
  ]);
  // Footers answer for the second day alone.
  const some = { $match: { time_received: { $gt: new Date(noonMs) } } };
  for (const end of ends) {
    await expectSameBytes(store, [end]);
    await expectSameBytes(store, [some, end]);
  }
});

test('I7 among equal numbers of different types the first row determines the group key, in whatever order files are grouped', async () => {
  await using store = await openTabular();
  await sealDays(store, [
    ['arm', 3],
    ['cpu', 30],
    ['cpu', 20],
  ]);
  for (const end of ends) await expectSameBytes(store, [{ $match: { 'data.n': { $gte: 1 } } }, end]);
  const named = { $group: { _id: value, name: { $max: '$component_name' } } };
  await expectSameBytes(store, [{ $match: { 'data.n': { $gte: 1 } } }, named]);
});

test('explain states why a key whose values could differ in form is left to the executor', async () => {
  await using store = await openTabular();
  await sealDays(store, [['cpu', 3]]);
  const why = 'its values could be equal but look different, such as 1 and 1.0';
  for (const [key, part] of [
    [value, '$group._id.$cond'],
    [{ k: value, name: '$component_name' }, '$group._id.k.$cond'],
  ]) {
    const { explain } = await store.ask([{ $group: { _id: key } }], { explain: true });
    expect(explain?.sources.map(({ notPushed }) => notPushed)).toEqual([[{ part, why }]]);
  }
});
