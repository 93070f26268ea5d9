/** Triggers' push notifications, with a real database and a receiver that speaks the provider's API. */
import { type PushSink, startPushSink } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import type { Message } from '../event.ts';
import type { Outbox } from '../feature.ts';
import { enqueueWebhooks, makeDue, type OutboxRig, openOutboxRig, statesIn, until } from '../testing/open-outbox.ts';
import { webhookMessage } from '../testing/webhook-message.ts';
import { createPushProvider } from './provider.ts';
import { createPushChannel, ownApplication, type PushChannelDeps } from './push-channel.ts';

const app = 'com.example.press';

interface Rig extends OutboxRig {
  readonly outbox: Outbox;
  readonly provider: PushSink;
  /** Tokens of Ada's phones. */
  readonly tokens: string[];
  readonly asked: string[];
  send(...messages: Message[]): Promise<void>;
}

async function rig(overrides: Partial<PushChannelDeps> = {}): Promise<Rig> {
  const on = await openOutboxRig();
  const provider = await startPushSink();
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const tokens = ['phone'];
  const asked: string[] = [];
  const outbox = on.open({
    push: (clock, kept) =>
      createPushChannel({
        provider: createPushProvider({ clock, addresses: provider }),
        credentialsOf: async (_organizationId, application) => (application === app ? provider.credentials : undefined),
        recipientOf: async (address) => (address === 'ada@example.com' ? 'ada' : undefined),
        async tokensOf(personId, application) {
          asked.push(`${personId} ${application}`);
          return tokens;
        },
        async removeToken(_application, token) {
          tokens.splice(tokens.indexOf(token), 1);
        },
        keep: (push) => void kept.push(push),
        ...overrides,
      }),
  });
  outbox.start();
  return { ...on, outbox, provider, tokens, asked, send: (...messages) => enqueueWebhooks(on, outbox, ...messages) };
}

function pushed(n: number, overrides: Partial<Message> = {}): Message {
  return webhookMessage(n, 'ada@example.com', { channel: 'push', application: app, ...overrides });
}

const settled = (on: Rig): Promise<void> => until(async () => !(await statesIn(on.outbox)).includes('pending'));

async function firstError(on: Rig): Promise<string> {
  await settled(on);
  return (await on.outbox.list())[0]?.attempts[0]?.error ?? '';
}

test('a notification is sent to every phone of the recipient, with one access token, and counted', async () => {
  const on = await rig();
  on.tokens.push('tablet');
  await on.send(pushed(1), pushed(2));
  await settled(on);
  expect(await statesIn(on.outbox)).toEqual(['delivered', 'delivered']);
  expect(on.asked[0]).toBe('ada com.example.press');
  expect(on.provider.tokensGiven).toBeLessThanOrEqual(4);
  expect(on.provider.messages.map(({ message }) => message.token).toSorted()).toEqual([
    'phone',
    'phone',
    'tablet',
    'tablet',
  ]);
  const { id } = pushed(1);
  expect(on.provider.messages.find(({ message }) => JSON.stringify(message).includes(id))).toMatchObject({
    project: 'test-project',
    message: {
      notification: { title: 'hot', body: 'Robot: cpu Readings arrived' },
      data: {
        event_type: 'part_data_ingested',
        robot_part_id: 'part',
        machine_name: 'Robot',
        part_name: 'main',
        app_id: app,
        notification_id: id,
      },
      android: { collapse_key: id, notification: { tag: id } },
      apns: { headers: { 'apns-collapse-id': id } },
    },
  });
  const counted = await on.db.selectFrom('notification_usage').selectAll().execute();
  expect(counted).toMatchObject([{ organization_id: 'org', type: 'push', sent: 2 }]);
});

test('D19 a person who neither owns nor operates the machine, or accepted no notifications, gets none; the log says why', async () => {
  const stranger = await rig();
  await stranger.send(pushed(1, { target: 'eve@example.com' }));
  expect(await firstError(stranger)).toBe('recipient is not a machine owner or operator');
  const without = await rig({ tokensOf: async () => [] });
  await without.send(pushed(1));
  expect(await firstError(without)).toContain(
    'has not accepted push notifications of the application com.example.press',
  );
  expect(without.lines[0]?.line.message).toContain('has not accepted');
  expect([...stranger.provider.messages, ...without.provider.messages]).toEqual([]);
});

test('the token of a phone that no longer has the app is removed; the other phones get the notification', async () => {
  const on = await rig();
  on.tokens.push('old');
  on.provider.answerDevice('old', [404, 'UNREGISTERED']);
  await on.send(pushed(1));
  await settled(on);
  expect(await statesIn(on.outbox)).toEqual(['delivered']);
  expect((await on.outbox.list())[0]?.attempts[0]?.response).toContain('sent to 1 of 2 devices');
  expect(on.tokens).toEqual(['phone']);
});

test.each([
  [429, 'QUOTA_EXCEEDED'],
  [500, 'INTERNAL'],
  [503, 'UNAVAILABLE'],
])('after %s %s it is sent again, and phones replace the one they show', async (status, code) => {
  const on = await rig();
  on.tokens.push('second');
  on.provider.answerDevice('second', [status, code]);
  await on.send(pushed(1));
  await until(async () => (await on.outbox.list())[0]?.attempts.length === 1);
  expect((await on.outbox.list())[0]).toMatchObject({ state: 'pending', attempts: [{ code: status }] });
  on.provider.answerDevice('second', undefined);
  await until(async () => {
    await makeDue(on, on.outbox);
    return (await statesIn(on.outbox)).join() === 'delivered';
  });
  const tags = on.provider.messages.map(({ message }) => Object(message['android']).collapse_key);
  expect([tags.length, new Set(tags).size]).toEqual([3, 1]);
});

test('an access token that the provider no longer accepts is replaced at the next attempt', async () => {
  const on = await rig();
  await on.send(pushed(1));
  await settled(on);
  on.provider.revokeTokens();
  await on.send(pushed(2));
  await until(async () => {
    await makeDue(on, on.outbox);
    return (await statesIn(on.outbox)).join() === 'delivered,delivered';
  });
  expect(on.provider.tokensGiven).toBe(2);
});

test('a permanent refusal by the provider is final', async () => {
  const on = await rig();
  on.provider.answerDevice('phone', [403, 'SENDER_ID_MISMATCH']);
  await on.send(pushed(1));
  expect(await firstError(on)).toContain('403 SENDER_ID_MISMATCH');
  expect([await statesIn(on.outbox), on.tokens]).toEqual([['failed'], ['phone']]);
});

test("D45 without the host's credentials, notifications of the platform's own app are kept in the test inbox; delivery log and machine log say so", async () => {
  const on = await rig();
  await on.send(pushed(1, { application: ownApplication }));
  await settled(on);
  expect(await statesIn(on.outbox)).toEqual(['kept']);
  expect(on.pushes).toMatchObject([{ organizationId: 'org', to: 'ada@example.com', message: { message: {} } }]);
  expect((await on.outbox.list())[0]?.attempts[0]?.response).toContain('platform admin push-config set');
  expect(on.lines[0]?.line.message).toContain('kept in the test inbox');
  expect(await on.db.selectFrom('notification_usage').selectAll().execute()).toEqual([]);
});

test('a delivery fails if the credentials of its custom app were removed, and names the command that uploads them', async () => {
  const on = await rig({ credentialsOf: async () => undefined });
  await on.send(pushed(1));
  expect(await firstError(on)).toContain('platform organizations push-config set');
  expect(await statesIn(on.outbox)).toEqual(['failed']);
});
