/** Limits of invitation mails, and how names appear in them. Uses a real port, database and mail server. */
import { startSmtpSink } from '@platform/testkit';
import { expect, test } from 'vitest';
import { pruneExpired } from '../prune-expired.ts';
import { type People, startPeople } from '../testing/start-people.ts';
import { plainName } from './invitation-mail.ts';

const email = 'grace@example.com';

async function ownerApp(people: People): Promise<ReturnType<People['app']>> {
  const { organizationId } = people;
  return people.app(await people.keyWith({ role: 'owner', organizationId, locationId: null, robotId: null }));
}

async function queued(people: People): Promise<number> {
  const rows = await people.db.selectFrom('invitation_mails').select('id').execute();
  return rows.length;
}

test('an address is mailed once in 10 minutes, even if the invitation is recreated; the answer states when again', async () => {
  await using sink = await startSmtpSink();
  const people = await startPeople({ smtpUrl: sink.url });
  const { organizationId, clock } = people;
  const app = await ownerApp(people);
  await app.createOrganizationInvite({ organizationId, email });
  const again = new Date(clock.now() + 600_000).toISOString();
  const refusal = { code: 'resource_exhausted', message: expect.stringContaining(`again at ${again}`) };
  await expect(app.resendOrganizationInvite({ organizationId, email })).rejects.toMatchObject(refusal);
  // Changes that send no mail are not limited.
  await app.resendOrganizationInvite({ organizationId, email, sendEmailInvite: false });
  await app.deleteOrganizationInvite({ organizationId, email });
  await expect(app.createOrganizationInvite({ organizationId, email })).rejects.toMatchObject(refusal);
  expect((await app.listOrganizationMembers({ organizationId })).invites).toEqual([]);
  await app.createOrganizationInvite({ organizationId, email: 'other@example.com' });
  await clock.leap(600_000);
  await app.createOrganizationInvite({ organizationId, email });
  expect((await sink.waitFor(3)).map((mail) => mail.to[0])).toEqual([email, 'other@example.com', email]);
});

test('an organization mails at most as many invitations in 24 hours as the host administrator allows', async () => {
  await using sink = await startSmtpSink();
  const people = await startPeople({ smtpUrl: sink.url, invitationMailsPerDay: 2 });
  const { organizationId, clock } = people;
  const app = await ownerApp(people);
  const invite = (name: string): Promise<unknown> =>
    app.createOrganizationInvite({ organizationId, email: `${name}@example.com` });
  await invite('a');
  await clock.leap(3_600_000);
  await invite('b');
  const free = new Date(clock.now() + 23 * 3_600_000).toISOString();
  await expect(invite('c')).rejects.toMatchObject({
    code: 'resource_exhausted',
    message: expect.stringMatching(new RegExp(`at most 2 mails.*sent at ${free}.*invitation-mails-per-day`)),
  });
  await clock.leap(23 * 3_600_000);
  await invite('c');
  await pruneExpired(people.identity.deps);
  expect(await queued(people)).toBe(2);
});

test('an organization without a mail allowance can still invite, without a mail', async () => {
  await using sink = await startSmtpSink();
  const people = await startPeople({ smtpUrl: sink.url, invitationMailsPerDay: 0 });
  const app = await ownerApp(people);
  const { organizationId } = people;
  await expect(app.createOrganizationInvite({ organizationId, email })).rejects.toMatchObject({
    code: 'resource_exhausted',
  });
  await app.createOrganizationInvite({ organizationId, email, sendEmailInvite: false });
});

test('an address gets at most 100 invitations in 24 hours from all organizations together', async () => {
  await using sink = await startSmtpSink();
  const people = await startPeople({ smtpUrl: sink.url });
  const { organizationId, db, clock } = people;
  for (let at = 0; at < 100; at++)
    await db
      .insertInto('invitation_mails')
      .values({ organization_id: `organization-${at}`, recipient: email, sent_by: '', sent_ms: clock.now() - at })
      .execute();
  await expect((await ownerApp(people)).createOrganizationInvite({ organizationId, email })).rejects.toMatchObject({
    code: 'resource_exhausted',
    message: expect.stringContaining(`at most 100 mails for ${email}`),
  });
});

test.each([
  ['Acme & Söhne-Werke', 'Acme & Söhne-Werke'],
  ['Your account is locked: https://evil.example/x', 'Your account is locked https evil exampl…'],
  ['a@b.example <b>"\u202e\u200b', 'a b example b'],
  ['工場 東京', '工場 東京'],
  ['🏭', ''],
])('a mail shows the name %j as %j', (name, told) => {
  expect(plainName(name)).toBe(told);
});
