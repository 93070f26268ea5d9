import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type OpenTabular, openTabular, testPlace } from '../testing/open-tabular.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);
const dayMs = 86_400_000;
const sensors = ['cpu', 'arm', 'leg'];

/** Two sealed days and a hot one of three sensors on two parts; some readings without a time, and one other organization. */
async function fill(store: OpenTabular): Promise<void> {
  for (let day = 0; day < 3; day++) {
    for (const [index, componentName] of sensors.entries()) {
      const partId = `part-${index % 2}`;
      const readings = Array.from({ length: 5 + index }, (_, n) => ({
        data: { n, state: n % 2 === 0 ? 'on' : 'off' },
        receivedMs: noonMs + day * dayMs + n * 1_000,
        requestedMs: n === 3 ? null : noonMs + day * dayMs + n * 1_000 - 5,
      }));
      store.append({
        place: { ...testPlace, partId },
        metadata: { partId, componentName, tags: index === 0 ? ['a', 'b'] : [] },
        readings,
        syncedMs: noonMs + 3 * dayMs,
      });
    }
    store.append({ place: { ...testPlace, organizationId: 'org-2' }, readings: [{ data: { day } }] });
    if (day === 1) await store.tabular.seal();
  }
}

const times = {
  n: { $sum: 1 },
  least: { $min: '$time_requested' },
  most: { $max: '$time_received' },
  name: { $max: '$component_name' },
  none: { $sum: '$time_synced' },
};
const inOrder = { $sort: { _id: 1 } };

const groups: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  'a count': [{ $count: 'n' }],
  'by nothing': [{ $group: { _id: null, ...times } }],
  'by part': [{ $group: { _id: '$part_id', ...times } }, inOrder],
  'by part and sensor': [{ $group: { _id: { part: '$part_id', name: '$component_name' }, ...times } }, inOrder],
  'by day': [{ $group: { _id: '$capture_day', ...times } }, inOrder],
  'by tags': [{ $group: { _id: '$tags', n: { $sum: 2 } } }, inOrder],
  'of one sensor': [{ $match: { component_name: 'arm' } }, { $group: { _id: '$part_id', ...times } }, inOrder],
  'names alone': [{ $group: { _id: '$component_name' } }, inOrder],
  'since a time before all': [{ $match: { time_received: { $gte: new Date(noonMs - dayMs) } } }, { $count: 'n' }],
};

/** Hot rows in memory, or all of them in hot files. */
const tails = [{}, { tailRows: 0 }];

test.each(tails)(
  'I7 groups answered from footers equal those of the rows, and no row is read for them (%o)',
  async (settings) => {
    await using store = await openTabular(settings);
    await fill(store);
    for (const [name, stages] of Object.entries(groups)) {
      const { explain } = await store.ask(stages, { explain: true });
      expect([name, [...new Set(explain?.sources.map(({ does }) => does))].filter((does) => does !== 'hot')]).toEqual([
        name,
        ['facts'],
      ]);
      expect([name, await store.mql(stages)]).toEqual([name, await store.mql(stages, { pushDown: false })]);
    }
  },
);

test.each(tails)(
  'I7 I10 footers do not answer when a time, a deletion or a condition on values excludes rows (%o)',
  async (settings) => {
    await using store = await openTabular(settings);
    await fill(store);
    const cuts = [
      { $match: { time_received: { $gt: new Date(noonMs + 2_000) } } },
      { $match: { time_requested: { $lte: new Date(noonMs + dayMs) } } },
      { $match: { 'data.state': 'on' } },
    ];
    const ask = async (): Promise<void> => {
      for (const cut of cuts)
        for (const [name, stages] of Object.entries(groups))
          expect([cut, name, await store.mql([cut, ...stages])]).toEqual([
            cut,
            name,
            await store.mql([cut, ...stages], { pushDown: false }),
          ]);
    };
    await ask();
    await store.tabular.deleteRows({
      organizationId: 'org-1',
      predicate: { paths: { component_name: ['leg'] }, beforeDay: '2026-05-18' },
      dryRun: false,
      record: async () => {},
    });
    await ask();
    for (const [name, stages] of Object.entries(groups))
      expect([name, await store.mql(stages)]).toEqual([name, await store.mql(stages, { pushDown: false })]);
    // Five, six and seven a day, except for the seven of the first.
    expect(await store.mql([{ $count: 'n' }])).toEqual([{ n: 47 }]);
  },
);

test('I7 I10 rows in memory are counted directly: none is read, and none is written to a file first', async () => {
  await using store = await openTabular({ tailRows: 0 });
  await fill(store);
  const untimed = Object.entries(groups).filter(([name]) => !name.startsWith('since'));
  const ask = async (others: readonly string[]): Promise<[string, Record<string, unknown>[]][]> => {
    const answers: [string, Record<string, unknown>[]][] = [];
    for (const [name, stages] of untimed) {
      const { explain } = await store.ask(stages, { explain: true });
      const found = explain?.sources.filter(({ does }) => !others.includes(does));
      expect([name, found?.map(({ does }) => does)]).toEqual([name, ['facts']]);
      answers.push([name, await store.mql(stages)]);
    }
    // Files of sealed rows may still be waiting for removal.
    await expect.poll(() => readdirSync(join(store.dataDir, 'parquet', '.hot'))).toEqual([]);
    return answers;
  };
  const before = await ask([]);
  // A deletion covers existing rows, not later ones.
  await store.tabular.deleteRows({
    organizationId: 'org-1',
    predicate: { paths: { component_name: ['leg'] } },
    dryRun: false,
    record: async () => {},
  });
  store.append({
    place: { ...testPlace, partId: 'part-0' },
    metadata: { partId: 'part-0', componentName: 'leg' },
    readings: [{ data: { n: 9 }, receivedMs: noonMs + 2 * dayMs }],
    syncedMs: noonMs + 3 * dayMs,
  });
  // Sealed rows that are deleted but still on the disk are excluded one by one.
  const after = await ask(['group']);
  expect(after.find(([name]) => name === 'a count')?.[1]).toEqual([{ n: 34 }]);
  // These write the rows to a file.
  for (const [name, answer] of after)
    expect([name, await store.mql(groups[name] as never, { pushDown: false })]).toEqual([name, answer]);
  expect(before.find(([name]) => name === 'a count')?.[1]).toEqual([{ n: 54 }]);
});

test('I7 a series in several files is one group, whatever other series these files have', async () => {
  await using store = await openTabular();
  const append = (day: number, componentName: string): void => {
    const readings = [0, 1, 2].map((n) => ({ data: { n }, receivedMs: noonMs + day * dayMs + n * 1_000 }));
    store.append({ metadata: { componentName }, readings, syncedMs: noonMs + 3 * dayMs });
  };
  for (const [day, names] of [['cpu', 'arm'], ['arm', 'leg'], ['leg']].entries()) {
    for (const name of names) append(day, name);
    if (day < 2) await store.tabular.seal();
  }
  const stages = [{ $group: { _id: { name: '$component_name' }, ...times } }, inOrder];
  const { explain } = await store.ask(stages, { explain: true });
  expect(explain?.sources).toMatchObject([{ does: 'facts', files: 2, rows: 3 }]);
  expect(await store.mql(stages)).toEqual(await store.mql(stages, { pushDown: false }));
});
