import { silentLog } from '@platform/base';
import { FakeClock, startWebhookSink, type WebhookSink } from '@platform/testkit';
import type { KyselyPlugin } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { migrations } from '../metadata/migrations.ts';
import { type Metadata, openMetadata } from '../metadata/open-metadata.ts';
import { defaultStore, openTestStore } from '../metadata/testing/test-store.ts';
import type { DeliveryOptions } from './deliver.ts';
import type { Message } from './event.ts';
import type { MachineLogLine } from './failure-line.ts';
import { createOutbox, type Outbox } from './feature.ts';
import { messageId } from './message-id.ts';
import type { OutboxTables } from './store.ts';
import { createWebhookChannel, type WebhookChannelOptions } from './webhook/webhook-channel.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

type Overrides = Pick<DeliveryOptions, 'db' | 'organizationExists' | 'appendMachineLog'> &
  Pick<WebhookChannelOptions, 'signingSecret'>;

interface Rig {
  readonly clock: FakeClock;
  readonly sink: WebhookSink;
  readonly metadata: Metadata<OutboxTables>;
  readonly lines: { partId: string; line: MachineLogLine }[];
  open(overrides?: Partial<Overrides>): Outbox;
}

async function rig(): Promise<Rig> {
  const store = await openTestStore(defaultStore, migrations);
  const sink = await startWebhookSink();
  const clock = new FakeClock();
  const { database } = store;
  const file = store.directory.file('meta.sqlite');
  const metadata = await openMetadata<OutboxTables>({ file, database, migrations, log: silentLog });
  const lines: { partId: string; line: MachineLogLine }[] = [];
  const outboxes: Outbox[] = [];
  onTestFinished(async () => {
    await stopAll(clock, outboxes);
    await metadata[Symbol.asyncDispose]();
    await sink[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });
  const port = Number(new URL(sink.url).port);
  return {
    clock,
    sink,
    metadata,
    lines,
    open(overrides = {}) {
      const webhook = createWebhookChannel({
        clock,
        version: '1.2.3',
        signingSecret: overrides.signingSecret ?? (async () => secret),
        ownAddress: () => ({ host: '127.0.0.1', port }),
        privateTargetsAllowed: () => true,
        privateTargetsSetting: 'SETTING',
      });
      const outbox = createOutbox({
        db: metadata.db,
        clock,
        log: silentLog,
        channels: { webhook },
        organizationExists: () => true,
        appendMachineLog: async (partId, line) => void lines.push({ partId, line }),
        ...overrides,
      });
      outboxes.push(outbox);
      return outbox;
    },
  };
}

/** Whenever something begins to wait, the second passes that a stop gives to what is under way: never the 15 s of a request. */
async function stopAll(clock: FakeClock, outboxes: readonly Outbox[]): Promise<void> {
  using sleep = vi.spyOn(clock, 'sleep');
  let stopped = false;
  const stopping = Promise.all(outboxes.map((outbox) => outbox[Symbol.asyncDispose]())).then(() => {
    stopped = true;
  });
  for (let passed = 0; !stopped; ) {
    if (passed < sleep.mock.calls.length) {
      passed++;
      await clock.advance(1_000);
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await stopping;
}

function message(n: number, target: string, overrides: Partial<Message> = {}): Message {
  return {
    id: messageId(['test', n]),
    triggerName: 'hot',
    channel: 'webhook',
    target,
    eventAtMs: 1_000,
    event: {
      type: 'part_data_ingested',
      place: {
        organizationId: 'org',
        organizationName: 'Org',
        locationId: 'loc',
        locationName: 'Loc',
        robotId: 'robot',
        robotName: 'Robot',
        partId: 'part',
        partName: 'main',
      },
      data: {
        componentName: 'cpu',
        componentType: 'core:component:sensor',
        methodName: 'Readings',
        fileId: `file-${n}`,
        minTimeReceived: '2026-01-01T00:00:00.000Z',
        maxTimeReceived: '2026-01-01T00:00:01.000Z',
      },
    },
    ...overrides,
  };
}

async function enqueue({ metadata }: Rig, outbox: Outbox, ...messages: Message[]): Promise<void> {
  await metadata.db.transaction().execute((trx) => outbox.enqueue(trx, messages));
  outbox.wake();
}

/** Lets the event loop run until it holds; the test's own time limit ends a wait for ever. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 2));
}

const states = async (outbox: Outbox): Promise<string[]> =>
  (await outbox.list({ limit: 500 })).map(({ state }) => state).sort();
const attempts = async (outbox: Outbox): Promise<number> =>
  (await outbox.list()).reduce((sum, one) => sum + one.attempts.length, 0);

test('D23 a message is delivered once, with the headers of the specification and a signature, and its attempt recorded', async () => {
  const on = await rig();
  const outbox = on.open();
  outbox.start();
  const target = `${on.sink.url}/catcher/webhooks/a?token=x`;
  const basicAuth = { username: 'me', password: 'pässword' };
  await enqueue(on, outbox, message(1, target, { basicAuth }));
  await enqueue(on, outbox, message(1, target, { basicAuth }));
  await until(async () => (await states(outbox))[0] === 'delivered');
  expect(on.sink.requests).toHaveLength(1);
  const [request] = on.sink.requests;
  expect(request).toMatchObject({ method: 'POST', path: '/catcher/webhooks/a?token=x' });
  expect(request?.headers).toMatchObject({
    'org-id': 'org',
    'location-id': 'loc',
    'part-id': 'part',
    'robot-id': 'robot',
    'content-type': 'application/json',
    'user-agent': 'platform/1.2.3',
    'webhook-id': messageId(['test', 1]),
    'webhook-timestamp': String(Math.floor(on.clock.now() / 1_000)),
    authorization: `Basic ${Buffer.from('me:pässword').toString('base64')}`,
  });
  expect(request?.headers['webhook-signature']).toMatch(/^v1,[\w+/]+=*$/);
  expect(JSON.parse(request?.body ?? '')).toMatchObject({ file_id: 'file-1', component_name: 'cpu' });
  const [listed] = await outbox.list();
  expect(listed?.attempts).toMatchObject([{ attempt: 1, outcome: 'accepted', code: 200, error: null, response: '' }]);
  expect(JSON.stringify(listed)).not.toContain('Basic');
  expect(on.lines).toEqual([]);
});

test('messages are counted by what became of them, however many are listed', async () => {
  const on = await rig();
  const outbox = on.open();
  outbox.start();
  const later = on.open();
  const target = `${on.sink.url}/catcher/webhooks/a`;
  for (const n of [1, 2, 3]) await enqueue(on, outbox, message(n, target));
  await until(async () => (await outbox.counts('webhook')).delivered === 3);
  on.sink.answerWith({ status: 503, body: 'busy' });
  await enqueue(on, outbox, message(4, target));
  await until(async () => (await attempts(outbox)) === 4);
  expect(await later.counts('webhook')).toMatchObject({ delivered: 3, pending: 1 });
});

test('D23 a failing target is tried eight times with the specified waits, and the machine log tells the first and the last', async () => {
  const on = await rig();
  on.sink.answerWith({ status: 503, body: 'busy' });
  const outbox = on.open();
  outbox.start();
  await enqueue(on, outbox, message(1, `${on.sink.url}/catcher/webhooks/a`));
  const nominalMs = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000].map((seconds) => seconds * 1_000);
  for (const [made, waitMs] of nominalMs.entries()) {
    await until(async () => (await attempts(outbox)) === made + 1);
    const [listed] = await outbox.list();
    const inMs = (listed?.nextAttemptAtMs ?? 0) - on.clock.now();
    expect(inMs).toBeGreaterThanOrEqual(0.8 * waitMs - 20_000);
    expect(inMs).toBeLessThanOrEqual(1.2 * waitMs);
    on.clock.setWall(listed?.nextAttemptAtMs ?? 0);
    outbox.wake();
  }
  await until(async () => (await states(outbox))[0] === 'failed');
  expect(on.sink.requests).toHaveLength(8);
  expect(new Set(on.sink.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(on.lines.map(({ line }) => line.fields['error'])).toEqual([
    'received retryable status code: 503 in webhook response',
    'received retryable status code: 503 in webhook response; given up after 8 attempts',
  ]);
  expect((await outbox.list())[0]?.attempts[7]).toMatchObject({ outcome: 'retryLater', code: 503, response: 'busy' });
});

test('D23 what a look found due before an attempt was recorded is not tried again early', async () => {
  const on = await rig();
  on.sink.answerWith({ status: 503 });
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const slowLooks: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (Object.keys(result.rows[0] ?? {}).join() === 'id,organization_id,target') await pause(30);
      return result;
    },
  };
  const outbox = on.open({ db: on.metadata.db.withPlugin(slowLooks) });
  outbox.start();
  const looking = setInterval(() => outbox.wake(), 2);
  onTestFinished(() => clearInterval(looking));
  await enqueue(on, outbox, message(1, `${on.sink.url}/catcher/webhooks/a`));
  await until(async () => (await attempts(outbox)) > 0);
  await pause(150);
  expect(await attempts(outbox)).toBe(1);
});

test('D23 a 404 is final, and the machine log says what the specification says', async () => {
  const on = await rig();
  on.sink.answerWith({ status: 404 });
  const outbox = on.open();
  outbox.start();
  await enqueue(on, outbox, message(1, `${on.sink.url}/catcher/webhooks/a?token=secret`));
  await until(async () => (await states(outbox))[0] === 'failed');
  expect(on.sink.requests).toHaveLength(1);
  expect(on.lines).toHaveLength(1);
  const { partId, line } = on.lines[0]!;
  expect([partId, line.level, line.loggerName]).toEqual(['part', 'error', 'app.trigger.hot']);
  expect(line.message).toBe(
    `trigger failed to notify ${on.sink.url}/catcher/webhooks/a for part part; component: cpu, method: Readings, ` +
      'trigger type: part_data_ingested, notification type: webhook, ' +
      'error: received unretryable status code: 404 in webhook response, response code: 404',
  );
});

test('D23 a target that answers 410 gets nothing more until it is resumed', async () => {
  const on = await rig();
  on.sink.answerWith({ status: 410 });
  const outbox = on.open();
  outbox.start();
  const target = `${on.sink.url}/catcher/webhooks/a`;
  await enqueue(on, outbox, message(1, target));
  await until(async () => (await states(outbox))[0] === 'failed');
  await enqueue(on, outbox, message(2, target), message(3, `${on.sink.url}/catcher/webhooks/b`));
  await until(async () => (await states(outbox)).join() === 'failed,failed,paused');
  expect(on.sink.requests).toHaveLength(2);

  await outbox[Symbol.asyncDispose]();
  on.sink.answerWith({ status: 200 });
  const restarted = on.open();
  restarted.start();
  await enqueue(on, restarted, message(4, target));
  await until(async () => (await states(restarted)).join() === 'failed,failed,paused,paused');
  await restarted.resume('org', target);
  await until(async () => (await states(restarted)).join() === 'delivered,delivered,failed,failed');
});

test('D23 nothing more goes to a target that answered 410 while that is still being recorded', async () => {
  const on = await rig();
  on.sink.answerWith(async () => {
    await on.sink.waitFor(4);
    return { status: 410 };
  });
  const told = Promise.withResolvers<void>();
  onTestFinished(() => told.resolve());
  const outbox = on.open({ appendMachineLog: () => told.promise });
  outbox.start();
  const target = `${on.sink.url}/catcher/webhooks/a`;
  await enqueue(on, outbox, ...[1, 2, 3, 4, 5].map((n) => message(n, target)));
  await until(async () => on.sink.requests.length > 4 || (await states(outbox)).includes('paused'));
  expect(on.sink.requests).toHaveLength(4);
  told.resolve();
  await until(async () => (await states(outbox)).join() === 'failed,failed,failed,failed,paused');
});

test('D23 a redirect is not followed', async () => {
  const on = await rig();
  on.sink.answerWith(({ path }) =>
    path.endsWith('/a') ? { status: 307, headers: { location: `${on.sink.url}/catcher/webhooks/b` } } : { status: 200 },
  );
  const outbox = on.open();
  outbox.start();
  await enqueue(on, outbox, message(1, `${on.sink.url}/catcher/webhooks/a`));
  await until(async () => (await states(outbox))[0] === 'failed');
  expect(on.sink.requests.map(({ path }) => path)).toEqual(['/catcher/webhooks/a']);
});

test('D23 a target that hangs holds four connections and stops nobody else, and times out after 15 s', async () => {
  const on = await rig();
  let hanging = 0;
  on.sink.answerWith(({ path }) => {
    if (!path.endsWith('/slow')) return { status: 200 };
    hanging++;
    return new Promise(() => {});
  });
  const outbox = on.open();
  outbox.start();
  const slow = Array.from({ length: 200 }, (_, n) => message(n, `${on.sink.url}/catcher/webhooks/slow`));
  const fast = Array.from({ length: 20 }, (_, n) => message(1_000 + n, `${on.sink.url}/catcher/webhooks/fast`));
  await enqueue(on, outbox, ...slow, ...fast);
  await until(async () => (await states(outbox)).filter((state) => state === 'delivered').length === 20);
  await until(() => hanging >= 4);
  expect(hanging).toBe(4);
  await on.clock.advance(15_000);
  await until(async () =>
    (await outbox.list({ limit: 500 })).some(({ attempts: [first] }) => first?.outcome === 'retryLater'),
  );
  const timedOut = (await outbox.list({ limit: 500 })).find(({ attempts: [first] }) => first?.outcome === 'retryLater');
  expect(timedOut?.attempts[0]).toMatchObject({
    code: null,
    error: 'no complete answer within 15 s',
    duration_ms: 15_000,
  });
});

test('I11 what was being sent when the process ended is sent again under the same id', async () => {
  const on = await rig();
  on.sink.answerWith(() => new Promise(() => {}));
  const first = on.open();
  first.start();
  await enqueue(on, first, message(1, `${on.sink.url}/catcher/webhooks/a`));
  await on.sink.waitFor(1);
  await stopAll(on.clock, [first]);
  expect((await first.list())[0]).toMatchObject({ state: 'pending', attempts: [] });

  on.sink.answerWith({ status: 200 });
  const second = on.open();
  second.start();
  await until(async () => (await states(second))[0] === 'delivered');
  expect(on.sink.requests.map(({ headers }) => headers['webhook-id'])).toEqual(Array(2).fill(messageId(['test', 1])));
});

test('a message whose stored event is damaged comes to an end', async () => {
  const on = await rig();
  const outbox = on.open();
  await enqueue(on, outbox, message(1, `${on.sink.url}/catcher/webhooks/a`));
  await on.metadata.db.updateTable('outbox_messages').set({ event: '{' }).execute();
  outbox.start();
  await until(async () => (await states(outbox))[0] === 'failed');
  expect(on.lines[0]?.line.message).toContain('component: N/A, method: N/A');
});

test('what is done is deleted after 30 days, with its attempts', async () => {
  const on = await rig();
  const outbox = on.open();
  outbox.start();
  await enqueue(on, outbox, message(1, `${on.sink.url}/catcher/webhooks/a`));
  await until(async () => (await states(outbox))[0] === 'delivered');
  on.clock.setWall(on.clock.now() + 31 * 86_400_000);
  await enqueue(on, outbox, message(2, `${on.sink.url}/catcher/webhooks/a`));
  await until(async () => (await states(outbox)).every((state) => state === 'delivered'));
  // Whenever the hourly look begins to wait for its hour.
  await until(async () => {
    await on.clock.advance(600_000);
    return (await states(outbox)).length === 1;
  });
  expect((await on.metadata.db.selectFrom('outbox_attempts').select('message_id').execute()).length).toBe(1);
});

test('what waits for an organization that was deleted is cancelled: not sent, not tried again, and told to no machine', async () => {
  const on = await rig();
  let isThere = true;
  const outbox = on.open({ organizationExists: () => isThere });
  outbox.start();
  on.sink.answerWith(() => ({ status: 500 }));
  await enqueue(on, outbox, message(1, `${on.sink.url}/catcher/webhooks/a`));
  await until(async () => (await attempts(outbox)) === 1);
  const told = on.lines.length;
  isThere = false;
  await enqueue(on, outbox, message(2, `${on.sink.url}/catcher/webhooks/a`));
  // Whenever the first begins to wait for its second attempt.
  await until(async () => {
    await on.clock.advance(3_600_000);
    return (await states(outbox)).join() === 'cancelled,cancelled';
  });
  expect(await attempts(outbox)).toBe(1);
  expect(on.lines).toHaveLength(told);
});

test('D37 a message that cannot be sent for a reason of ours is tried again, and its record does not tell what is not for tenants', async () => {
  const on = await rig();
  let fails = true;
  const outbox = on.open({
    async signingSecret() {
      if (fails) throw new Error('cannot read /var/lib/platform/instance.key');
      return secret;
    },
  });
  outbox.start();
  await enqueue(on, outbox, message(1, `${on.sink.url}/test-inbox/webhooks/a`));
  await until(async () => (await attempts(outbox)) === 1);
  const [listed] = await outbox.list();
  expect(listed).toMatchObject({ state: 'pending', attempts: [{ outcome: 'retryLater', code: null }] });
  expect(listed?.attempts[0]?.error).toMatch(/^the message could not be sent: /);
  expect(JSON.stringify([listed, on.lines])).not.toContain('/var/lib');
  fails = false;
  await until(async () => {
    await on.clock.advance(10_000);
    return (await states(outbox))[0] === 'delivered';
  });
});
