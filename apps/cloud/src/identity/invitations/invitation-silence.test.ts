/** Checks what the owner of a location can learn about others who are invited to the organization or belong to it. */
import { startSmtpSink } from '@platform/testkit';
import { expect, test } from 'vitest';
import { type People, startPeople } from '../testing/start-people.ts';

const password = 'correct horse battery';
const addresses = ['nobody@example.com', 'invited@example.com', 'member@example.com'] as const;

type App = ReturnType<People['app']>;

async function given(smtpUrl?: string): Promise<{ people: People; app: App; keeper: App }> {
  const people = await startPeople(smtpUrl === undefined ? {} : { smtpUrl });
  const { organizationId, locationId } = people;
  const owner = { role: 'owner' as const, organizationId, locationId: null, robotId: null };
  const app = people.app(await people.keyWith(owner));
  await app.createOrganizationInvite({ organizationId, email: 'invited@example.com' });
  await people.personWith('member@example.com', password, owner);
  return { people, app, keeper: people.app(await people.keyWith({ ...owner, locationId })) };
}

/** The result of a call, without the address. */
async function outcome(call: Promise<unknown>, email: string): Promise<string> {
  const text = await call.then(
    (answer) => JSON.stringify(answer, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    ({ code, message }) => `${code} ${message}`,
  );
  return text.replaceAll(email, 'ADDRESS');
}

/** Every operation of a keeper on an invitation, some of them twice. */
async function probe(keeper: App, { organizationId, locationId }: People, email: string): Promise<string[]> {
  const target = { organizationId, email };
  const roles = (authorizationId: string) => [
    { authorizationType: 'role', authorizationId, resourceType: 'location', resourceId: locationId },
  ];
  const calls: (() => Promise<unknown>)[] = [
    () => keeper.resendOrganizationInvite(target),
    () => keeper.updateOrganizationInviteAuthorizations({ ...target, addAuthorizations: roles('location_operator') }),
    () => keeper.deleteOrganizationInvite(target),
    () => keeper.createOrganizationInvite({ ...target, authorizations: roles('location_owner') }),
    () => keeper.createOrganizationInvite({ ...target, authorizations: roles('location_owner') }),
    () => keeper.updateOrganizationInviteAuthorizations({ ...target, addAuthorizations: roles('location_operator') }),
    () => keeper.resendOrganizationInvite(target),
    () => keeper.resendOrganizationInvite({ ...target, sendEmailInvite: false }),
    () =>
      keeper.updateOrganizationInviteAuthorizations({
        ...target,
        removeAuthorizations: [...roles('location_operator'), ...roles('location_owner')],
      }),
    () => keeper.deleteOrganizationInvite(target),
    () => keeper.deleteOrganizationInvite(target),
    () => keeper.createOrganizationInvite({ ...target, authorizations: roles('location_owner') }),
  ];
  const found: string[] = [];
  for (const call of calls) found.push(await outcome(call(), email));
  return found;
}

test('R2 the owner of only a location gets the same answers for addresses that are invited, members or neither', async () => {
  await using sink = await startSmtpSink();
  const { people, app, keeper } = await given(sink.url);
  const { organizationId } = people;
  await people.clock.advance(60_000);
  const [nobody, ...others] = await Promise.all(addresses.map((email) => probe(keeper, people, email)));
  for (const other of others) expect(other).toEqual(nobody);
  expect(nobody?.map((text) => text.split(' ')[0])).toEqual([
    ...['permission_denied', 'permission_denied', 'permission_denied'],
    expect.stringContaining('location_owner'),
    'resource_exhausted',
    expect.stringContaining('location_operator'),
    'resource_exhausted',
    expect.stringContaining('location_operator'),
    'failed_precondition',
    ...[expect.stringContaining('DeleteOrganizationInviteResponse'), 'permission_denied', 'resource_exhausted'],
  ]);
  // Roles that others gave are unchanged.
  const { invites } = await app.listOrganizationMembers({ organizationId });
  expect(invites.map((one) => [one.email, one.authorizations.map((role) => role.authorizationId)])).toEqual([
    ['invited@example.com', ['organization_owner']],
  ]);
});

test('without a mail server, a location owner adds to an invitation of others; its link stays valid and hidden', async () => {
  const { people, app, keeper } = await given();
  const { organizationId, locationId } = people;
  const email = 'invited@example.com';
  const key = await people.keyWith({ role: 'owner', organizationId, locationId: null, robotId: null });
  const { body } = await people.json('/api/invitations/link', key, { organizationId, email });
  const { link } = body as { link: string };
  const authorizations = [{ authorizationId: 'location_operator', resourceId: locationId }];
  const { invite } = await keeper.createOrganizationInvite({ organizationId, email, authorizations });
  expect(invite?.authorizations.map((one) => one.authorizationId)).toEqual(['location_operator']);
  const keeperKey = await people.keyWith({ role: 'owner', organizationId, locationId, robotId: null });
  const shown = await people.json('/api/invitations/link', keeperKey, { organizationId, email });
  expect(shown).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
  await keeper.resendOrganizationInvite({ organizationId, email });
  const [pending] = (await app.listOrganizationMembers({ organizationId })).invites;
  expect(pending?.authorizations.map((one) => one.authorizationId)).toEqual([
    'organization_owner',
    'location_operator',
  ]);
  expect((await people.browser().open(link.slice(people.url.length))).status).toBe(200);
});
