import { fromBinary, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { systemClock } from '@platform/base';
import { ConfigResponseSchema } from '@platform/proto/platform/app/v1/robot';
import { expect, test } from 'vitest';
import { callOf } from '../access/testing/call-of.ts';
import type { Database } from '../metadata/tables.ts';
import type { EffectiveConfigurations } from './configuration/effective-configuration.ts';
import { openPartStatuses } from './part-status.ts';
import { app, fleet, openMachines, robot, type TestMachines } from './testing/open-machines.ts';
import { withoutFragments } from './testing/without-fragments.ts';

/** Calls the method as the binary codecs do. */
async function poll({ machines, itself, partId }: TestMachines, vocabulary: 'core' | 'rdk' = 'core') {
  const bound = machines.robotBinding.methods.find((one) => one.raw && one.method.name === 'Config');
  if (bound?.kind !== 'unary') throw new Error('expected Config to be bound for the binary codecs');
  const request = { $typeName: 'platform.app.v1.ConfigRequest', id: partId } as never;
  const answer = await bound.handler(request, { ...callOf(itself, { host: 'cloud.test' }), vocabulary });
  return fromBinary(ConfigResponseSchema, toBinary(ConfigResponseSchema, answer as never)).config;
}

const config = JSON.stringify({
  components: [{ name: 'a', api: 'core:component:sensor', model: 'core:builtin:fake' }],
});

test('D10 what a part runs: saved, then fetched, then applied; a restart of the cloud loses nothing', async () => {
  const given = await openMachines();
  const { ask, owner, itself, partId } = given;
  const status = () => ask(owner, fleet.getPartStatus, { partId });
  const { savedVersion, fetched: never, applied } = await status();
  expect([savedVersion, never, applied]).toEqual([0n, undefined, undefined]);
  await ask(owner, app.updateRobotPart, { id: partId, robotConfigJson: config });
  const { saved } = await status();
  expect((await status()).fetched).toBeUndefined();
  const fetched = await ask(itself, robot.config, {
    id: partId,
    agentInfo: { version: '9.1', platform: 'linux/amd64' },
  });
  expect(fetched.config?.revision).toBe(saved?.revision);
  expect(await status()).toMatchObject({
    fetched: { revision: saved?.revision },
    serverVersion: '9.1',
    platform: 'linux/amd64',
  });
  await ask(itself, fleet.reportPartStatus, { partId, appliedRevision: saved?.revision ?? '', lastError: 'no arm' });
  expect(await status()).toMatchObject({ applied: { revision: saved?.revision }, lastError: 'no arm' });
  await ask(itself, fleet.reportPartStatus, { partId, appliedRevision: saved?.revision ?? '' });
  expect(await status()).toMatchObject({ applied: { revision: saved?.revision }, lastError: '' });
  expect((await status()).lastErrorAt).toBeUndefined();
  const again = (await given.restarted()).fleetHandlers.getPartStatus;
  expect(await again?.({ partId } as never, callOf(owner))).toMatchObject({
    applied: { revision: saved?.revision },
    fetched: { revision: saved?.revision },
    serverVersion: '9.1',
  });
});

test('the state of capture and sync is kept with its time, even across a restart, until the part reports again', async () => {
  const given = await openMachines();
  const { ask, key, owner, itself, partId, laterMs } = given;
  const report = (dataStatus?: JsonObject) =>
    ask(itself, fleet.reportPartStatus, { partId, appliedRevision: 'r1', ...(dataStatus && { dataStatus }) });
  const told = async () => (await ask(owner, fleet.getPartStatus, { partId })).data;
  expect(await told()).toBeUndefined();
  await report({ state: 'on', captured: 7, oldest_waiting: null });
  const first = await told();
  expect(first?.status).toEqual({ state: 'on', captured: 7, oldest_waiting: null });
  laterMs(3_600_000);
  await report();
  expect(await told()).toEqual(first);
  const again = (await given.restarted()).fleetHandlers.getPartStatus;
  expect(await again?.({ partId } as never, callOf(owner))).toMatchObject({ data: { status: { captured: 7 } } });
  await report({ state: 'on', captured: 8 });
  expect((await told())?.status).toEqual({ state: 'on', captured: 8 });
  expect(Number((await told())?.at?.seconds)).toBeGreaterThanOrEqual(Number(first?.at?.seconds) + 3_600);
  await expect(report({ last_error: 'x'.repeat(4_100) })).rejects.toMatchObject({
    code: 'invalid_argument',
    message: 'ReportPartStatus: data_status: expected at most 4096 bytes of JSON, found 4117',
  });
  const stranger = key('owner', { organizationId: 'other', locationId: null, machineId: null } as never);
  await expect(ask(stranger, fleet.getPartStatus, { partId })).rejects.toMatchObject({ code: 'not_found' });
});

test('D9 a held configuration is shown since the hold began, even if a newer one replaces it', async () => {
  const { ask, owner, itself, partId, laterMs } = await openMachines();
  const report = (heldRevision: string) =>
    ask(itself, fleet.reportPartStatus, { partId, appliedRevision: 'r1', heldRevision });
  const held = async () => (await ask(owner, fleet.getPartStatus, { partId })).held;
  await report('r2');
  const since = (await held())?.at;
  laterMs(60_000);
  await report('r3');
  expect(await held()).toMatchObject({ revision: 'r3', at: since });
  await report('');
  expect(await held()).toBeUndefined();
});

test('D9 an owner forces the held configuration, audited: the part gets the order until another revision is held', async () => {
  const given = await openMachines();
  const { ask, key, owner, itself, partId, db } = given;
  const report = async (heldRevision: string, appliedRevision = 'r1') =>
    (
      await ask(itself, fleet.reportPartStatus, {
        partId,
        appliedRevision,
        heldRevision,
        heldReason: 'the door is open',
      })
    ).forcedRevision;
  const force = (revision = '', by = owner) => ask(by, fleet.forceConfiguration, { partId, revision });
  await expect(force()).rejects.toMatchObject({ code: 'failed_precondition', message: /nothing is held back/ });
  expect(await report('r2')).toBe('');
  await expect(force('', key('operator'))).rejects.toMatchObject({ code: 'permission_denied' });
  await expect(force('', itself)).rejects.toMatchObject({ code: 'permission_denied' });
  await expect(force('r9')).rejects.toMatchObject({ code: 'failed_precondition', message: /found r2/ });
  expect(await report('r2')).toBe('');

  expect(await force('r2')).toMatchObject({ revision: 'r2' });
  expect(await ask(owner, fleet.getPartStatus, { partId })).toMatchObject({
    held: { revision: 'r2' },
    heldReason: 'the door is open',
    forced: { revision: 'r2' },
  });
  const entries = await db.selectFrom('audit_entries').selectAll().where('target_id', '=', partId).execute();
  expect(entries.map(({ action, detail, actor_id }) => [action, detail, actor_id])).toEqual([
    ['FleetService.ForceConfiguration', '{"revision":"r2"}', 'k'],
  ]);
  const again = (await given.restarted()).fleetHandlers.reportPartStatus;
  const same = { partId, appliedRevision: 'r1', heldRevision: 'r2', heldReason: '', lastError: '' };
  expect(await again?.(same as never, callOf(itself))).toEqual({ forcedRevision: 'r2' });

  expect(await report('r2')).toBe('r2');
  expect(await report('r3')).toBe('');
  expect(await report('r2')).toBe('');
  await force();
  expect(await report('', 'r2')).toBe('');
  expect((await ask(owner, fleet.getPartStatus, { partId })).forced).toBeUndefined();
  expect(await report('r2')).toBe('');
});

test('D9 after 24 h of holding, the machine log reports it, once for each hold, even across restarts of the cloud', async () => {
  const given = await openMachines();
  const { ask, owner, itself, partId, laterMs } = given;
  const report = (heldRevision: string) =>
    ask(itself, fleet.reportPartStatus, { partId, appliedRevision: 'r1', heldRevision, heldReason: 'found "open"' });
  const told = async () =>
    (await given.machines.logs.read({ partId, matches: () => true, limit: 10, signal: new AbortController().signal }))
      .entries.length;
  await report('r2');
  laterMs(23 * 3_600_000);
  await report('r2');
  expect(await told()).toBe(0);
  laterMs(3_600_001);
  await report('r3');
  await report('r3');
  const again = (await given.restarted()).fleetHandlers.reportPartStatus;
  const same = { partId, appliedRevision: 'r1', heldRevision: 'r3', heldReason: '', lastError: '' };
  await again?.(same as never, callOf(itself));
  const { entries } = await given.machines.logs.read({
    partId,
    matches: () => true,
    limit: 10,
    signal: new AbortController().signal,
  });
  expect(entries.map(({ level, message }) => [level, message])).toEqual([
    ['warn', expect.stringMatching(/has waited for the maintenance window since .*found "open".*part force/)],
  ]);
  expect((await ask(owner, fleet.getPartStatus, { partId })).heldReason).toBe('found "open"');
  await report('');
  await report('r4');
  laterMs(25 * 3_600_000);
  await report('r4');
  expect(await told()).toBe(2);
});

/** A database that performs inserts immediately, except the first, which waits until `letFirst` is called. */
function disordered(real: Database): { db: Database; begun(): number; done(): number; letFirst(): void } {
  const first = Promise.withResolvers<void>();
  let begun = 0;
  let done = 0;
  const slow = (builder: object): object =>
    new Proxy(builder, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        if (name !== 'execute') return (...args: unknown[]) => slow(member.apply(target, args));
        return async () => {
          if (++begun === 1) await first.promise;
          await member.apply(target);
          done++;
        };
      },
    });
  const db = {
    selectFrom: real.selectFrom.bind(real),
    insertInto: (table: 'part_status') => slow(real.insertInto(table)),
  } as unknown as Database;
  return { db, begun: () => begun, done: () => done, letFirst: first.resolve };
}

test('D10 the latest report of a part is kept, even if the store is slow to write the previous one', async () => {
  const { db: real, partId } = await openMachines();
  const { db, begun, done, letFirst } = disordered(real);
  const statuses = await openPartStatuses({
    db,
    clock: systemClock,
    exists: () => true,
    onLongHold: async () => {},
    onWriteFailure: (caught) => {
      throw caught;
    },
  });
  statuses.fetched(partId, 'r1', {});
  await expect.poll(begun).toBe(1);
  const report = { appliedRevision: 'r1', heldRevision: '', heldReason: '', lastError: '' };
  const reported = statuses.report(partId, report);
  // A report that does not wait would write before later statements are answered.
  for (let asked = 0; asked < 3; asked++) await real.selectFrom('part_status').selectAll().execute();
  expect(begun()).toBe(1);
  letFirst();
  await reported;
  await expect.poll(done).toBe(2);
  const row = await real.selectFrom('part_status').selectAll().executeTakeFirst();
  expect(row).toMatchObject({ fetched_revision: 'r1', applied_revision: 'r1' });
});

test('a part reports only about itself, and only owners may report for it', async () => {
  const { ask, key, partId } = await openMachines();
  const report = (principal: Parameters<typeof ask>[0]) => ask(principal, fleet.reportPartStatus, { partId });
  await expect(report({ kind: 'part', partId: 'other' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(report(key('operator'))).rejects.toMatchObject({ code: 'permission_denied' });
  await report(key('owner'));
});

test('D10 polls that change nothing write and resolve nothing; any change in between is seen at once', async () => {
  let resolved = 0;
  const counting: EffectiveConfigurations = {
    ...withoutFragments,
    effective(partId, document) {
      resolved++;
      return withoutFragments.effective(partId, document);
    },
  };
  const given = await openMachines({ effective: counting });
  const { ask, owner, partId, db, laterMs } = given;
  await ask(owner, app.updateRobotPart, { id: partId, robotConfigJson: config });
  const first = await poll(given);
  const rows = () => db.selectFrom('part_status').selectAll().execute();
  await expect.poll(rows).toHaveLength(1);
  const before = await rows();
  const resolvedBefore = resolved;
  for (let n = 0; n < 100; n++) {
    laterMs(15_000);
    expect((await poll(given))?.revision).toBe(first?.revision);
  }
  expect(resolved).toBe(resolvedBefore);
  expect(await rows()).toEqual(before);
  await ask(owner, app.updateRobotPart, { id: partId, robotConfigJson: '{"debug":true}' });
  expect(await poll(given)).toMatchObject({ debug: true, components: [] });
});

test("the encoded configuration equals the message, in the caller's vocabulary, and reflects secrets and place", async () => {
  const given = await openMachines();
  const { ask, owner, itself, partId, db, instanceKey, locationId, laterMs } = given;
  await ask(owner, app.updateRobotPart, { id: partId, robotConfigJson: config });
  expect(await poll(given)).toEqual((await ask(itself, robot.config, { id: partId })).config);
  expect((await poll(given, 'rdk'))?.components[0]).toMatchObject({ api: 'rdk:component:sensor' });
  expect((await poll(given))?.components[0]).toMatchObject({ api: 'core:component:sensor' });
  const secret = { id: 's2', location_id: locationId, secret: instanceKey.encrypt('new'), created_ms: 9 };
  await db.insertInto('location_secrets').values(secret).execute();
  laterMs(5_000);
  expect((await poll(given))?.cloud?.locationSecrets).toHaveLength(2);
});

test('D6 an operator receives the configuration without location secrets, even after the part received them', async () => {
  const given = await openMachines();
  const { ask, key, partId } = given;
  expect((await poll(given))?.cloud?.locationSecrets).toHaveLength(1);
  const operators = await ask(key('operator'), robot.config, { id: partId });
  expect(operators.config?.cloud?.locationSecrets).toEqual([]);
});
