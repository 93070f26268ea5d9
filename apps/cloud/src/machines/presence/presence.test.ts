import { silentLog } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { openFirstAccount } from '../../accounts/testing/open-first-account.ts';
import type { Database } from '../../metadata/tables.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { isContact } from './contact.ts';
import { openPresence, type Presence, type PresenceDeps, type Transition } from './presence.ts';
import { settled } from './testing/notified-transitions.ts';

interface Given {
  readonly db: Database;
  readonly clock: ManualClock;
  readonly presence: Presence;
  readonly transitions: Transition[];
  /** Advances the time second by second and runs the loop's step after each. */
  pass(seconds: number): Promise<void>;
}

async function given(exists: PresenceDeps['exists'] = () => true): Promise<Given> {
  const { db } = await openFirstAccount();
  const clock = new ManualClock();
  const transitions: Transition[] = [];
  const presence = await openPresence({
    db,
    clock,
    log: silentLog,
    exists,
    onTransitions: async (all) => ({ record: async () => {}, committed: () => void transitions.push(...all) }),
  });
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      clock.pass(1_000);
      await settled(presence);
    }
  };
  return { db, clock, presence, transitions, pass };
}

test('D17 a part awaits setup and fires nothing until its first contact, which fires online', async () => {
  const { presence, transitions, pass } = await given();
  await pass(200);
  expect(presence.of('a')).toEqual({ state: 'awaiting_setup', lastSeenMs: null, changedMs: null });
  expect(transitions).toEqual([]);
  presence.saw('a');
  expect(presence.of('a').state).toBe('online');
  await pass(1);
  expect(transitions).toMatchObject([{ partId: 'a', number: 1, kind: 'online' }]);
});

test('D17 a part is online until 60 s after its last contact, then offline, once', async () => {
  const { presence, transitions, pass } = await given();
  presence.saw('a');
  await pass(59);
  presence.saw('a');
  await pass(59);
  expect(presence.of('a').state).toBe('online');
  await pass(1);
  expect(presence.of('a').state).toBe('offline');
  await pass(300);
  expect(transitions.map(({ number, kind }) => `${number} ${kind}`)).toEqual(['1 online', '2 offline']);
});

test('D17 a part that polls every 2 min and has no link has a window of three polls, also after a restart', async () => {
  const { db, clock, presence, pass } = await given();
  presence.polls('a', 120_000);
  await pass(359);
  expect(presence.of('a').state).toBe('online');
  await pass(1);
  expect(presence.of('a').state).toBe('offline');
  presence.polls('a', 120_000);
  await pass(16);
  await presence[Symbol.asyncDispose]();
  const later = await openPresence({
    ...{ db, clock, log: silentLog, exists: () => true },
    onTransitions: async () => ({ record: async () => {}, committed: () => {} }),
  });
  for (const [seconds, state] of [
    [359, 'online'],
    [1, 'offline'],
  ] as const) {
    for (let second = 0; second < seconds; second++) {
      clock.pass(1_000);
      await settled(later);
    }
    expect(later.of('a').state).toBe(state);
  }
});

test('D17 a part with a link has a window of 60 s however rarely it polls; polls alone count again three polls after the link', async () => {
  const { presence, pass } = await given();
  presence.sawOnLink('a');
  presence.polls('a', 30_000);
  await pass(60);
  expect(presence.of('a').state).toBe('offline');
  presence.polls('a', 30_000);
  await pass(30);
  presence.polls('a', 30_000);
  await pass(89);
  expect(presence.of('a').state).toBe('online');
  await pass(1);
  expect(presence.of('a').state).toBe('offline');
});

test('D17 a stopped process and a suspended computer fire nothing, and then every part has a full window again', async () => {
  const { clock, presence, transitions, pass } = await given();
  presence.saw('a');
  await pass(50);
  // SIGSTOP: both clocks advance, but nothing runs.
  clock.pass(90_000);
  await pass(60);
  expect(presence.of('a').state).toBe('online');
  // Suspended: only the wall clock advances.
  clock.wallMs += 90_000;
  await pass(60);
  expect(presence.of('a').state).toBe('online');
  await pass(1);
  expect(transitions.map(({ kind }) => kind)).toEqual(['online', 'offline']);
});

test('D17 a request that holds the loop for 7 s, again and again, lengthens each window by that time only', async () => {
  const { clock, presence, pass } = await given();
  presence.saw('a');
  for (let stall = 0; stall < 19; stall++) {
    await pass(3);
    clock.pass(7_000);
    await settled(presence);
  }
  expect(presence.of('a').state).toBe('online');
  await pass(2);
  expect(presence.of('a').state).toBe('online');
  await pass(1);
  expect(presence.of('a').state).toBe('offline');
});

test('D17 a contact right after such a request gets the usual window', async () => {
  const { clock, presence, pass } = await given();
  presence.saw('a');
  await pass(10);
  clock.pass(7_000);
  presence.saw('a');
  await pass(59);
  expect(presence.of('a').state).toBe('online');
  await pass(1);
  expect(presence.of('a').state).toBe('offline');
});

test('D17 a step that waits for the database delays no window of the other parts', async () => {
  const { db } = await openFirstAccount();
  const clock = new FakeClock();
  const told = new Map(
    ['a online', 'slow asked', 'slow online', 'a offline'].map((name) => [name, Promise.withResolvers<void>()]),
  );
  const transitions: string[] = [];
  const tell = (name: string): void => {
    transitions.push(name);
    told.get(name)?.resolve();
  };
  const answered = Promise.withResolvers<void>();
  await using presence = await openPresence({
    db,
    clock,
    log: silentLog,
    exists: () => true,
    async onTransitions(all) {
      if (all.some(({ partId }) => partId === 'slow')) {
        told.get('slow asked')?.resolve();
        await answered.promise;
      }
      return {
        record: async () => {},
        committed: () => {
          for (const { partId, kind } of all) tell(`${partId} ${kind}`);
        },
      };
    },
  });
  presence.start();
  presence.saw('a');
  await told.get('a online')?.promise;
  await clock.advance(50_000);
  presence.saw('slow');
  await told.get('slow asked')?.promise;
  // The window of the other part ends while the step waits.
  await clock.advance(30_000);
  answered.resolve();
  await told.get('slow online')?.promise;
  await clock.advance(1_000);
  await told.get('a offline')?.promise;
  expect(transitions).toEqual(['a online', 'slow online', 'a offline']);
});

test('D17 a wall clock that is set back neither keeps a part online nor ends its window', async () => {
  const { clock, presence, pass } = await given();
  presence.saw('a');
  await pass(30);
  clock.wallMs -= 3_600_000;
  await pass(29);
  expect(presence.of('a').state).toBe('online');
  await pass(1);
  expect(presence.of('a').state).toBe('offline');
});

test('D17 ten thousand parts that disappear and return together fire one offline and one online each', async () => {
  const { db, presence, transitions, pass } = await given();
  const parts = Array.from({ length: 10_000 }, (_, index) => `part-${index}`);
  const allCall = (): void => {
    for (const partId of parts) presence.saw(partId);
  };
  allCall();
  await pass(61);
  allCall();
  await pass(1);
  const rows = await db.selectFrom('part_presence').select(['online', 'number']).execute();
  expect(rows).toHaveLength(10_000);
  expect(rows.every((row) => row.online === 1 && row.number === 3)).toBe(true);
  expect(transitions).toHaveLength(30_000);
});

test('a deleted part fires nothing and leaves no row', async () => {
  const alive = new Set(['a']);
  const { db, presence, transitions, pass } = await given((partId) => alive.has(partId));
  presence.saw('a');
  await pass(1);
  alive.delete('a');
  await pass(120);
  expect(transitions.map(({ kind }) => kind)).toEqual(['online']);
  expect(await db.selectFrom('part_presence').selectAll().execute()).toEqual([]);
  expect(presence.of('a').state).toBe('awaiting_setup');
});

test('the last contact survives a kill to within two minutes and a stop exactly, and is written at most once a minute', async () => {
  const { db, clock, presence, pass } = await given();
  const written = async (): Promise<number> => {
    const row = await db.selectFrom('part_presence').select('last_seen_ms').executeTakeFirst();
    return row?.last_seen_ms ?? 0;
  };
  const values = new Set<number>();
  for (let call = 0; call < 60; call++) {
    presence.saw('a');
    await pass(5);
    values.add(await written());
    expect(clock.now() - (await written())).toBeLessThanOrEqual(120_000);
  }
  expect(values.size).toBeLessThanOrEqual(6);
  presence.saw('a');
  await presence[Symbol.asyncDispose]();
  expect(await written()).toBe(clock.now());
});

test("contact is a call with the part's own credentials or with a key of its machine only", () => {
  const grant = { role: 'operator' as const, organizationId: 'o', locationId: null };
  const key = (...robotIds: (string | null)[]) => ({
    kind: 'key' as const,
    keyId: 'k',
    grants: robotIds.map((robotId) => ({ ...grant, robotId })),
  });
  expect(isContact({ kind: 'part', partId: 'p' }, 'p', 'm')).toBe(true);
  expect(isContact({ kind: 'part', partId: 'q' }, 'p', 'm')).toBe(false);
  expect(isContact(key('m'), 'p', 'm')).toBe(true);
  for (const other of [key(), key('n'), key(null), key('m', null)]) expect(isContact(other, 'p', 'm')).toBe(false);
});
