import { stackText } from '@platform/base';
import { ListAuditEntriesRequestSchema } from '@platform/proto/platform/fleet/v1/fleet';
import { expect, test } from 'vitest';
import { audit } from './audit.ts';
import { auditEntries } from './audit-entries.ts';
import { removeGrantsOn } from './grants.ts';
import type { Principal } from './principal.ts';
import { callOf } from './testing/call-of.ts';
import { ask, type Fleet, on, openFleet } from './testing/open-fleet.ts';

const write = (fleet: Fleet, by: Principal, targetId: string, organizationId: string | null = 'acme') =>
  audit(fleet.db, callOf(by), fleet.clock.now(), 'AppService.UpdateRobot', ['machine', targetId, organizationId], {
    name: 'press',
  });

const list = (fleet: Fleet, by: Principal, more: { targetId?: string; pageToken?: string; pageLimit?: number } = {}) =>
  ask(fleet.handlers.fleet.listAuditEntries, ListAuditEntriesRequestSchema, { organizationId: 'acme', ...more }, by);

test('the audit trail is append-only in the database itself: entries can be neither changed nor removed', async () => {
  const fleet = await openFleet();
  const owner = await fleet.principalOf((await fleet.keyWith(on.organization('owner'))).token);
  await write(fleet, owner, 'press');
  // The reason for the refusal is only in the log (D37).
  const outcome = (statement: Promise<unknown>): Promise<string> => statement.then(() => 'done', stackText);
  const changed = fleet.db.updateTable('audit_entries').set({ detail: '{}' }).execute();
  expect(await outcome(changed)).toMatch(/append-only/);
  expect(await outcome(fleet.db.deleteFrom('audit_entries').execute())).toMatch(/append-only/);
  expect(await auditEntries(fleet.db, { limit: 10 })).toMatchObject([
    { target_id: 'press', detail: '{"name":"press"}' },
  ]);
});

test('a change that fails leaves no entry', async () => {
  const fleet = await openFleet();
  const owner = await fleet.principalOf((await fleet.keyWith(on.organization('owner'))).token);
  const failed = fleet.db.transaction().execute(async (trx) => {
    await audit(trx, callOf(owner), 1, 'X', ['machine', 'press', 'acme']);
    throw new Error('the change failed');
  });
  await expect(failed).rejects.toThrow('the change failed');
  expect(await auditEntries(fleet.db, { limit: 10 })).toEqual([]);
});

test("an organization's entries are listed newest first in pages, each exactly once, and can be filtered by target", async () => {
  const fleet = await openFleet();
  const owner = await fleet.principalOf((await fleet.keyWith(on.organization('owner'))).token);
  for (let index = 0; index < 7; index++) await write(fleet, owner, `machine ${index % 2}`);
  await write(fleet, owner, 'machine 0', 'umbrella');
  await write(fleet, owner, 'machine 0', null);

  const ids: bigint[] = [];
  let pageToken = '';
  do {
    const page = await list(fleet, owner, { pageLimit: 3, pageToken });
    expect(page.entries?.length).toBeLessThanOrEqual(3);
    expect(page.total).toBe(7n);
    for (const entry of page.entries ?? []) ids.push(entry.id ?? 0n);
    pageToken = page.nextPageToken ?? '';
  } while (pageToken !== '');
  expect(ids).toHaveLength(7);
  expect(ids).toEqual(ids.toSorted((a, b) => Number(b - a)));

  const { entries = [], total } = await list(fleet, owner, { targetId: 'machine 1' });
  expect(entries).toHaveLength(3);
  expect(total).toBe(3n);
  expect(entries[0]).toMatchObject({
    actor: { kind: 'api-key', name: 'test key' },
    action: 'AppService.UpdateRobot',
    targetKind: 'machine',
    targetId: 'machine 1',
    detail: '{"name":"press"}',
    peerAddress: '127.0.0.1:1',
  });
  await expect(list(fleet, owner, { pageToken: 'x' })).rejects.toThrow(/expected the page token of an earlier answer/);
});

test('R8 only owners of the organization can read the audit trail', async () => {
  const fleet = await openFleet();
  const asked = async (...grants: Parameters<Fleet['keyWith']>) =>
    list(fleet, await fleet.principalOf((await fleet.keyWith(...grants)).token));
  await expect(asked(on.organization('operator'))).rejects.toMatchObject({ code: 'permission_denied' });
  await expect(asked(on.location('owner', 'plant'))).rejects.toMatchObject({ code: 'permission_denied' });
  await expect(asked(on.organization('owner', 'umbrella'))).rejects.toMatchObject({ code: 'not_found' });
  await expect(list(fleet, { kind: 'part', partId: 'press-main' })).rejects.toMatchObject({ code: 'not_found' });
});

test('deleting a target removes the roles on it and the keys without other roles, and records which', async () => {
  const fleet = await openFleet();
  const alone = await fleet.keyWith(on.machine('owner', 'press'));
  const wider = await fleet.keyWith(on.machine('owner', 'press'), on.location('operator', 'office'));
  const ended = await fleet.db.transaction().execute((trx) => removeGrantsOn(trx, { machineId: 'press' }));
  fleet.authenticator.forget();
  expect(ended.map(({ id }) => id)).toEqual([alone.id]);
  await expect(fleet.principalOf(alone.token)).rejects.toMatchObject({ code: 'unauthenticated' });
  await expect(fleet.principalOf(wider.token)).resolves.toMatchObject({ grants: [on.location('operator', 'office')] });
});
