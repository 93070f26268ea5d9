import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  AddRoleRequestSchema,
  type AuthorizationSchema,
  ChangeRoleRequestSchema,
  CheckPermissionsRequestSchema,
  ListAuthorizationsRequestSchema,
  RemoveRoleRequestSchema,
} from '@platform/proto/platform/app/v1/app';
import { expect, test } from 'vitest';
import type { Grant, Principal } from './principal.ts';
import { ask, type Fleet, on, openFleet } from './testing/open-fleet.ts';

type RoleOnWire = MessageInitShape<typeof AuthorizationSchema>;

/** A role as public clients send it; the Python SDK leaves `identity_type` empty. */
const role = (authorizationId: string, resourceId: string, identityId: string, identityType = ''): RoleOnWire => ({
  authorizationType: 'role',
  authorizationId,
  resourceType: authorizationId.replace(/_.*/, ''),
  resourceId,
  identityId,
  identityType,
  organizationId: resourceId === 'probe' || resourceId === 'lab' ? 'umbrella' : 'acme',
});
const add = (fleet: Fleet, authorization: RoleOnWire, by: Principal) =>
  ask(fleet.handlers.app.addRole, AddRoleRequestSchema, { authorization }, by);
const remove = (fleet: Fleet, authorization: RoleOnWire, by: Principal) =>
  ask(fleet.handlers.app.removeRole, RemoveRoleRequestSchema, { authorization }, by);
const change = (fleet: Fleet, oldAuthorization: RoleOnWire, newAuthorization: RoleOnWire, by: Principal) =>
  ask(fleet.handlers.app.changeRole, ChangeRoleRequestSchema, { oldAuthorization, newAuthorization }, by);
const caller = async (fleet: Fleet, ...grants: Grant[]): Promise<Principal> =>
  fleet.principalOf((await fleet.keyWith(...grants)).token);
const rolesOf = async (fleet: Fleet, id: string): Promise<readonly string[]> => {
  const rows = await fleet.db.selectFrom('grants').selectAll().where('identity_id', '=', id).execute();
  return rows.map((row) => `${row.role} ${row.robot_id ?? row.location_id ?? row.organization_id}`).toSorted();
};

test('R7 an owner adds, changes and removes roles of people and keys on what it owns; each change is in the audit trail', async () => {
  const fleet = await openFleet();
  const owner = await caller(fleet, on.organization('owner'));
  const person = await fleet.personWith(on.organization('operator'));
  const key = await fleet.keyWith(on.location('operator', 'hall'));
  await add(fleet, role('location_owner', 'plant', person, 'user'), owner);
  await add(fleet, role('robot_operator', 'mill', key.id), owner);
  expect(await rolesOf(fleet, person)).toEqual(['operator acme', 'owner plant']);
  expect(await rolesOf(fleet, key.id)).toEqual(['operator hall', 'operator mill']);

  await change(fleet, role('robot_operator', 'mill', key.id), role('robot_owner', 'press', key.id), owner);
  await remove(fleet, role('location_owner', 'plant', person), owner);
  expect(await rolesOf(fleet, person)).toEqual(['operator acme']);
  expect(await rolesOf(fleet, key.id)).toEqual(['operator hall', 'owner press']);
  const trail = await fleet.db.selectFrom('audit_entries').select(['action', 'target_id', 'detail']).execute();
  expect(trail).toEqual([
    { action: 'AppService.AddRole', target_id: person, detail: '{"role":"location_owner on plant"}' },
    { action: 'AppService.AddRole', target_id: key.id, detail: '{"role":"robot_operator on mill"}' },
    {
      action: 'AppService.ChangeRole',
      target_id: key.id,
      detail: '{"from":"robot_operator on mill","to":"robot_owner on press"}',
    },
    { action: 'AppService.RemoveRole', target_id: person, detail: '{"role":"location_owner on plant"}' },
  ]);
});

test('R16 a removed role stops working with the next call, although the token is still valid', async () => {
  const fleet = await openFleet();
  const owner = await caller(fleet, on.organization('owner'));
  const key = await fleet.keyWith(on.location('operator', 'hall'), on.machine('operator', 'mill'));
  expect(fleet.access.allows(await fleet.principalOf(key.token), 'machine.read', 'mill')).toBe(true);
  await remove(fleet, role('robot_operator', 'mill', key.id), owner);
  expect(fleet.access.allows(await fleet.principalOf(key.token), 'machine.read', 'mill')).toBe(false);
  expect(fleet.access.allows(await fleet.principalOf(key.token), 'machine.read', 'press')).toBe(true);
});

test('R7 adding a role that is already held changes nothing and writes no entry', async () => {
  const fleet = await openFleet();
  const owner = await caller(fleet, on.organization('owner'));
  const person = await fleet.personWith(on.organization('operator'));
  await add(fleet, role('organization_operator', 'acme', person), owner);
  expect(await rolesOf(fleet, person)).toEqual(['operator acme']);
  expect(await fleet.db.selectFrom('audit_entries').selectAll().execute()).toEqual([]);
});

test('R7 operators, and owners of something else, cannot add or remove roles', async () => {
  const fleet = await openFleet();
  const person = await fleet.personWith(on.organization('operator'), on.location('operator', 'hall'));
  const operator = await caller(fleet, on.organization('operator'));
  const elsewhere = await caller(fleet, on.location('owner', 'office'));
  await expect(add(fleet, role('location_owner', 'hall', person), operator)).rejects.toMatchObject({
    code: 'permission_denied',
  });
  await expect(add(fleet, role('location_owner', 'hall', person), elsewhere)).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(remove(fleet, role('location_operator', 'hall', person), elsewhere)).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(
    change(fleet, role('location_operator', 'hall', person), role('location_operator', 'office', person), elsewhere),
  ).rejects.toMatchObject({ code: 'not_found' });
  expect(await rolesOf(fleet, person)).toEqual(['operator acme', 'operator hall']);
});

test('R2 people and keys of another organization are treated exactly like nonexistent ones', async () => {
  const fleet = await openFleet();
  const owner = await caller(fleet, on.organization('owner'));
  const plantOwner = await caller(fleet, on.location('owner', 'plant'));
  const strangers = [
    await fleet.personWith(on.organization('owner', 'umbrella')),
    (await fleet.keyWith(on.organization('owner', 'umbrella'))).id,
    await fleet.personWith(),
    '00000000-0000-4000-8000-000000000000',
  ];
  for (const by of [owner, plantOwner]) {
    for (const type of ['', 'user', 'api-key']) {
      const refusals = await Promise.all(
        strangers.map((id) =>
          add(fleet, role('location_owner', 'plant', id, type), by).then(
            () => 'given',
            (caught: Error) => caught.message.replace(id, 'ID'),
          ),
        ),
      );
      expect(new Set(refusals).size).toBe(1);
      expect(refusals[0]).toMatch(/expected the id of one that you may see, found "ID"/);
    }
  }
});

test("R7 an owner adds no role to a key that opens more than it owns, so that the key's managers keep control of it", async () => {
  const fleet = await openFleet();
  const plantOwner = await caller(fleet, on.location('owner', 'plant'));
  const key = await fleet.keyWith(on.location('operator', 'plant'), on.location('operator', 'office'));
  await expect(add(fleet, role('robot_owner', 'press', key.id), plantOwner)).rejects.toMatchObject({
    code: 'permission_denied',
  });
  expect(await rolesOf(fleet, key.id)).toEqual(['operator office', 'operator plant']);
});

test('R7 the last owner of an organization can be neither removed nor made an operator', async () => {
  const fleet = await openFleet();
  const ownerKey = await fleet.keyWith(on.organization('owner'), on.location('owner', 'office'));
  const owner = await fleet.principalOf(ownerKey.token);
  const owns = role('organization_owner', 'acme', ownerKey.id);
  await expect(remove(fleet, owns, owner)).rejects.toThrow(/expected at least one owner to remain/);
  await expect(change(fleet, owns, role('organization_operator', 'acme', ownerKey.id), owner)).rejects.toMatchObject({
    code: 'failed_precondition',
  });
  expect(await rolesOf(fleet, ownerKey.id)).toEqual(['owner acme', 'owner office']);
  await fleet.personWith(on.organization('owner'));
  await remove(fleet, owns, owner);
  expect(await rolesOf(fleet, ownerKey.id)).toEqual(['owner office']);
});

test('the last role of a key cannot be removed, because no one could manage the key afterwards', async () => {
  const fleet = await openFleet();
  const owner = await caller(fleet, on.organization('owner'));
  const key = await fleet.keyWith(on.machine('operator', 'press'));
  await expect(remove(fleet, role('robot_operator', 'press', key.id), owner)).rejects.toThrow(
    /this is its last one; use DeleteKey to delete the key/,
  );
  expect(await rolesOf(fleet, key.id)).toEqual(['operator press']);
});

test('an invalid role is refused with what was expected', async () => {
  const fleet = await openFleet();
  const owner = await caller(fleet, on.organization('owner'));
  const person = await fleet.personWith(on.organization('operator'));
  const good = role('location_owner', 'plant', person);
  for (const [bad, message] of [
    [{ ...good, authorizationId: 'location_admin' }, /authorization_id: expected organization_, location_ or robot_/],
    [{ ...good, resourceType: 'organization' }, /resource_type: expected "location"/],
    [{ ...good, authorizationType: 'group' }, /authorization_type: expected "role"/],
    [{ ...good, organizationId: 'umbrella' }, /organization_id: expected that of location plant/],
    [{ ...good, identityType: 'robot' }, /identity_type: expected "user" or "api-key"/],
  ] as const)
    await expect(add(fleet, bad, owner)).rejects.toThrow(message);
  await expect(remove(fleet, good, owner)).rejects.toMatchObject({ code: 'not_found' });
  await add(fleet, { ...good, authorizationId: 'machine_owner', resourceType: 'machine', resourceId: 'mill' }, owner);
  expect(await rolesOf(fleet, person)).toEqual(['operator acme', 'owner mill']);
});

test('R12 ListAuthorizations shows owners the roles on what they own, and refuses operators and strangers', async () => {
  const fleet = await openFleet();
  const person = await fleet.personWith(on.organization('operator'));
  const hallKey = await fleet.keyWith(on.location('operator', 'hall'));
  await fleet.keyWith(on.location('operator', 'office'));
  const plantOwner = await fleet.keyWith(on.location('owner', 'plant'));
  const list = async (by: Principal, resourceIds: string[] = [], organizationId = 'acme') =>
    (
      await ask(
        fleet.handlers.app.listAuthorizations,
        ListAuthorizationsRequestSchema,
        { organizationId, resourceIds },
        by,
      )
    ).authorizations;
  const seen = await list(await fleet.principalOf(plantOwner.token));
  expect(seen?.map((one) => one.identityId).toSorted()).toEqual([hallKey.id, plantOwner.id].toSorted());

  const owner = await caller(fleet, on.organization('owner'));
  expect(await list(owner)).toHaveLength(5);
  expect(await list(owner, ['acme', 'lab'])).toMatchObject([
    {
      authorizationType: 'role',
      authorizationId: 'organization_operator',
      resourceType: 'organization',
      identityId: person,
      identityType: 'user',
      organizationId: 'acme',
    },
    { authorizationId: 'organization_owner', identityType: 'api-key' },
  ]);
  await expect(list(await caller(fleet, on.organization('operator')))).rejects.toMatchObject({
    code: 'permission_denied',
  });
  await expect(list(owner, [], 'umbrella')).rejects.toMatchObject({ code: 'not_found' });
});

test('R13 CheckPermissions returns the permissions that the caller holds, and nothing about resources it may not know of', async () => {
  const fleet = await openFleet();
  const by = await caller(fleet, on.location('operator', 'plant'), on.machine('owner', 'press'));
  const permissions = ['read_robot_logs', 'control_robot', 'write_robot', 'read_location', 'write_location', 'fly'];
  const answer = async (resourceType: string, resourceId: string) =>
    (
      await ask(
        fleet.handlers.app.checkPermissions,
        CheckPermissionsRequestSchema,
        { permissions: [{ resourceType, resourceId, permissions }] },
        by,
      )
    ).authorizedPermissions?.[0]?.permissions;
  expect(await answer('robot', 'press')).toEqual(['read_robot_logs', 'control_robot', 'write_robot']);
  expect(await answer('machine', 'press')).toEqual(['read_robot_logs', 'control_robot', 'write_robot']);
  expect(await answer('location', 'hall')).toEqual(['read_robot_logs', 'control_robot', 'read_location']);
  for (const [type, id] of [
    ['robot', 'mill'],
    ['robot', 'probe'],
    ['robot', 'nothing'],
    ['location', 'press'],
    ['organization', 'acme'],
    ['planet', 'acme'],
  ] as const)
    expect(await answer(type, id)).toEqual([]);
  await expect(
    ask(
      fleet.handlers.app.checkPermissions,
      CheckPermissionsRequestSchema,
      { permissions: [] },
      { kind: 'part', partId: 'press-main' },
    ),
  ).rejects.toMatchObject({ code: 'permission_denied' });
});
