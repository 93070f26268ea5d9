import { type LogLevel, silentLog } from '@platform/base';
import { expect, test } from 'vitest';
import { openFirstAccount } from '../../accounts/testing/open-first-account.ts';
import { createMachineLogs } from '../../machines/logs/logs.ts';
import { ManualClock } from '../../machines/testing/manual-clock.ts';
import type { Database } from '../../metadata/tables.ts';
import { enqueue } from '../../outbox/enqueue.ts';
import type { Message, TriggerEvent } from '../../outbox/event.ts';
import { failureLine } from '../../outbox/failure-line.ts';
import type { OutboxMessageRow, OutboxTransaction } from '../../outbox/store.ts';
import { noSecrets } from '../../outbox/testing/open-outbox.ts';
import { webhookRequest } from '../../outbox/webhook/webhook-request.ts';
import { createTriggers, type Triggers } from '../feature.ts';
import { logged } from '../testing/logged.ts';
import { MemoryLog } from '../testing/memory-log.ts';

const place = {
  ...{ organizationId: 'o1', organizationName: 'Acme', locationId: 'l1', locationName: 'hall' },
  ...{ robotId: 'm1', robotName: 'press', partId: 'part', partName: 'press-main' },
};
const target = 'https://example.com/hook';
const notifications = [{ type: 'webhook', value: target, seconds_between_notifications: 86_400 }];
const onLogs = (more: object = {}) => ({
  name: 'logs',
  event: { type: 'conditional_logs_ingested', log_levels: ['error', 'warn'], ...more },
  notifications,
});
const absent = {
  name: 'silent',
  event: {
    type: 'conditional_data_ingested',
    conditional: { data_capture_method: 'sensor:cpu:Readings', absent_for_secs: 60 },
  },
  notifications: [{ type: 'webhook', value: target }],
};

interface Rig {
  readonly clock: ManualClock;
  readonly log: MemoryLog;
  readonly logs: ReturnType<typeof createMachineLogs>;
  save(triggers: readonly unknown[]): Promise<void>;
  /** Starts a new process on the same store, as after a kill. */
  restart(): Promise<void>;
  /** Advances second by second, running all steps of the follower after each. */
  pass(seconds: number, stride?: number): Promise<void>;
  events(): Promise<TriggerEvent[]>;
}

async function rig(): Promise<Rig> {
  const { db }: { db: Database } = await openFirstAccount();
  const clock = new ManualClock();
  const log = new MemoryLog();
  let configured: readonly unknown[] = [];
  let revision = 0;
  const allowance = { linesPerMinute: 1e6, bytesPerMinute: 1e9, bytesPerDay: 1e9 };
  const logs = createMachineLogs({
    db,
    clock,
    log: silentLog,
    allowanceOf: () => allowance,
    organizationOf: () => 'org',
    onSent: () => {},
  });
  const start = async (): Promise<Triggers> => {
    const triggers = createTriggers({
      ...{ db, ingestLog: log, clock, log: silentLog },
      configOf: async () => ({ triggers: configured, components: [], revision: String(revision) }),
      outbox: {
        enqueue: (trx: OutboxTransaction, messages: readonly Message[]) =>
          enqueue(trx, messages, clock.now(), noSecrets),
        wake: () => {},
      },
      times: {
        placeOf: () => place,
        logs,
        factsOf: async () => {
          throw new Error('no trigger of these tests asks for facts');
        },
      },
    });
    await triggers.steps.open();
    return triggers;
  };
  let triggers = await start();
  return {
    ...{ clock, log, logs },
    async save(list) {
      configured = list;
      revision += 1;
      const changes = [{ partId: 'part', after: { triggers: list } }];
      await db.transaction().execute((trx) => triggers.configurationsChanged(trx, changes));
    },
    async restart() {
      triggers = await start();
      const changes = [{ partId: 'part', after: { triggers: configured } }];
      await db.transaction().execute((trx) => triggers.configurationsChanged(trx, changes));
    },
    async pass(seconds, stride = 1) {
      for (let passed = 0; passed < seconds; passed += stride) {
        clock.pass(stride * 1_000);
        while (await triggers.steps.next());
      }
    },
    async events() {
      const rows = await db.selectFrom('outbox_messages').select('event').orderBy('event_at').execute();
      return rows.map(({ event }) => JSON.parse(event) as TriggerEvent);
    },
  };
}

const line = (message: string, level: LogLevel = 'error') => ({ level, loggerName: 'rdk.arm', message });
const messagesIn = (event: TriggerEvent): unknown[] =>
  (event.logs?.entries ?? []).map((entry) => (entry as { message: string }).message);

test('D22 the log is checked every hour from the moment of saving, regardless of the interval between notifications', async () => {
  const on = await rig();
  await on.logs.appendOwn('part', line('before'));
  await on.save([onLogs()]);
  await on.pass(10);
  await on.logs.appendOwn('part', line('one'));
  await on.logs.appendOwn('part', line('two', 'warn'));
  await on.logs.appendOwn('part', line('three', 'info'));
  await on.logs.appendOwn('other', line('elsewhere'));
  await on.pass(3_500, 10);
  expect(await on.events()).toEqual([]);
  await on.pass(100);
  expect((await on.events()).map(messagesIn)).toEqual([['one', 'two']]);
  await on.pass(3_600, 10);
  expect(await on.events()).toHaveLength(1);
  await on.logs.appendOwn('part', line('four'));
  await on.restart();
  await on.pass(3_620, 10);
  expect((await on.events()).map(messagesIn)).toEqual([['one', 'two'], ['four']]);
});

test('D22 the request is a POST with an array of entries, at most 1,000, and a header counts the rest', async () => {
  const on = await rig();
  await on.save([onLogs({ check_interval_secs: 600, text: '^part \\d+ is (hot|cold)$' })]);
  await on.pass(2);
  for (let n = 0; n < 1_003; n++) {
    // More at once would exceed the cloud's allowance of lines.
    if (n % 500 === 0) await on.pass(61);
    await on.logs.appendOwn('part', line(`part ${n} is hot`));
  }
  await on.logs.appendOwn('part', line('part x is hot'));
  await on.pass(600);
  const [event] = await on.events();
  if (event === undefined) throw new Error('expected an event');
  const { method, headers, body } = webhookRequest(event);
  const entries = JSON.parse(body);
  expect([method, headers['Logs-Omitted'], entries.length]).toEqual(['POST', '3', 1_000]);
  expect(entries[0]).toMatchObject({ host: 'cloud', level: 'error', logger_name: 'rdk.arm', message: 'part 0 is hot' });
  expect(new Date(entries[0].time).toISOString()).toBe(entries[0].time);
  expect(headers).toMatchObject({ 'Org-Id': 'o1', 'Part-Id': 'part', 'Robot-Id': 'm1', 'Location-Id': 'l1' });
});

test('D22 lines about failed deliveries never feed a log trigger with the same target, but do feed others', async () => {
  const on = await rig();
  await on.save([
    onLogs({ check_interval_secs: 60 }),
    {
      ...onLogs({ check_interval_secs: 60 }),
      name: 'elsewhere',
      notifications: { type: 'webhook', value: 'https://example.com/else' },
    },
  ]);
  await on.pass(2);
  const row = { part_id: 'part', trigger_name: 'x', target, channel: 'webhook', event: '{}', event_type: 't', id: 'm' };
  await on.logs.appendOwn('part', failureLine(row as OutboxMessageRow, 'refused', 404));
  await on.pass(62);
  expect((await on.events()).map((event) => messagesIn(event).length)).toEqual([1]);
});

test('absent_for_secs: silence fires once after the last upload, even across a restart, and the next upload recovers it', async () => {
  const on = await rig();
  await on.save([absent]);
  await on.pass(40);
  on.log.append(logged({ syncedAtMs: on.clock.now() }));
  await on.pass(55);
  expect(await on.events()).toEqual([]);
  await on.restart();
  // Time in which the cloud was down does not count.
  await on.pass(55);
  expect(await on.events()).toEqual([]);
  await on.pass(10);
  const [fired] = await on.events();
  expect(fired?.change).toMatchObject({ to: 'firing', reason: expect.stringMatching(/^nothing since/) });
  await on.pass(100);
  await on.restart();
  on.log.append(logged({ syncedAtMs: on.clock.now(), fileId: 'again' }));
  await on.pass(5);
  expect((await on.events()).map(({ change }) => change?.to)).toEqual(['firing', 'recovered']);
  await on.pass(70);
  expect((await on.events()).map(({ change }) => change?.to)).toEqual(['firing', 'recovered', 'firing']);
});

test('absent_for_secs: requests that hold the loop for 7 s again and again do not postpone it', async () => {
  const on = await rig();
  await on.save([absent]);
  await on.pass(5);
  on.log.append(logged({ syncedAtMs: on.clock.now() }));
  await on.pass(56, 7);
  expect(await on.events()).toEqual([]);
  await on.pass(14, 7);
  expect((await on.events()).map(({ change }) => change?.to)).toEqual(['firing']);
});

test('setting the clock back, even before a restart, silences neither log checks nor absence; a jump ahead is not absence', async () => {
  const on = await rig();
  const yearMs = 365 * 86_400_000;
  const told = async () => (await on.events()).map((event) => event.change?.to ?? messagesIn(event).join()).toSorted();
  await on.save([onLogs({ check_interval_secs: 600 }), absent]);
  await on.pass(5);
  on.log.append(logged({ syncedAtMs: on.clock.now() }));
  on.clock.wallMs += yearMs;
  await on.pass(50);
  expect(await told()).toEqual([]);
  on.log.append(logged({ syncedAtMs: on.clock.now(), fileId: 'ahead' }));
  await on.pass(5);

  on.clock.wallMs -= yearMs;
  await on.logs.appendOwn('part', line('one'));
  await on.pass(70);
  expect(await told()).toEqual(['firing', 'one']);
  on.log.append(logged({ syncedAtMs: on.clock.now(), fileId: 'back' }));
  await on.pass(5);
  expect(await told()).toEqual(['firing', 'one', 'recovered']);

  on.clock.wallMs -= yearMs;
  await on.restart();
  await on.logs.appendOwn('part', line('two'));
  await on.pass(70);
  expect(await told()).toEqual(['firing', 'firing', 'one', 'recovered', 'two']);
});
