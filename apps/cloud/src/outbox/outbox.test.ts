/** Behaviour of the outbox that all channels share. */
import type { KyselyPlugin } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { messageId } from './message-id.ts';
import {
  attemptsIn,
  enqueueWebhooks,
  makeDue,
  openOutboxRig,
  statesIn,
  stopAll,
  until,
  webhookSecret,
} from './testing/open-outbox.ts';
import { webhookMessage } from './testing/webhook-message.ts';

test('messages are counted by state, regardless of how many are listed', async () => {
  const on = await openOutboxRig();
  const outbox = on.open();
  outbox.start();
  const later = on.open();
  const target = `${on.sink.url}/test-inbox/webhooks/a`;
  for (const n of [1, 2, 3]) await enqueueWebhooks(on, outbox, webhookMessage(n, target));
  await until(async () => (await outbox.counts('webhook')).delivered === 3);
  on.sink.answerWith({ status: 503, body: 'busy' });
  await enqueueWebhooks(on, outbox, webhookMessage(4, target));
  await until(async () => (await attemptsIn(outbox)) === 4);
  expect(await later.counts('webhook')).toMatchObject({ delivered: 3, pending: 1 });
});

test('D23 a message found due before its attempt was recorded is not retried early', async () => {
  const on = await openOutboxRig();
  on.sink.answerWith({ status: 503 });
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const slowLooks: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (Object.keys(result.rows[0] ?? {}).join() === 'id,organization_id,target') await pause(30);
      return result;
    },
  };
  const outbox = on.open({ db: on.db.withPlugin(slowLooks) });
  outbox.start();
  const looking = setInterval(() => outbox.wake(), 2);
  onTestFinished(() => clearInterval(looking));
  await enqueueWebhooks(on, outbox, webhookMessage(1, `${on.sink.url}/test-inbox/webhooks/a`));
  await until(async () => (await attemptsIn(outbox)) > 0);
  await pause(150);
  expect(await attemptsIn(outbox)).toBe(1);
});

test('I11 messages being sent when the process ended are sent again with the same id', async () => {
  const on = await openOutboxRig();
  on.sink.answerWith(() => new Promise(() => {}));
  const first = on.open();
  first.start();
  await enqueueWebhooks(on, first, webhookMessage(1, `${on.sink.url}/test-inbox/webhooks/a`));
  await on.sink.waitFor(1);
  await stopAll(on.clock, [first]);
  expect((await first.list())[0]).toMatchObject({ state: 'pending', attempts: [] });

  on.sink.answerWith({ status: 200 });
  const second = on.open();
  second.start();
  await until(async () => (await statesIn(second))[0] === 'delivered');
  expect(on.sink.requests.map(({ headers }) => headers['webhook-id'])).toEqual(Array(2).fill(messageId(['test', 1])));
});

test('finished messages are deleted after 30 days, with their attempts', async () => {
  const on = await openOutboxRig();
  const outbox = on.open();
  outbox.start();
  await enqueueWebhooks(on, outbox, webhookMessage(1, `${on.sink.url}/test-inbox/webhooks/a`));
  await until(async () => (await statesIn(outbox))[0] === 'delivered');
  on.clock.setWall(on.clock.now() + 31 * 86_400_000);
  await enqueueWebhooks(on, outbox, webhookMessage(2, `${on.sink.url}/test-inbox/webhooks/a`));
  await until(async () => (await statesIn(outbox)).every((state) => state === 'delivered'));
  // Advance until the hourly run has started its wait.
  await until(async () => {
    await on.clock.advance(600_000);
    return (await statesIn(outbox)).length === 1;
  });
  expect((await on.db.selectFrom('outbox_attempts').select('message_id').execute()).length).toBe(1);
});

test('messages of a deleted organization are cancelled: not sent, retried or reported to a machine', async () => {
  const on = await openOutboxRig();
  let isThere = true;
  const outbox = on.open({ organizationExists: () => isThere });
  outbox.start();
  on.sink.answerWith(() => ({ status: 500 }));
  await enqueueWebhooks(on, outbox, webhookMessage(1, `${on.sink.url}/test-inbox/webhooks/a`));
  await until(async () => (await attemptsIn(outbox)) === 1);
  const told = on.lines.length;
  isThere = false;
  await enqueueWebhooks(on, outbox, webhookMessage(2, `${on.sink.url}/test-inbox/webhooks/a`));
  await until(async () => {
    await makeDue(on, outbox);
    return (await statesIn(outbox)).join() === 'cancelled,cancelled';
  });
  expect(await attemptsIn(outbox)).toBe(1);
  expect(on.lines).toHaveLength(told);
});

test('D37 a message that fails for an internal reason is retried, and its record reveals nothing internal to tenants', async () => {
  const on = await openOutboxRig();
  let fails = true;
  const outbox = on.open({
    async signingSecrets() {
      if (fails) throw new Error('cannot read /var/lib/platform/instance.key');
      return [webhookSecret];
    },
  });
  outbox.start();
  await enqueueWebhooks(on, outbox, webhookMessage(1, `${on.sink.url}/test-inbox/webhooks/a`));
  await until(async () => (await attemptsIn(outbox)) === 1);
  const [listed] = await outbox.list();
  expect(listed).toMatchObject({ state: 'pending', attempts: [{ outcome: 'retryLater', code: null }] });
  expect(listed?.attempts[0]?.error).toMatch(/^the message could not be sent: /);
  expect(JSON.stringify([listed, on.lines])).not.toContain('/var/lib');
  fails = false;
  await until(async () => {
    await makeDue(on, outbox);
    return (await statesIn(outbox))[0] === 'delivered';
  });
});
