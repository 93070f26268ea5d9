import { AppService } from '@platform/proto/platform/app/v1/app';
import { CredentialsType, RobotService } from '@platform/proto/platform/app/v1/robot';
import { expect, test } from 'vitest';
import { createKey } from '../../access/keys.ts';
import type { Grant, Principal } from '../../access/principal.ts';
import { insertLocation, insertOrganization } from '../../accounts/insert-account-rows.ts';
import { openMachines } from '../testing/open-machines.ts';

/** Longer than the time for which the cloud caches keys; R16 allows 5 s. */
const rememberedMs = 5_000;

async function openKeys() {
  const opened = await openMachines();
  const { db, instanceKey, organizationId, locationId, registry } = opened;
  const grant = (on: Partial<Grant>): Grant => ({
    role: 'operator',
    organizationId,
    locationId: null,
    robotId: null,
    ...on,
  });
  const keyWith = (grants: readonly Partial<Grant>[], expiresMs?: number) =>
    createKey(db, instanceKey, 'a key', grants.map(grant), Date.now(), expiresMs);
  return {
    ...opened,
    keyWith,
    elsewhere: (await insertLocation(db, instanceKey, { organizationId, parentId: null, name: 'elsewhere' }, 1)).id,
    otherOrganizationId: (await insertOrganization(db, instanceKey, 'other', 1)).id,
    neighbour: (await registry.register(locationId, 'neighbour', 1)).machineId,
    /** Key id → key, from the single handler for API keys. */
    async accepted(principal: Principal): Promise<Record<string, unknown>> {
      const { config } = await opened.ask(principal, RobotService.method.config, { id: opened.partId });
      const handlers = config?.auth?.handlers ?? [];
      expect(handlers.map(({ type }) => type)).toEqual(handlers.slice(0, 1).map(() => CredentialsType.API_KEY));
      const { keys, ...secrets } = handlers[0]?.config ?? {};
      expect(keys).toEqual(handlers.length === 0 ? undefined : Object.keys(secrets));
      return secrets;
    },
  };
}

const idsOf = (secrets: Record<string, unknown>): string[] => Object.keys(secrets).toSorted();

test('D6 a part receives the keys that operate its machine, except those that open anything outside its location', async () => {
  const opened = await openKeys();
  const { accepted, keyWith, itself, machineId, neighbour, locationId, elsewhere, otherOrganizationId } = opened;
  expect(await accepted(itself)).toEqual({});
  const own = await keyWith([{ robotId: machineId }]);
  const place = await keyWith([{ role: 'owner', locationId }]);
  const both = await keyWith([{ robotId: machineId }, { robotId: neighbour }]);
  await keyWith([{ robotId: neighbour }]);
  await keyWith([{ locationId: elsewhere }]);
  await keyWith([{ role: 'owner' }]);
  await keyWith([{ robotId: machineId }, {}]);
  await keyWith([{ robotId: machineId }, { locationId: elsewhere }]);
  await keyWith([{ robotId: machineId }, { organizationId: otherOrganizationId }]);
  opened.laterMs(rememberedMs);
  expect(await accepted(itself)).toEqual({ [own.id]: own.key, [place.id]: place.key, [both.id]: both.key });
});

test('D6 R5 owners receive only those keys of a machine that open nothing beyond what they own; operators receive none', async () => {
  const { accepted, keyWith, key, owner, machineId, locationId } = await openKeys();
  const own = await keyWith([{ robotId: machineId }]);
  const place = await keyWith([{ locationId }]);
  expect(idsOf(await accepted(owner))).toEqual([own.id, place.id].toSorted());
  expect(idsOf(await accepted(key('owner', { robotId: machineId })))).toEqual([own.id]);
  expect(idsOf(await accepted(key('operator', { robotId: machineId })))).toEqual([]);
  expect(idsOf(await accepted(key('operator')))).toEqual([]);
});

test('R16 an expired or revoked key disappears from the configuration within 5 s', async () => {
  const { accepted, keyWith, itself, machineId, db, laterMs } = await openKeys();
  const ends = await keyWith([{ robotId: machineId }], Date.now() + 60_000);
  const stays = await keyWith([{ robotId: machineId }]);
  expect(idsOf(await accepted(itself))).toEqual([ends.id, stays.id].toSorted());
  laterMs(61_000);
  expect(idsOf(await accepted(itself))).toEqual([stays.id]);
  await db.updateTable('api_keys').set({ revoked_ms: Date.now() }).where('id', '=', stays.id).execute();
  laterMs(rememberedMs);
  expect(await accepted(itself)).toEqual({});
});

test('keys named in the configuration itself are kept in addition to those of the machine, in one handler', async () => {
  const { accepted, keyWith, ask, owner, itself, machineId, partId: id } = await openKeys();
  const own = await keyWith([{ robotId: machineId }]);
  const auth = { handlers: [{ type: 'api-key', config: { 'id-1': 'written', keys: ['id-1'] } }] };
  await ask(owner, AppService.method.updateRobotPart, { id, robotConfigJson: JSON.stringify({ auth }) });
  expect(await accepted(itself)).toEqual({ [own.id]: own.key, 'id-1': 'written' });
});
