import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@platform/base';
import { expect, test } from 'vitest';
import { createCatalog } from '../catalog/catalog.ts';
import { openTabular, testPlace } from '../testing/open-tabular.ts';
import type { StandingRules } from './standing-rules.ts';

const dayMs = 86_400_000;
const parts = ['p-1', 'p-2', 'p-3'];
const days = [0, 1, 2, 3];

test('D24 I10 repeated kills while rows are added, sealed, merged and removed: queries see no deleted row and miss no other', async () => {
  const nowMs = Date.UTC(2026, 4, 17, 12);
  const world: { rules: StandingRules } = { rules: { expired: [], recent: [] } };
  const clock = { ...systemClock, now: () => nowMs };
  const settings = { mergeFiles: 4 };
  await using store = await openTabular(settings, { clock, standingRulesOf: async () => world.rules });
  const catalog = createCatalog(store.db);
  const stop = new AbortController();
  const kept = new Set<number>();
  const rows: { readonly part: string; readonly day: number; readonly component: string }[] = [];
  const append = (): void => {
    const [part, day, component] = [
      parts[rows.length % 3] ?? '',
      days[(rows.length >> 1) % 4] ?? 0,
      `c-${rows.length % 2}`,
    ];
    kept.add(rows.length);
    store.append({
      place: { ...testPlace, partId: part },
      metadata: { componentName: component },
      readings: [{ data: { i: rows.length }, receivedMs: nowMs - day * dayMs }],
      syncedMs: nowMs,
    });
    rows.push({ part, day, component });
  };
  const forget = (isGone: (row: (typeof rows)[number]) => boolean): void => {
    for (const i of kept) if (isGone(rows[i] as (typeof rows)[number])) kept.delete(i);
  };
  const remover = (async () => {
    while (!stop.signal.aborted) {
      await store.tabular.removeDeleted('org-1', stop.signal).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  for (let round = 0; round < 24; round++) {
    for (let i = 0; i < 30; i++) append();
    if (round % 6 === 2) {
      // Retention only becomes shorter in this test, so that hidden rows stay hidden.
      const limit = 3 - Math.floor(round / 6);
      const firstDay = new Date(nowMs - (limit - 1) * dayMs).toISOString().slice(0, 10);
      world.rules = { expired: [{ paths: { part_id: ['p-1', 'p-2'] }, beforeDay: firstDay }], recent: [] };
    }
    const retained = world.rules.expired[0]?.beforeDay ?? '';
    forget(({ part, day }) => part !== 'p-3' && new Date(nowMs - day * dayMs).toISOString().slice(0, 10) < retained);
    if (round % 6 === 4) {
      const component = `c-${round % 4 === 0 ? 0 : 1}`;
      const upTo = store.append({ metadata: { componentName: 'last' }, readings: [] });
      await catalog.addDelete(
        'org-1',
        { predicate: { paths: { component_name: [component], part_id: ['p-3'] } }, upTo },
        nowMs,
      );
      forget((row) => row.part === 'p-3' && row.component === component);
    }
    if (round % 3 === 1) await store.tabular.seal();
    if (round % 5 === 3) store.tabular.killProcess();
    const seen = await store.mql([{ $project: { i: '$data.i' } }, { $sort: { i: 1 } }]);
    expect(seen.map((row) => row['i'])).toEqual([...kept].toSorted((a, b) => a - b));
  }
  stop.abort();
  await remover;
  await store.tabular.seal();
  const signal = new AbortController().signal;
  // Files that are merged during a pass are left to the next pass.
  const isOver = async (): Promise<boolean> => {
    const { complete } = await store.tabular.removeDeleted('org-1', signal);
    return complete && (await catalog.deletions('org-1')).length === 0;
  };
  await expect.poll(isOver).toBe(true);
  expect((await store.tabular.status()).fileRows).toBe(kept.size);
  // Now no rule hides anything: missing rows are really gone from the disk.
  world.rules = { expired: [], recent: [] };
  const seen = await store.mql([{ $project: { i: '$data.i' } }, { $sort: { i: 1 } }]);
  expect(seen.map((row) => row['i'])).toEqual([...kept].toSorted((a, b) => a - b));
  await expect
    .poll(async () => {
      const names = (await readdir(join(store.dataDir, 'parquet'))).filter((name) => name.endsWith('.parquet'));
      return (await catalog.fileNames()).symmetricDifference(new Set(names)).size;
    })
    .toBe(0);
});
