import { expect, test } from 'vitest';
import type { Grant, Principal } from '../../access/principal.ts';
import { app, openMachines, type TestMachines } from '../testing/open-machines.ts';

/** A signed-in person with one role, on the first organization unless `on` overrides it. */
async function person({ db, organizationId }: TestMachines, id: string, on: Partial<Grant> = {}): Promise<Principal> {
  const email = `${id}@example.com`;
  await db.insertInto('people').values({ id, email, name: id, created_ms: 1 }).execute();
  const grant: Grant = { role: 'operator', organizationId, locationId: null, robotId: null, ...on };
  return { kind: 'person', personId: id, sessionId: `session of ${id}`, email, grants: [grant] };
}

const idsOf = async ({ ask }: TestMachines, by: Principal): Promise<(string | undefined)[]> =>
  (await ask(by, app.listFavoriteMachines, {})).favorites.map(({ machine }) => machine?.id);

test('a person marks machines; marking one again changes nothing; others do not see them', async () => {
  const given = await openMachines();
  const { ask, owner, machineId, locationId, organizationId, laterMs } = given;
  const [anna, ben] = [await person(given, 'anna'), await person(given, 'ben')];
  const { id: crane } = await ask(owner, app.newRobot, { name: 'crane', location: locationId });
  await ask(anna, app.addFavoriteMachine, { machineId: crane });
  laterMs(5_000);
  await ask(anna, app.addFavoriteMachine, { machineId });
  const before = await ask(anna, app.listFavoriteMachines, {});
  laterMs(5_000);
  await ask(anna, app.addFavoriteMachine, { machineId: crane });
  expect((await ask(anna, app.listFavoriteMachines, {})).favorites.map(({ createdOn }) => createdOn)).toEqual(
    before.favorites.map(({ createdOn }) => createdOn),
  );
  expect(before.favorites).toMatchObject([
    { machine: { id: crane, name: 'crane', location: locationId }, organizationId },
    { machine: { id: machineId, name: 'press' }, organizationId },
  ]);
  expect(await idsOf(given, ben)).toEqual([]);
  await ask(anna, app.removeFavoriteMachine, { machineId: crane });
  await ask(anna, app.removeFavoriteMachine, { machineId: crane });
  expect(await idsOf(given, anna)).toEqual([machineId]);
});

test('a favorite grants no right: without a role on the machine it is not listed, but may still be removed', async () => {
  const given = await openMachines();
  const { ask, db, machineId, locationId } = given;
  const anna = await person(given, 'anna', { locationId });
  const stranger = await person(given, 'stranger', { organizationId: 'another' });
  await ask(anna, app.addFavoriteMachine, { machineId });
  const without: Principal = { ...anna, kind: 'person', grants: [] } as Principal;
  expect(await idsOf(given, without)).toEqual([]);
  expect(await idsOf(given, anna)).toEqual([machineId]);
  for (const id of [machineId, 'no-such-machine'])
    for (const method of [app.addFavoriteMachine, app.removeFavoriteMachine])
      await expect(ask(stranger, method, { machineId: id })).rejects.toMatchObject({
        code: 'not_found',
        message: `machine: expected the id of one that you may see, found "${id}"`,
      });
  await ask(without, app.removeFavoriteMachine, { machineId });
  expect(await db.selectFrom('favorite_machines').selectAll().execute()).toEqual([]);
});

test('keys and parts have no favorites, and the error explains how a person signs in', async () => {
  const { ask, owner, itself, machineId } = await openMachines();
  for (const method of [app.addFavoriteMachine, app.removeFavoriteMachine, app.listFavoriteMachines])
    for (const caller of [owner, itself])
      await expect(ask(caller, method, { machineId })).rejects.toMatchObject({
        code: 'permission_denied',
        message: expect.stringMatching(/^favorites: expected a signed-in person, found .*\/sign-in.*platform login/),
      });
});

test('favorites are deleted with their machine and with their person', async () => {
  const given = await openMachines();
  const { ask, db, owner, machineId, locationId } = given;
  const [anna, ben] = [await person(given, 'anna'), await person(given, 'ben')];
  const { id: crane } = await ask(owner, app.newRobot, { name: 'crane', location: locationId });
  for (const by of [anna, ben])
    for (const id of [machineId, crane]) await ask(by, app.addFavoriteMachine, { machineId: id });
  await ask(owner, app.deleteRobot, { id: crane });
  await db.deleteFrom('people').where('id', '=', 'ben').execute();
  expect(await db.selectFrom('favorite_machines').select(['person_id', 'machine_id']).execute()).toEqual([
    { person_id: 'anna', machine_id: machineId },
  ]);
});

test('a person has at most 500 favorites', async () => {
  const given = await openMachines();
  const { ask, db, machineId, locationId } = given;
  const anna = await person(given, 'anna');
  const others = Array.from({ length: 500 }, (_, index) => `machine-${index}`);
  const rowOf = (id: string) => ({ id, location_id: locationId, name: id, created_ms: 1 });
  await db.insertInto('machines').values(others.map(rowOf)).execute();
  const markOf = (machine_id: string) => ({ person_id: 'anna', machine_id, added_ms: 1 });
  await db.insertInto('favorite_machines').values(others.map(markOf)).execute();
  await expect(ask(anna, app.addFavoriteMachine, { machineId })).rejects.toMatchObject({ code: 'resource_exhausted' });
  await db.deleteFrom('favorite_machines').where('machine_id', '=', 'machine-0').execute();
  await ask(anna, app.addFavoriteMachine, { machineId });
});
