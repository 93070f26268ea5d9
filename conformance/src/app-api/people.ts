import { appApi } from '@viamrobotics/sdk';
import { expect, test } from 'vitest';
import type { Listed } from './package-types.ts';
import { Code, expectRecent, expectRefused, unknownId, type World } from './world.ts';

export function roleOn(organizationId: string, kind: string, resourceId: string, role: string, identityId = '') {
  return new appApi.Authorization({
    authorizationType: 'role',
    authorizationId: `${kind}_${role}`,
    resourceType: kind,
    resourceId,
    organizationId,
    identityId,
  });
}

export function peopleTests(world: () => World): void {
  test('the first owner is a member with address, joining and last use', async () => {
    const { owner, ada, cloud } = world();
    const { organizationId, members } = await owner.app.listOrganizationMembers(cloud.organizationId);
    expect(organizationId).toBe(cloud.organizationId);
    const [member] = members.filter((one: Listed) => one.userId === ada.id);
    expect(member).toMatchObject({ userId: ada.id, emails: ['ada@example.com'] });
    expectRecent(member?.dateAdded);
    expectRecent(member?.lastLogin);
    expectRecent(member?.lastAccess);
    expect(await owner.app.getUserIDByEmail(' ADA@example.com')).toBe(ada.id);
    const organizations = await owner.app.listOrganizationsByUser(ada.id);
    expect(organizations.map(({ orgId }: Listed) => orgId)).toEqual([cloud.organizationId]);
  });

  test('is invited with roles, which are changed, sent again, accepted and then in effect', async () => {
    const { owner, cloud, join } = world();
    const { app } = owner;
    const { organizationId, locationId, machineId } = cloud;
    const operator = roleOn(organizationId, 'location', locationId, 'operator');
    const machine = roleOn(organizationId, 'robot', machineId, 'owner');
    const invite = await app.createOrganizationInvite(organizationId, 'Bea@Example.com ', [operator], false);
    expect(invite).toMatchObject({ organizationId, email: 'bea@example.com' });
    expectRecent(invite?.createdOn);
    expect(invite?.authorizations).toMatchObject([
      {
        authorizationType: 'role',
        authorizationId: 'location_operator',
        resourceType: 'location',
        resourceId: locationId,
        organizationId,
        identityType: 'user',
      },
    ]);
    const again = app.createOrganizationInvite(organizationId, 'bea@example.com', [operator], false);
    await expectRefused(again, Code.alreadyExists, /bea@example.com/);

    const changed = await app.updateOrganizationInviteAuthorizations(
      organizationId,
      'bea@example.com',
      [machine],
      [operator],
    );
    expect(changed?.authorizations.map((one: Listed) => one.authorizationId)).toEqual(['robot_owner']);
    const none = app.updateOrganizationInviteAuthorizations(organizationId, 'bea@example.com', [], [machine]);
    await expectRefused(none, Code.failedPrecondition, /1 to/);
    expect(await app.resendOrganizationInvite(organizationId, 'bea@example.com')).toMatchObject({
      organizationId,
      email: 'bea@example.com',
      authorizations: [{ authorizationId: 'robot_owner', resourceId: machineId }],
    });
    const { invites } = await app.listOrganizationMembers(organizationId);
    expect(invites).toMatchObject([
      { organizationId, email: 'bea@example.com', authorizations: [{ resourceId: machineId }] },
    ]);

    const bea = await join(organizationId, 'bea@example.com');
    expect(bea.email).toBe('bea@example.com');
    expect(await bea.app.getRobot(machineId)).toMatchObject({ id: machineId });
    await expectRefused(bea.app.listOrganizationMembers(organizationId), Code.permissionDenied, /organization/);
    const after = await app.listOrganizationMembers(organizationId);
    expect(after.invites).toEqual([]);
    expect(after.members.map((one: Listed) => one.userId)).toContain(bea.id);

    await expectRefused(
      bea.app.deleteOrganizationMember(organizationId, world().ada.id),
      Code.permissionDenied,
      /organization/,
    );
    await app.deleteOrganizationMember(organizationId, bea.id);
    expect((await app.listOrganizationMembers(organizationId)).members.map((one: Listed) => one.userId)).not.toContain(
      bea.id,
    );
    await expectRefused(bea.app.getRobot(machineId), Code.notFound, /machine/);
    await expectRefused(app.deleteOrganizationMember(organizationId, bea.id), Code.notFound, /member/);
  });

  test('an invitation without roles creates an owner, and a deleted one is gone', async () => {
    const { owner, cloud } = world();
    const { organizationId } = cloud;
    const invite = await owner.app.createOrganizationInvite(organizationId, 'cleo@example.com', []);
    expect(invite?.authorizations).toMatchObject([
      { authorizationId: 'organization_owner', resourceId: organizationId },
    ]);
    await owner.app.deleteOrganizationInvite(organizationId, 'cleo@example.com');
    expect((await owner.app.listOrganizationMembers(organizationId)).invites).toEqual([]);
    for (const refused of [
      () => owner.app.deleteOrganizationInvite(organizationId, 'cleo@example.com'),
      () => owner.app.resendOrganizationInvite(organizationId, 'cleo@example.com'),
      () =>
        owner.app.updateOrganizationInviteAuthorizations(
          organizationId,
          'cleo@example.com',
          [roleOn(organizationId, 'organization', organizationId, 'owner')],
          [],
        ),
    ])
      await expectRefused(refused(), Code.notFound, /invitation/);
    const address = owner.app.createOrganizationInvite(organizationId, '<script>@x', []);
    await expectRefused(address, Code.invalidArgument, /e-?mail|address/i);
  });

  test('unknown people and strangers are NOT_FOUND', async () => {
    const { owner } = world();
    await expectRefused(owner.app.getUserIDByEmail('nobody@example.com'), Code.notFound, /person/);
    await expectRefused(owner.app.listOrganizationsByUser(unknownId), Code.notFound, /person/);
    await expectRefused(owner.app.listOrganizationMembers(unknownId), Code.notFound, /organization/);
    await expectRefused(
      owner.app.createOrganizationInvite(unknownId, 'x@example.com', []),
      Code.notFound,
      /organization/,
    );
    await expectRefused(owner.app.deleteOrganizationMember(unknownId, unknownId), Code.notFound, /organization/);
  });
}
