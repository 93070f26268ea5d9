/** The outbox's webhooks, with a real database and receiver. */
import { expect, onTestFinished, test } from 'vitest';
import { messageId } from '../message-id.ts';
import { organizationDeleting } from '../organization-deleting.ts';
import { attemptsIn, enqueueWebhooks, openOutboxRig, statesIn, until } from '../testing/open-outbox.ts';
import { webhookMessage } from '../testing/webhook-message.ts';

test('D23 a message is delivered once, with the specified headers and a signature, and its attempt is recorded', async () => {
  const on = await openOutboxRig();
  const outbox = on.open();
  outbox.start();
  const target = `${on.sink.url}/test-inbox/webhooks/a?token=x`;
  const basicAuth = { username: 'me', password: 'pässword' };
  await enqueueWebhooks(on, outbox, webhookMessage(1, target, { basicAuth }));
  await enqueueWebhooks(on, outbox, webhookMessage(1, target, { basicAuth }));
  await until(async () => (await statesIn(outbox))[0] === 'delivered');
  expect(on.sink.requests).toHaveLength(1);
  const [request] = on.sink.requests;
  expect(request).toMatchObject({ method: 'POST', path: '/test-inbox/webhooks/a?token=x' });
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

test('the password of a target is stored sealed, and removed once its message is finished', async () => {
  const on = await openOutboxRig();
  const outbox = on.open();
  const basicAuth = { username: 'me', password: 'pässword' };
  await enqueueWebhooks(on, outbox, webhookMessage(1, `${on.sink.url}/test-inbox/webhooks/a`, { basicAuth }));
  const stored = () => on.db.selectFrom('outbox_messages').selectAll().executeTakeFirstOrThrow();
  const header = `Basic ${Buffer.from('me:pässword').toString('base64')}`;
  const { sealed, event } = await stored();
  expect(on.instanceKey.decrypt(sealed ?? new Uint8Array())).toBe(header);
  expect(`${event} ${Buffer.from(sealed ?? []).toString('latin1')}`).not.toContain(header.slice(6));
  outbox.start();
  await until(async () => (await statesIn(outbox))[0] === 'delivered');
  expect(on.sink.requests[0]?.headers.authorization).toBe(header);
  expect((await stored()).sealed).toBeNull();
});

test('D23 a failing target is tried eight times with the specified waits, and the machine log reports the first and the last', async () => {
  const on = await openOutboxRig();
  on.sink.answerWith({ status: 503, body: 'busy' });
  const outbox = on.open();
  outbox.start();
  await enqueueWebhooks(on, outbox, webhookMessage(1, `${on.sink.url}/test-inbox/webhooks/a`));
  const nominalMs = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000].map((seconds) => seconds * 1_000);
  for (const [made, waitMs] of nominalMs.entries()) {
    await until(async () => (await attemptsIn(outbox)) === made + 1);
    const [listed] = await outbox.list();
    const inMs = (listed?.nextAttemptAtMs ?? 0) - on.clock.now();
    expect(inMs).toBeGreaterThanOrEqual(0.8 * waitMs - 20_000);
    expect(inMs).toBeLessThanOrEqual(1.2 * waitMs);
    on.clock.setWall(listed?.nextAttemptAtMs ?? 0);
    outbox.wake();
  }
  await until(async () => (await statesIn(outbox))[0] === 'failed');
  expect(on.sink.requests).toHaveLength(8);
  expect(new Set(on.sink.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(on.lines.map(({ line }) => line.fields['error'])).toEqual([
    'received retryable status code: 503 in webhook response',
    'received retryable status code: 503 in webhook response; given up after 8 attempts',
  ]);
  expect((await outbox.list())[0]?.attempts[7]).toMatchObject({ outcome: 'retryLater', code: 503, response: 'busy' });
});

test('D23 a 404 is final, and the machine log contains the specified line', async () => {
  const on = await openOutboxRig();
  on.sink.answerWith({ status: 404 });
  const outbox = on.open();
  outbox.start();
  await enqueueWebhooks(on, outbox, webhookMessage(1, `${on.sink.url}/test-inbox/webhooks/a?token=secret`));
  await until(async () => (await statesIn(outbox))[0] === 'failed');
  expect(on.sink.requests).toHaveLength(1);
  expect(on.lines).toHaveLength(1);
  const { partId, line } = on.lines[0]!;
  expect([partId, line.level, line.loggerName]).toEqual(['part', 'error', 'app.trigger.hot']);
  expect(line.message).toBe(
    `trigger failed to notify ${on.sink.url}/test-inbox/webhooks/a for part part; component: cpu, method: Readings, ` +
      'trigger type: part_data_ingested, notification type: webhook, ' +
      'error: received unretryable status code: 404 in webhook response, response code: 404',
  );
});

test('D23 a target that answers 410 gets nothing more until it is resumed', async () => {
  const on = await openOutboxRig();
  on.sink.answerWith({ status: 410 });
  const outbox = on.open();
  outbox.start();
  const target = `${on.sink.url}/test-inbox/webhooks/a`;
  await enqueueWebhooks(on, outbox, webhookMessage(1, target));
  await until(async () => (await statesIn(outbox))[0] === 'failed');
  await enqueueWebhooks(
    on,
    outbox,
    webhookMessage(2, target),
    webhookMessage(3, `${on.sink.url}/test-inbox/webhooks/b`),
  );
  await until(async () => (await statesIn(outbox)).join() === 'failed,failed,paused');
  expect(on.sink.requests).toHaveLength(2);

  await outbox[Symbol.asyncDispose]();
  on.sink.answerWith({ status: 200 });
  const restarted = on.open();
  restarted.start();
  await enqueueWebhooks(on, restarted, webhookMessage(4, target));
  await until(async () => (await statesIn(restarted)).join() === 'failed,failed,paused,paused');
  await restarted.resume('org', target);
  await until(async () => (await statesIn(restarted)).join() === 'delivered,delivered,failed,failed');
});

test('a deleted organization leaves no paused target behind', async () => {
  const on = await openOutboxRig();
  on.sink.answerWith({ status: 410 });
  const outbox = on.open();
  outbox.start();
  await enqueueWebhooks(on, outbox, webhookMessage(1, `${on.sink.url}/test-inbox/webhooks/a`));
  const paused = () => on.db.selectFrom('outbox_paused_targets').select('organization_id').execute();
  await until(async () => (await paused()).length === 1);
  await on.db.transaction().execute((trx) => organizationDeleting(trx, 'another'));
  expect(await paused()).toHaveLength(1);
  await on.db.transaction().execute((trx) => organizationDeleting(trx, 'org'));
  expect(await paused()).toEqual([]);
});

test('D23 a target that answered 410 gets nothing more even while that is still being recorded', async () => {
  const on = await openOutboxRig();
  on.sink.answerWith(async () => {
    await on.sink.waitFor(4);
    return { status: 410 };
  });
  const told = Promise.withResolvers<void>();
  onTestFinished(() => told.resolve());
  const outbox = on.open({ appendMachineLog: () => told.promise });
  outbox.start();
  const target = `${on.sink.url}/test-inbox/webhooks/a`;
  await enqueueWebhooks(on, outbox, ...[1, 2, 3, 4, 5].map((n) => webhookMessage(n, target)));
  await until(async () => on.sink.requests.length > 4 || (await statesIn(outbox)).includes('paused'));
  expect(on.sink.requests).toHaveLength(4);
  told.resolve();
  await until(async () => (await statesIn(outbox)).join() === 'failed,failed,failed,failed,paused');
});

test('D23 a redirect is not followed', async () => {
  const on = await openOutboxRig();
  on.sink.answerWith(({ path }) =>
    path.endsWith('/a')
      ? { status: 307, headers: { location: `${on.sink.url}/test-inbox/webhooks/b` } }
      : { status: 200 },
  );
  const outbox = on.open();
  outbox.start();
  await enqueueWebhooks(on, outbox, webhookMessage(1, `${on.sink.url}/test-inbox/webhooks/a`));
  await until(async () => (await statesIn(outbox))[0] === 'failed');
  expect(on.sink.requests.map(({ path }) => path)).toEqual(['/test-inbox/webhooks/a']);
});

test('D23 a target that hangs holds four connections, delays no others, and times out after 15 s', async () => {
  const on = await openOutboxRig();
  let hanging = 0;
  on.sink.answerWith(({ path }) => {
    if (!path.endsWith('/slow')) return { status: 200 };
    hanging++;
    return new Promise(() => {});
  });
  const outbox = on.open();
  outbox.start();
  const slow = Array.from({ length: 200 }, (_, n) => webhookMessage(n, `${on.sink.url}/test-inbox/webhooks/slow`));
  const fast = Array.from({ length: 20 }, (_, n) =>
    webhookMessage(1_000 + n, `${on.sink.url}/test-inbox/webhooks/fast`),
  );
  await enqueueWebhooks(on, outbox, ...slow, ...fast);
  await until(async () => (await statesIn(outbox)).filter((state) => state === 'delivered').length === 20);
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

test('a message whose stored event is damaged is finished', async () => {
  const on = await openOutboxRig();
  const outbox = on.open();
  await enqueueWebhooks(on, outbox, webhookMessage(1, `${on.sink.url}/test-inbox/webhooks/a`));
  await on.db.updateTable('outbox_messages').set({ event: '{' }).execute();
  outbox.start();
  await until(async () => (await statesIn(outbox))[0] === 'failed');
  expect(on.lines[0]?.line.message).toContain('component: N/A, method: N/A');
});
