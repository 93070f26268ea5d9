/** Invitations through AppService, and their acceptance. Uses a real port, database and mail server. */
import { startSmtpSink } from '@platform/testkit';
import { expect, test } from 'vitest';
import type { Grant } from '../../access/principal.ts';
import { type People, startPeople } from '../testing/start-people.ts';

const password = 'correct horse battery';
const email = 'grace@example.com';

function owner(people: People): Grant {
  return { role: 'owner', organizationId: people.organizationId, locationId: null, robotId: null };
}

async function linkOf(people: People, token: string, to = email): Promise<string> {
  const target = { organizationId: people.organizationId, email: to };
  const { body } = await people.json('/api/invitations/link', token, target);
  const { link } = body as { link: string };
  return link.slice(people.url.length);
}

test('an invited person chooses a password, joins with the roles of the invitation, and can be removed again', async () => {
  const people = await startPeople();
  const { organizationId, locationId } = people;
  const token = await people.keyWith(owner(people));
  const app = people.app(token);
  const { invite } = await app.createOrganizationInvite({
    organizationId,
    email: ' Grace@Example.com',
    authorizations: [
      {
        authorizationType: 'role',
        authorizationId: 'location_operator',
        resourceType: 'location',
        resourceId: locationId,
      },
    ],
  });
  expect(invite).toMatchObject({ organizationId, email, authorizations: [{ authorizationId: 'location_operator' }] });

  const browser = people.browser();
  await browser.open(await linkOf(people, token));
  expect(browser.page.body).toContain('Join My organization');
  await browser.submit('/invitations/accept', { name: 'Grace', password });
  expect(browser.page.url.pathname).toBe('/');
  const session = browser.token ?? '';
  const { body } = await people.json('/api/whoami', session);
  expect(body).toMatchObject({ email, name: 'Grace', roles: [{ role: 'operator', organizationId, locationId }] });

  const listed = await app.listOrganizationMembers({ organizationId });
  expect(listed.members.map((one) => one.emails)).toEqual([[], [email]]);
  expect(listed.invites).toEqual([]);
  const userId = listed.members[1]?.userId ?? '';
  expect(await app.getUserIDByEmail({ email })).toMatchObject({ userId });
  expect((await app.listOrganizationsByUser({ userId })).orgs).toMatchObject([{ orgId: organizationId }]);

  await app.deleteOrganizationMember({ organizationId, userId });
  expect((await people.json('/api/whoami', session)).body).toMatchObject({ roles: [] });
  await expect(app.getUserIDByEmail({ email })).rejects.toMatchObject({ code: 'not_found' });
});

test('without authorizations an invitation makes an owner; a second one for the same address is refused', async () => {
  const people = await startPeople();
  const { organizationId } = people;
  const app = people.app(await people.keyWith(owner(people)));
  const { invite } = await app.createOrganizationInvite({ organizationId, email });
  expect(invite?.authorizations).toMatchObject([{ authorizationId: 'organization_owner', resourceId: organizationId }]);
  await expect(app.createOrganizationInvite({ organizationId, email: 'GRACE@example.com' })).rejects.toMatchObject({
    code: 'already_exists',
  });
});

test('a link works once; it stops after a newer link, after its invitation is deleted, and after 7 days', async () => {
  const people = await startPeople();
  const { organizationId } = people;
  const token = await people.keyWith(owner(people));
  const app = people.app(token);
  await app.createOrganizationInvite({ organizationId, email });
  const first = await linkOf(people, token);
  const second = await linkOf(people, token);
  const statusOf = async (link: string): Promise<number> => (await people.browser().open(link)).status;
  expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200]);
  await app.resendOrganizationInvite({ organizationId, email });
  expect(await statusOf(second)).toBe(401);
  const third = await linkOf(people, token);
  await people.clock.leap(7 * 86_400_000);
  expect(await statusOf(third)).toBe(401);
  await app.createOrganizationInvite({ organizationId, email });
  const fourth = await linkOf(people, token);
  await app.deleteOrganizationInvite({ organizationId, email });
  expect(await statusOf(fourth)).toBe(401);
  await expect(app.deleteOrganizationInvite({ organizationId, email })).rejects.toMatchObject({ code: 'not_found' });
});

test('a person with an account joins with their password or signed in; another signed-in person cannot', async () => {
  const people = await startPeople();
  const { organizationId } = people;
  const token = await people.keyWith(owner(people));
  const app = people.app(token);
  await people.personWith(email, password);
  await people.personWith('eve@example.com', password);
  await app.createOrganizationInvite({ organizationId, email });
  const link = await linkOf(people, token);

  const eve = people.browser();
  await eve.open('/sign-in');
  await eve.submit('/sign-in', { email: 'eve@example.com', password });
  await eve.open(link);
  await eve.submit('/invitations/accept', { password: 'a guess of eve' });
  expect(eve.page.status).toBe(401);

  const grace = people.browser();
  await grace.open('/sign-in');
  await grace.submit('/sign-in', { email, password });
  await grace.open(link);
  await grace.submit('/invitations/accept');
  expect(grace.page.url.pathname).toBe('/');
  expect((await app.listOrganizationMembers({ organizationId })).members.at(-1)?.emails).toEqual([email]);
  await expect(app.createOrganizationInvite({ organizationId, email })).rejects.toMatchObject({
    code: 'already_exists',
  });
});

test('R7 only an owner of the targets of its roles creates, changes or shows an invitation', async () => {
  const people = await startPeople();
  const { organizationId, locationId } = people;
  const operator = people.app(await people.keyWith({ ...owner(people), role: 'operator' }));
  const keeperToken = await people.keyWith({ ...owner(people), locationId });
  const keeper = people.app(keeperToken);
  const stranger = people.app(await people.keyWith());
  const forLocation = { authorizationId: 'location_owner', resourceId: locationId };
  const denied = { code: 'permission_denied' };
  const unknown = { code: 'not_found' };
  await expect(operator.createOrganizationInvite({ organizationId, email })).rejects.toMatchObject(denied);
  await expect(keeper.createOrganizationInvite({ organizationId, email })).rejects.toMatchObject(denied);
  await expect(stranger.createOrganizationInvite({ organizationId, email })).rejects.toMatchObject(unknown);
  const authorizations = [forLocation];
  await expect(operator.createOrganizationInvite({ organizationId, email, authorizations })).rejects.toMatchObject(
    denied,
  );
  await people.personWith('eve@example.com', password, owner(people));
  await keeper.createOrganizationInvite({ organizationId, email: 'eve@example.com', authorizations });
  await keeper.createOrganizationInvite({ organizationId, email, authorizations });
  await expect(operator.deleteOrganizationInvite({ organizationId, email })).rejects.toMatchObject(denied);
  await expect(stranger.resendOrganizationInvite({ organizationId, email })).rejects.toMatchObject(unknown);
  const addAuthorizations = [{ authorizationId: 'organization_owner', resourceId: organizationId }];
  await expect(
    keeper.updateOrganizationInviteAuthorizations({ organizationId, email, addAuthorizations }),
  ).rejects.toMatchObject(denied);

  const app = people.app(await people.keyWith(owner(people)));
  const { invite } = await app.updateOrganizationInviteAuthorizations({
    organizationId,
    email,
    addAuthorizations,
    removeAuthorizations: authorizations,
  });
  expect(invite?.authorizations.map((one) => one.authorizationId)).toEqual(['organization_owner']);
  // The caller may no longer change it, and gets the same answer for addresses that are not invited.
  for (const address of [email, 'nobody@example.com'])
    await expect(keeper.deleteOrganizationInvite({ organizationId, email: address })).rejects.toMatchObject({
      ...denied,
      message: expect.not.stringContaining(address),
    });
  const shown = await people.json('/api/invitations/link', keeperToken, { organizationId, email });
  expect(shown).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
  const removeAuthorizations = addAuthorizations;
  await expect(
    app.updateOrganizationInviteAuthorizations({ organizationId, email, removeAuthorizations }),
  ).rejects.toMatchObject({ code: 'failed_precondition' });
});

test('R7 the last owner cannot be removed; R12 people are visible to themselves and to owners of their organizations', async () => {
  const people = await startPeople();
  const { organizationId, db } = people;
  const browser = people.browser();
  await browser.open(await people.ownerLink());
  await browser.submit('/sign-in');
  const session = browser.token ?? '';
  const owned = people.app(session);
  const [first] = (await owned.listOrganizationMembers({ organizationId })).members;
  await db.deleteFrom('grants').where('identity_type', '=', 'api-key').execute();
  const userId = first?.userId ?? '';
  await expect(owned.deleteOrganizationMember({ organizationId, userId })).rejects.toMatchObject({
    code: 'failed_precondition',
  });
  const strangerId = await people.personWith('eve@example.com', password);
  const operator = people.app(await people.keyWith({ ...owner(people), role: 'operator' }));
  for (const app of [owned, operator]) {
    await expect(app.getUserIDByEmail({ email: 'eve@example.com' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(app.listOrganizationsByUser({ userId: strangerId })).rejects.toMatchObject({ code: 'not_found' });
  }
  await expect(operator.listOrganizationsByUser({ userId })).rejects.toMatchObject({ code: 'not_found' });
  expect((await owned.listOrganizationsByUser({ userId })).orgs).toHaveLength(1);
});

test('R7 a key may be the last owner: the audit trail then records that no person remains', async () => {
  const people = await startPeople();
  const { organizationId, db } = people;
  const app = people.app(await people.keyWith(owner(people)));
  const [first] = (await app.listOrganizationMembers({ organizationId })).members;
  const eve = await people.personWith('eve@example.com', password, owner(people));
  for (const userId of [eve, first?.userId ?? '']) await app.deleteOrganizationMember({ organizationId, userId });
  const entries = await db
    .selectFrom('audit_entries')
    .select('detail')
    .where('action', '=', 'AppService.DeleteOrganizationMember')
    .orderBy('id')
    .execute();
  expect(entries.map(({ detail }) => JSON.parse(detail))).toEqual([{}, { owners_left: 'only API keys, no person' }]);
});

test('with a mail server, the link is mailed after the commit, retried while it is busy, and never stored in plaintext', async () => {
  await using sink = await startSmtpSink();
  const people = await startPeople({ smtpUrl: sink.url });
  const { organizationId } = people;
  const app = people.app(await people.keyWith(owner(people)));
  sink.refuseWith(451);
  await app.createOrganizationInvite({ organizationId, email });
  while (sink.refused === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const waiting = await people.db.selectFrom('outbox_messages').selectAll().execute();
  expect(Buffer.from(waiting[0]?.sealed ?? []).toString('latin1')).not.toContain('token');
  expect(Buffer.from(waiting[0]?.sealed ?? [])).not.toHaveLength(0);
  sink.refuseWith(undefined);
  while (sink.mails.length === 0) {
    await people.clock.advance(10_000);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const [mail] = sink.mails;
  expect(mail).toMatchObject({ to: [email], from: 'cloud@example.com' });
  const link = /http:\S+/.exec(mail?.text ?? '')?.[0] ?? '';
  const browser = people.browser();
  await browser.open(link.slice(people.url.length));
  await browser.submit('/invitations/accept', { name: 'Grace', password });
  const person = await people.db.selectFrom('people').selectAll().where('email', '=', email).executeTakeFirst();
  expect(person?.email_verified).toBe(1);
  expect(people.logged.join()).not.toContain('token=');

  await app.createOrganizationInvite({ organizationId, email: 'quiet@example.com', sendEmailInvite: false });
  expect(sink.mails).toHaveLength(1);
});

test('the receiver of a mailed invitation takes over an account with an unproven address; a mailed link is never shown', async () => {
  await using sink = await startSmtpSink();
  const people = await startPeople({ smtpUrl: sink.url });
  const { organizationId, db } = people;
  const squatterId = await people.personWith(email, 'the squatter knows this');
  await db.updateTable('people').set({ email_verified: 0 }).where('id', '=', squatterId).execute();
  const squatter = people.browser();
  await squatter.open('/sign-in');
  await squatter.submit('/sign-in', { email, password: 'the squatter knows this' });

  const key = await people.keyWith(owner(people));
  await people.app(key).createOrganizationInvite({ organizationId, email });
  const shown = await people.json('/api/invitations/link', key, { organizationId, email });
  expect(shown.body).toMatchObject({ code: 'failed_precondition' });
  const [mail] = await sink.waitFor(1);
  const browser = people.browser();
  await browser.open((/http:\S+/.exec(mail?.text ?? '')?.[0] ?? '').slice(people.url.length));
  expect(browser.page.body).toContain('Choose a password');
  await browser.submit('/invitations/accept', { name: 'Grace', password });
  expect(browser.page.status).toBe(200);

  expect((await squatter.open('/account')).url.pathname).toBe('/sign-in');
  for (const [known, status] of [
    ['the squatter knows this', 401],
    [password, 200],
  ] as const) {
    const again = people.browser();
    await again.open('/sign-in');
    await again.submit('/sign-in', { email, password: known });
    expect(again.page.status).toBe(status);
  }
});

test('a forgotten password is reset through a mailed link, once; the answer does not reveal who has an account', async () => {
  await using sink = await startSmtpSink();
  const people = await startPeople({ smtpUrl: sink.url });
  await people.personWith(email, password);
  const shown: string[] = [];
  for (const address of ['nobody@example.com', email]) {
    const browser = people.browser();
    await browser.open('/sign-in');
    await browser.submit('/sign-in/link', { email: address });
    expect(browser.page.status).toBe(200);
    shown.push(browser.page.body);
  }
  expect(shown[0]).toBe(shown[1]);
  const [mail] = await sink.waitFor(1);
  expect(mail?.to).toEqual([email]);
  const link = (/http:\S+/.exec(mail?.text ?? '')?.[0] ?? '').slice(people.url.length);
  const browser = people.browser();
  await browser.open(link);
  await browser.submit('/sign-in/reset', { password: 'short' });
  expect(browser.page.status).toBe(400);
  await browser.submit('/sign-in/reset', { password: 'another horse battery' });
  expect(browser.page.url.pathname).toBe('/');
  expect((await people.browser().open(link)).status).toBe(401);
  const again = people.browser();
  await again.open('/sign-in');
  await again.submit('/sign-in', { email, password: 'another horse battery' });
  expect(again.page.status).toBe(200);
});
