import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { silentLog } from '@platform/base';
import { type LogEntry, LogEntrySchema } from '@platform/proto/platform/common/v1/common';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openFirstAccount } from '../../accounts/testing/open-first-account.ts';
import type { Database } from '../../metadata/tables.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { createLogFilter, type LogQuery } from './filter.ts';
import { createMachineLogs, type MachineLogs } from './logs.ts';
import { machineAllowance } from './quota.ts';

const dayMs = 86_400_000;
const entry = (init: MessageInitShape<typeof LogEntrySchema>): LogEntry =>
  create(LogEntrySchema, { level: 'info', loggerName: 'x', ...init });
const at = (ms: number, message: string): LogEntry => entry({ message, time: timestampFromMs(ms) });

interface Given {
  readonly db: Database;
  readonly clock: ManualClock;
  readonly logs: MachineLogs;
  /** Bytes that readers received. */
  readonly sent: () => number;
  /** The messages of all pages, in order. */
  messages(query?: LogQuery, limit?: number, partId?: string): Promise<string[]>;
}

async function given(): Promise<Given> {
  const { db } = await openFirstAccount();
  const clock = new ManualClock();
  let sent = 0;
  const logs = createMachineLogs({
    db,
    clock,
    log: silentLog,
    allowanceOf: () => machineAllowance,
    organizationOf: () => 'org',
    onSent(partId, bytes) {
      if (partId === 'p') sent += bytes;
    },
  });
  return {
    db,
    clock,
    logs,
    sent: () => sent,
    async messages(query = {}, limit = 1_000, partId = 'p') {
      const found: string[] = [];
      let pageToken = '';
      do {
        const page = await logs.read({ partId, matches: createLogFilter(query), limit, pageToken });
        found.push(...page.entries.map((one) => one.message ?? ''));
        pageToken = page.nextPageToken;
      } while (pageToken !== '');
      return found;
    },
  };
}

test('D29 logs are read by level and text, newest first, for one part only', async () => {
  const { clock, logs, messages } = await given();
  await logs.append('p', [at(10, 'pump on'), at(30, 'disk'), at(20, 'pump stuck')]);
  await logs.append('q', [at(40, 'pump of another')]);
  await logs.appendOwn('p', { level: 'error', loggerName: 'cloud.ingest', message: 'refused' });
  expect(clock.now()).toBeGreaterThan(40);
  expect(await messages()).toEqual(['refused', 'disk', 'pump stuck', 'pump on']);
  expect(await messages({ filter: 'PUMP' })).toEqual(['pump stuck', 'pump on']);
  expect(await messages({ levels: ['error'] })).toEqual(['refused']);
});

test('a line is returned as it was sent, to the nanosecond', async () => {
  const { logs } = await given();
  const sent = entry({
    host: 'pi',
    message: 'm',
    stack: 's',
    time: { seconds: 1_700_000_000n, nanos: 123_456_789 },
    caller: { File: 'a.go', Line: 7 },
    fields: [{ Key: 'a', Type: 15, String: 'b' }],
  });
  await logs.append('p', [sent]);
  const { entries } = await logs.read({ partId: 'p', matches: () => true, limit: 1 });
  expect(create(LogEntrySchema, entries[0])).toEqual(sent);
});

test('D29 logs are read between two times, including the first one', async () => {
  const { logs } = await given();
  await logs.append('p', [at(100, 'a'), at(200, 'b'), at(300, 'c')]);
  const { entries } = await logs.read({ partId: 'p', matches: () => true, limit: 9, startMs: 200, endMs: 300 });
  expect(entries.map((one) => one.message)).toEqual(['b']);
});

test('lines from the cloud have fields and a caller in the shape that public clients read', async () => {
  const { logs } = await given();
  await logs.appendOwn('p', { level: 'info', loggerName: 'x', message: 'm', fields: { lines: 3, by: 'a' } });
  const { entries } = await logs.read({ partId: 'p', matches: createLogFilter({ filter: '"lines":3' }), limit: 1 });
  expect(entries).toMatchObject([
    {
      caller: { Defined: false, File: '', Line: 0, Function: '' },
      fields: [
        { Key: 'lines', Type: 11, Integer: 3, String: '', Interface: null },
        { Key: 'by', Type: 15, Integer: 0, String: 'a', Interface: null },
      ],
    },
  ]);
});

test('pages in ascending order contain every line once, oldest first', async () => {
  const { logs } = await given();
  await logs.append('p', [at(30, 'd'), at(10, 'a'), at(20, 'b'), at(20, 'c'), at(40, 'e')]);
  const found: (string | undefined)[] = [];
  let pageToken = '';
  do {
    const page = await logs.read({ partId: 'p', matches: () => true, limit: 2, oldestFirst: true, pageToken });
    found.push(...page.entries.map((one) => one.message));
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  expect(found).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('D29 pages contain every line present at the start exactly once, even if others arrive in between', async () => {
  const times = fc.array(fc.nat(20), { minLength: 1, maxLength: 40 });
  const { db, clock } = await given();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      times,
      fc.array(times, { maxLength: 8 }),
      fc.integer({ min: 1, max: 7 }),
      async (first, later, limit) => {
        const partId = `run${++run}`;
        const logs = createMachineLogs({
          db,
          clock,
          log: silentLog,
          allowanceOf: () => machineAllowance,
          organizationOf: () => 'org',
          onSent: () => {},
        });
        await logs.append(
          partId,
          first.map((ms, index) => at(ms, `first ${index}`)),
        );
        const found: { message: string; ms: number }[] = [];
        let pageToken = '';
        let page = 0;
        do {
          const answer = await logs.read({ partId, matches: () => true, limit, pageToken });
          for (const one of answer.entries)
            found.push({ message: one.message ?? '', ms: (one.time?.nanos ?? 0) / 1e6 });
          pageToken = answer.nextPageToken;
          await logs.append(
            partId,
            (later[page] ?? []).map((ms, index) => at(ms, `later ${page} ${index}`)),
          );
          page++;
        } while (pageToken !== '');
        const messages = found.map((one) => one.message);
        expect(new Set(messages).size).toBe(messages.length);
        expect(messages.filter((message) => message.startsWith('first')).toSorted()).toEqual(
          first.map((_, index) => `first ${index}`).toSorted(),
        );
        expect(found.map((one) => one.ms)).toEqual(found.map((one) => one.ms).toSorted((a, b) => b - a));
      },
    ),
    { numRuns: 30 },
  );
});

test('a page searches past any number of other lines for a rare one, and is empty with a token only when its time is up', async () => {
  const { db, clock, logs, messages } = await given();
  await logs.append('p', [at(1, 'needle')]);
  const hay = Array.from({ length: 25_000 }, (_, index) => ({
    part_id: 'p',
    time_ms: 2 + index,
    level: 'info',
    logger_name: 'x',
    host: '',
    message: 'hay',
    detail: '{}',
    received_ms: clock.now(),
  }));
  for (let from = 0; from < hay.length; from += 1_000)
    await db
      .insertInto('machine_logs')
      .values(hay.slice(from, from + 1_000))
      .execute();
  expect(await messages({ filter: 'needle' })).toEqual(['needle']);
  const asked = { partId: 'p', matches: createLogFilter({ filter: 'needle' }), limit: 1 };
  expect(await logs.read(asked)).toMatchObject({ entries: [{ message: 'needle' }] });
  const hurried = await logs.read({ ...asked, searchMs: 0 });
  expect(hurried).toMatchObject({ entries: [], nextPageToken: expect.stringMatching(/./) });
  const { nextPageToken: pageToken } = hurried;
  expect(await logs.read({ ...asked, pageToken })).toMatchObject({ entries: [{ message: 'needle' }] });
});

test('a page stays below the size limit of public clients, but always contains a line', async () => {
  const { logs, messages } = await given();
  const long = 'x'.repeat(16_000);
  await logs.append(
    'p',
    Array.from({ length: 200 }, () => at(5, long)),
  );
  const page = await logs.read({ partId: 'p', matches: () => true, limit: 1_000 });
  expect(page.entries.length).toBeGreaterThan(100);
  expect(page.entries.length).toBeLessThan(140);
  expect(await messages()).toHaveLength(200);
});

test('an invalid page token is refused', async () => {
  const { logs } = await given();
  for (const pageToken of ['x', '12', '1_2_3', `${'9'.repeat(20)}_1`])
    await expect(logs.read({ partId: 'p', matches: () => true, limit: 1, pageToken })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
});

test("D29 lines are kept for 30 days from their arrival, whatever the machine's clock shows, and then deleted", async () => {
  const { clock, logs, messages, db } = await given();
  const broken = entry({ message: 'no calendar', time: { seconds: 9_007_199_254_741n } });
  await logs.append('p', [at(0, '1970'), at(clock.now() + 365 * dayMs, 'next year'), broken]);
  clock.pass(29 * dayMs);
  while (await logs.forget());
  expect((await messages()).toSorted()).toEqual(['1970', 'next year', 'no calendar']);
  clock.pass(2 * dayMs);
  while (await logs.forget());
  expect(await messages()).toEqual([]);
  expect(await db.selectFrom('machine_log_days').selectAll().execute()).toEqual([]);
});

test('D29 deleting a part removes all its lines, and no others', async () => {
  const { db, logs, messages } = await given();
  for (let call = 0; call < 3; call++) await logs.append('p', Array(500).fill(at(1, 'gone')));
  await logs.append('q', [at(1, 'stays')]);
  await db.transaction().execute((trx) => logs.removePart(trx, 'p'));
  while (await logs.forget());
  expect(await messages()).toEqual([]);
  expect(await messages({}, 10, 'q')).toEqual(['stays']);
  expect(await db.selectFrom('machine_log_days').select('part_id').execute()).toEqual([{ part_id: 'q' }]);
});

test('D29 a noisy machine is limited to its allowance, as one line of its log reports, without limiting other machines', async () => {
  const { clock, logs, messages } = await given();
  const flood = Array(1_000).fill(at(1, 'noise'));
  for (let call = 0; call < 12; call++) await logs.append('p', flood);
  await logs.append('p', [entry({ level: 'error', message: 'why', time: timestampFromMs(1) })]);
  await logs.append('q', flood);
  expect(await messages({}, 1_000, 'q')).toHaveLength(1_000);
  clock.pass(61_000);
  await logs.tellLeftOut();
  await logs.tellLeftOut();
  const stored = await messages();
  expect(stored.filter((message) => message === 'noise')).toHaveLength(9_000);
  expect(stored).toContain('why');
  const told = stored.filter((message) => message.includes('dropped: this machine logs more'));
  const counts = told.map((message) => Number(/^\d+/.exec(message)?.[0]));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3_000);
  expect(told).toHaveLength(2);
});

test('D29 the daily allowance survives a restart', async () => {
  const { db, clock, logs, messages } = await given();
  await logs.append('p', [at(1, 'x')]);
  await db
    .updateTable('machine_log_days')
    .set({ bytes: 64 * 1024 * 1024 })
    .execute();
  const after = createMachineLogs({
    db,
    clock,
    log: silentLog,
    allowanceOf: () => machineAllowance,
    organizationOf: () => 'org',
    onSent: () => {},
  });
  await after.append('p', [at(2, 'too much')]);
  expect(await messages({ filter: 'too much' })).toEqual([]);
  expect(await messages({ filter: 'a day (UTC)' })).toHaveLength(1);
  clock.pass(dayMs);
  await after.append('p', [at(3, 'next day')]);
  expect(await messages({ filter: 'next day' })).toEqual(['next day']);
});

test('characters that a text column cannot hold are replaced, and overlong texts are truncated', async () => {
  const { logs } = await given();
  await logs.append('p', [entry({ message: `a\0b\ud800${'c'.repeat(20_000)}`, loggerName: 'n'.repeat(5_000) })]);
  const { entries } = await logs.read({ partId: 'p', matches: () => true, limit: 1 });
  expect(entries[0]?.message).toMatch(/^a\ufffdb\ufffdc+$/);
  expect(entries[0]?.message).toHaveLength(16_384);
  expect(entries[0]?.loggerName).toHaveLength(256);
});

test('lines that a machine sends again, because the answer was lost, are stored once', async () => {
  const { logs, messages } = await given();
  const lines = ['one', 'two', 'three', 'four'].map((message, index) => at(index, message));
  await logs.append('p', lines.slice(0, 3), { stream: 's', first: 7 });
  await logs.append('p', lines, { stream: 's', first: 7 });
  await logs.append('p', [at(9, 'five')], { stream: 's', first: 11 });
  expect(await messages()).toEqual(['five', 'four', 'three', 'two', 'one']);
});

test('lines that readers get, by pages and live, are counted with their stored size, and no others are counted', async () => {
  const { db, logs, messages, sent } = await given();
  const { signal } = new AbortController();
  using tail = logs.tail('p', createLogFilter({}));
  using errors = logs.tail('p', createLogFilter({ levels: ['error'] }));
  for (let nth = 0; nth < 20; nth++) await logs.append('p', [at(nth, `é ${'x'.repeat(nth)}`)]);
  await logs.append('q', [at(1, 'of another')]);
  const stored = async (): Promise<number> => {
    const { bytes } = await db
      .selectFrom('machine_log_days')
      .select(({ fn }) => fn.sum<number | string>('bytes').as('bytes'))
      .where('part_id', '=', 'p')
      .executeTakeFirstOrThrow();
    return Number(bytes);
  };
  expect(sent()).toBe(0);
  expect(await tail.next(0, signal)).toHaveLength(20);
  expect(sent()).toBe(await stored());
  expect(await errors.next(0, signal)).toEqual([]);
  expect(await messages({}, 3)).toHaveLength(20);
  expect(sent()).toBe(2 * (await stored()));
  expect(await messages({ filter: 'nothing' })).toEqual([]);
  expect(sent()).toBe(2 * (await stored()));
});
