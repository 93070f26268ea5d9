import { silentLog, systemClock } from '@platform/base';
import { expect, onTestFinished, test } from 'vitest';
import type { OwnActor } from '../access/audit.ts';
import { migrations } from '../metadata/migrations.ts';
import { openMetadata } from '../metadata/open-metadata.ts';
import type { CloudTables, Database } from '../metadata/tables.ts';
import { alterRows } from '../metadata/testing/test-row-watch.ts';
import { openTestStore } from '../metadata/testing/test-store.ts';
import { throwUncaught } from '../metadata/testing/throw-uncaught.ts';
import type { Message } from '../outbox/event.ts';
import { enqueueWebhooks, openOutboxRig, until } from '../outbox/testing/open-outbox.ts';
import { webhookMessage } from '../outbox/testing/webhook-message.ts';
import {
  type AllowedTargets,
  type AllowedTargetsDeps,
  openAllowedTargets,
  organizationDeleting,
} from './allowed-targets.ts';
import { listAudit } from './list-audit.ts';
import { allowedTargetTexts } from './webhook-operations.ts';

const root: OwnActor = { kind: 'admin', name: 'root' };
const nodeRed = '127.0.0.1:1880';

async function addOrganizations(db: Database): Promise<void> {
  const row = { created_ms: 1, webhook_secret: new Uint8Array(1) };
  await db
    .insertInto('organizations')
    .values(['ours', 'others'].map((id) => ({ id, name: `The ${id}`, ...row })))
    .execute();
}

async function open() {
  const store = await openTestStore(undefined, migrations);
  const { db, ...metadata } = await openMetadata<CloudTables>({
    file: store.directory.file('meta.sqlite'),
    database: store.database,
    ...{ log: silentLog, clock: systemClock, onFatal: throwUncaught, migrations },
  });
  onTestFinished(async () => {
    await metadata[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });
  await addOrganizations(db);
  const openTargets = (overrides: Partial<AllowedTargetsDeps> = {}): Promise<AllowedTargets> =>
    openAllowedTargets({
      db,
      ownPorts: () => [8080, 5432],
      option: [],
      organizations: () => ['ours', 'others'],
      ...overrides,
    });
  return { store, db, openTargets };
}

function messageOf(n: number, organizationId: string, target: string): Message {
  const message = webhookMessage(n, target);
  return { ...message, event: { ...message.event, place: { ...message.event.place, organizationId } } };
}

test('D43 an allowed program gets the webhooks of one organization, from the next attempt until it is disallowed', async () => {
  const on = await openOutboxRig();
  await addOrganizations(on.db);
  const loopback = await openAllowedTargets({ db: on.db, ownPorts: () => [], option: [], organizations: () => [] });
  const outbox = on.open({ loopback });
  outbox.start();
  const url = `${on.sink.url}/hook`;
  const target = new URL(url).host;
  let n = 0;
  const send = async (organizationId: string): Promise<string> => {
    const message = messageOf(++n, organizationId, url);
    await enqueueWebhooks(on, outbox, message);
    const find = async () => (await outbox.list({ limit: 500 })).find(({ id }) => id === message.id);
    await until(async () => (await find())?.state !== 'pending');
    const found = await find();
    return found?.attempts.at(-1)?.error || (found?.state ?? '');
  };
  expect(await send('ours')).toContain(`platform admin webhooks allow ours ${target}`);
  await loopback.allow('ours', target, root, 1);
  expect(await send('ours')).toBe('delivered');
  expect(await send('others')).toContain(`platform admin webhooks allow others ${target}`);
  await loopback.disallow('ours', target, root, 2);
  expect(await send('ours')).toContain(`platform admin webhooks allow ours ${target}`);
  expect(on.sink.requests).toHaveLength(1);
});

test('D43 allowing and disallowing are audited, once for each change, and stand after a restart', async () => {
  const { db, openTargets } = await open();
  const targets = await openTargets();
  await targets.allow('ours', nodeRed, root, 1);
  await targets.allow('ours', nodeRed, root, 2);
  expect((await openTargets()).allows('ours', '127.0.0.1', 1880)).toBe(true);
  expect(await allowedTargetTexts(targets, [{ id: 'ours', name: 'The ours' }])).toEqual([`${nodeRed} for The ours`]);
  await targets.disallow('ours', nodeRed, root, 3);
  expect((await openTargets()).allows('ours', '127.0.0.1', 1880)).toBe(false);
  await expect(targets.disallow('ours', nodeRed, root, 4)).rejects.toMatchObject({ code: 'not_found' });
  const entry = { actorKind: 'admin', actorName: 'root', organizationId: 'ours', targetId: nodeRed };
  expect(await listAudit(db, {})).toMatchObject([
    { ...entry, action: 'admin.webhooks.disallow', atMs: 3 },
    { ...entry, action: 'admin.webhooks.allow', atMs: 1 },
  ]);
});

test('D43 only the exact address, port and organization are allowed', async () => {
  const targets = await (await open()).openTargets();
  await targets.allow('ours', '[0::1]:8123', root, 1);
  await targets.allow('ours', nodeRed, root, 1);
  expect([targets.allows('ours', '::1', 8123), targets.allows('ours', '127.0.0.1', 1880)]).toEqual([true, true]);
  for (const [organizationId, address, port] of [
    ['ours', '127.0.0.1', 8123],
    ['ours', '::1', 1880],
    ['ours', '127.0.0.1', 1881],
    ['ours', '127.0.0.2', 1880],
    ['ours', '::ffff:127.0.0.1', 1880],
    ['others', '127.0.0.1', 1880],
    ['', '127.0.0.1', 1880],
  ] as const)
    expect([organizationId, address, port, targets.allows(organizationId, address, port)].at(-1)).toBe(false);
});

test('D43 own ports, addresses outside loopback and unknown organizations are refused when they are stored', async () => {
  const { db, openTargets } = await open();
  const targets = await openTargets();
  const refusal = (organizationId: string, target: string): Promise<unknown> =>
    targets.allow(organizationId, target, root, 1).then(
      () => 'allowed',
      (caught: Error) => caught.message,
    );
  expect(await refusal('ours', '127.0.0.1:8080')).toContain('the platform or its database listens on port 8080');
  expect(await refusal('ours', '[::1]:5432')).toContain('the platform or its database listens on port 5432');
  expect(await refusal('ours', '169.254.169.254:80')).toContain('a cloud metadata address');
  expect(await refusal('ours', '192.168.0.10:80')).toContain('PLATFORM_WEBHOOK_ALLOW_PRIVATE');
  expect(await refusal('unknown', nodeRed)).toContain('organization: expected the id of one in this installation');
  expect([await targets.list(), await listAudit(db, {})]).toEqual([[], []]);
});

test('D43 an allowed port on which the platform listens later is refused while it does, and listed with the reason', async () => {
  const own: number[] = [];
  const targets = await (await open()).openTargets({ ownPorts: () => own });
  await targets.allow('ours', nodeRed, root, 1);
  own.push(1880);
  expect([targets.isOwnPort(1880), targets.allows('ours', '127.0.0.1', 1880)]).toEqual([true, false]);
  expect(await targets.list('ours')).toMatchObject([
    { target: nodeRed, ignoredBecause: 'the platform or its database listens on port 1880' },
  ]);
  own.pop();
  expect(targets.allows('ours', '127.0.0.1', 1880)).toBe(true);
});

test('D43 --webhook-allow counts for the only organization, and for none once there is a second one', async () => {
  const organizations = ['ours'];
  const targets = await (await open()).openTargets({
    option: [{ address: '127.0.0.1', port: 1880 }],
    organizations: () => organizations,
  });
  expect([targets.allows('ours', '127.0.0.1', 1880), targets.allows('others', '127.0.0.1', 1880)]).toEqual([
    true,
    false,
  ]);
  expect(await allowedTargetTexts(targets, [])).toEqual([`${nodeRed} for ours (--webhook-allow)`]);
  organizations.push('others');
  expect(['ours', 'others'].some((one) => targets.allows(one, '127.0.0.1', 1880))).toBe(false);
  expect(await allowedTargetTexts(targets, [])).toEqual([
    `${nodeRed} (--webhook-allow), ignored: it needs exactly one organization in the installation`,
  ]);
  await expect(targets.disallow('ours', nodeRed, root, 1)).rejects.toThrow('end with a start without the option');
});

test('D33 D43 a row that something else altered or added allows nothing after a restart', async () => {
  const { store, openTargets } = await open();
  const targets = await openTargets();
  await targets.allow('ours', nodeRed, root, 1);
  await targets.allow('others', nodeRed, root, 1);
  await alterRows(store, "update allowed_webhook_targets set port = 22 where organization_id = 'ours'");
  const again = await openTargets();
  expect([again.allows('ours', '127.0.0.1', 22), again.allows('ours', '127.0.0.1', 1880)]).toEqual([false, false]);
  expect(again.allows('others', '127.0.0.1', 1880)).toBe(true);
  expect(await again.list('ours')).toMatchObject([
    { target: '127.0.0.1:22', ignoredBecause: 'its stored row was altered' },
  ]);
});

test('D43 deleting an organization deletes its allowed targets, but not those of others', async () => {
  const { db, openTargets } = await open();
  const targets = await openTargets();
  for (const id of ['ours', 'others']) await targets.allow(id, nodeRed, root, 1);
  await db.transaction().execute((trx) => organizationDeleting(trx, 'ours'));
  expect(await (await openTargets()).list()).toMatchObject([{ organizationId: 'others' }]);
});
