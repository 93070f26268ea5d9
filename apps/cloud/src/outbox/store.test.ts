/** Messages and mails in data directories older than the shared outbox (metadata version 9). */
import { startSmtpSink } from '@platform/testkit';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { storeKinds } from '../metadata/testing/test-store.ts';
import { type OutboxRig, openOutboxRig, until } from './testing/open-outbox.ts';

const dayMs = 86_400_000;
const event = JSON.stringify({
  type: 'part_online',
  place: {
    ...{ organizationId: 'org', organizationName: 'Org', locationId: 'loc', locationName: 'Loc' },
    ...{ robotId: 'robot', robotName: 'Robot', partId: 'part', partName: 'main' },
  },
});

test.each(storeKinds)(
  'messages, attempts, paused targets and mails of the previous version are kept, and waiting ones are delivered (%s)',
  async (kind) => {
    await using mails = await startSmtpSink();
    const on = await openOutboxRig(kind, fillVersion8);
    const { clock, db } = on;
    const now = clock.now();
    const outbox = on.open({ smtpUrl: mails.url });
    const listed = async (): Promise<string[]> =>
      (await outbox.list())
        .map(
          ({ channel, target, state, attempts }) =>
            `${channel} ${target.split('/').at(-1)} ${state} ${attempts.length}`,
        )
        .toSorted();
    expect(await listed()).toEqual([
      'email ada@example.com pending 0',
      'email grace@example.com pending 0',
      'webhook done delivered 1',
      'webhook gone paused 0',
      'webhook waiting pending 1',
    ]);
    expect((await outbox.list()).find(({ target }) => target.startsWith('grace'))?.nextAttemptAtMs).toBe(now + dayMs);

    outbox.start();
    await on.sink.waitFor(1);
    await mails.waitFor(1);
    await until(async () => (await listed()).filter((line) => line.includes('delivered')).length === 3);
    expect(await listed()).toEqual([
      'email ada@example.com delivered 1',
      'email grace@example.com pending 0',
      'webhook done delivered 1',
      'webhook gone paused 0',
      'webhook waiting delivered 2',
    ]);
    expect(on.sink.requests[0]).toMatchObject({
      path: '/test-inbox/waiting',
      headers: { 'webhook-id': 'msg_2', authorization: 'Basic abc' },
    });
    expect(mails.mails).toMatchObject([{ to: ['ada@example.com'], text: expect.stringContaining('Dear ada') }]);
    await outbox.resume('org', `${on.sink.url}/test-inbox/gone`);
    await on.sink.waitFor(2);
    clock.setWall(now + dayMs);
    outbox.wake();
    await mails.waitFor(2);
    // The fourth attempt of the mail that had been tried three times.
    await until(async () => (await listed()).includes('email grace@example.com delivered 1'));
    expect(await db.selectFrom('outbox_attempts').select('attempt').where('attempt', '=', 4).execute()).toHaveLength(1);
  },
);

async function fillVersion8({
  db,
  sink,
  instanceKey,
  clock,
}: Pick<OutboxRig, 'db' | 'sink' | 'instanceKey' | 'clock'>): Promise<void> {
  const now = clock.now();
  const message = (id: string, path: string, state: string, attempts: number) => sql`
      insert into notify_messages (id, organization_id, part_id, target, trigger_name, trigger_type, notification_type,
        "authorization", event, event_at, state, attempts, next_attempt_at, created_at, finished_at)
      values (${id}, 'org', 'part', ${`${sink.url}/test-inbox/${path}`}, 'up', 'part_online', 'webhook',
        'Basic abc', ${event}, ${now - 5}, ${state}, ${attempts}, ${now}, ${now - 5}, null)`;
  await message('msg_1', 'done', 'delivered', 1).execute(db);
  await message('msg_2', 'waiting', 'pending', 1).execute(db);
  await message('msg_3', 'gone', 'paused', 0).execute(db);
  for (const [id, outcome, code] of [
    ['msg_1', 'accepted', 200],
    ['msg_2', 'retryLater', 503],
  ] as const)
    await sql`insert into notify_attempts (message_id, attempt, at, duration_ms, outcome, code, error, response)
        values (${id}, 1, ${now - 4}, 7, ${outcome}, ${code}, null, 'busy')`.execute(db);
  await sql`insert into notify_paused_targets (organization_id, target, paused_at, reason)
      values ('org', ${`${sink.url}/test-inbox/gone`}, ${now - 3}, 'answered 410 Gone')`.execute(db);
  for (const [to, attempts, dueMs] of [
    ['ada@example.com', 0, now],
    ['grace@example.com', 3, now + dayMs],
  ] as const) {
    const sealed = instanceKey.encrypt(JSON.stringify({ subject: 'Invitation', text: `Dear ${to}` }));
    await sql`insert into mail_messages (recipient, sealed, attempts, created_ms, next_attempt_ms)
        values (${to}, ${sealed}, ${attempts}, ${now - 100}, ${dueMs})`.execute(db);
  }
}
