import { expect, test } from 'vitest';
import { openFirstAccount } from '../../accounts/testing/open-first-account.ts';
import type { Database } from '../../metadata/tables.ts';
import type { TriggerDecision } from '../evaluate.ts';
import { lastFiredOf, listHistory } from './list-history.ts';
import { organizationDeleting, pruneHistory, TriggerHistory } from './trigger-history.ts';

const minute = 60_000;
const dayMs = 86_400_000;
const place = { organizationId: 'o1', partId: 'p1', triggerName: 't' };
const notification = { type: 'webhook', value: 'https://example.com', intervalMs: 0 } as const;
const decision = (atMs: number, more: Partial<TriggerDecision> = {}): TriggerDecision => ({
  ...{ outcome: 'fired', cause: [atMs], atMs, subject: '', reason: `at ${atMs}` },
  event: () => {
    throw new Error('the history makes no event');
  },
  notifications: [{ notification, key: 'k' }],
  ...more,
});

async function save(db: Database, fill: (history: TriggerHistory) => void): Promise<void> {
  const history = new TriggerHistory();
  fill(history);
  await db.transaction().execute((trx) => history.save(trx));
}

test('the history of a trigger is counted by outcome, subject and minute, across several transactions', async () => {
  const { db } = await openFirstAccount();
  const suppressed = [
    { notification, key: 'k', suppressed: 'interval' as const },
    { notification, key: 'l' },
  ];
  await save(db, (history) => {
    history.decided(place, decision(minute + 1));
    history.decided(place, decision(minute + 2, { notifications: suppressed }));
    history.decided(place, decision(minute + 3, { outcome: 'recovered', subject: 'key' }));
    history.failed(place, 2 * minute, 'damaged');
  });
  await save(db, (history) => {
    history.decided(place, decision(minute + 4, { notifications: suppressed }));
    history.decided({ ...place, partId: 'p2' }, decision(3 * minute));
    history.decided({ ...place, organizationId: 'o2', partId: 'p3' }, decision(3 * minute));
  });
  const rows = await listHistory(db, { organizationId: 'o1', partIds: ['p1'] }, 10);
  const shown = rows.map((row) => [row.minute, row.outcome, row.subject, row.count, row.sent]);
  expect(shown).toHaveLength(3);
  expect(shown).toEqual(
    expect.arrayContaining([
      [2 * minute, 'failed', '', 1, 0],
      [minute, 'fired', '', 3, 3],
      [minute, 'recovered', 'key', 1, 1],
    ]),
  );
  expect(rows.find(({ outcome }) => outcome === 'fired')).toMatchObject({
    ...{ suppressed_by_interval: 2, suppressed_as_not_told: 0, last_at: minute + 4, reason: `at ${minute + 4}` },
  });
  expect(await lastFiredOf(db, 'o1', 'p1')).toEqual(new Map([['t', minute + 4]]));
  expect(await lastFiredOf(db, 'o1', 'p3')).toEqual(new Map());
});

test('the history of an organization comes in pages, newest first, and never contains that of another', async () => {
  const { db } = await openFirstAccount();
  await save(db, (history) => {
    for (let n = 0; n < 60; n++) history.decided({ ...place, partId: `p${n % 7}` }, decision((n % 5) * minute));
    history.decided({ ...place, organizationId: 'o2', partId: 'p1', triggerName: 'other' }, decision(minute));
  });
  for (const partIds of [undefined, ['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6']]) {
    const whole = await listHistory(db, { organizationId: 'o1', partIds }, 100);
    expect(whole.map((row) => row.minute)).toEqual(whole.map((row) => row.minute).toSorted((a, b) => b - a));
    expect(whole.every((row) => row.organization_id === 'o1')).toBe(true);
    expect(whole.reduce((sum, row) => sum + row.count, 0)).toBe(60);
    const paged = [];
    for (let after: (typeof whole)[number] | undefined; ; ) {
      const page = await listHistory(db, { organizationId: 'o1', partIds }, 4, after);
      paged.push(...page);
      if (page.length < 4) break;
      after = page.at(-1);
    }
    expect(paged).toEqual(whole);
  }
  const filter = { organizationId: 'o1', partIds: undefined, startMs: minute, endMs: 3 * minute };
  const some = await listHistory(db, { ...filter, outcomes: ['fired'], triggerName: 't' }, 100);
  expect(new Set(some.map((row) => row.minute))).toEqual(new Set([minute, 2 * minute]));
  expect(await listHistory(db, { ...filter, outcomes: ['failed'] }, 100)).toEqual([]);
});

test('history is deleted after 30 days, the time of the last firing after a year, and both with their organization', async () => {
  const { db } = await openFirstAccount();
  const nowMs = 1_000 * dayMs;
  await save(db, (history) => {
    history.decided(place, decision(nowMs - 31 * dayMs));
    history.decided({ ...place, triggerName: 'u' }, decision(nowMs - 366 * dayMs));
    history.decided({ ...place, triggerName: 'v' }, decision(nowMs - dayMs));
  });
  expect(await pruneHistory(db, nowMs)).toBe(false);
  const names = async () =>
    (await listHistory(db, { organizationId: 'o1', partIds: undefined }, 10)).map((row) => row.trigger_name);
  expect(await names()).toEqual(['v']);
  expect([...(await lastFiredOf(db, 'o1', 'p1')).keys()].sort()).toEqual(['t', 'v']);
  await organizationDeleting(db, 'o1');
  expect(await names()).toEqual([]);
  expect(await lastFiredOf(db, 'o1', 'p1')).toEqual(new Map());
});
