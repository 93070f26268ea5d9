/** Stored people: expiry, simultaneous use, and newer password hashes. */
import { argon2Sync } from 'node:crypto';
import { expect, test } from 'vitest';
import { acceptAsNewPerson } from './invitations/accept-invitation.ts';
import { insertInvitation } from './invitations/stored-invitations.ts';
import { pruneExpired } from './prune-expired.ts';
import { createLink } from './sign-in/links.ts';
import { signInWithPassword } from './sign-in/sign-in-with-password.ts';
import { startPeople } from './testing/start-people.ts';

const password = 'correct horse battery';
const from = '127.0.0.1:5';

test('expired rows are deleted, and so is what a deleted organization leaves behind', async () => {
  const people = await startPeople();
  const { db, clock, organizationId, identity } = people;
  const { deps } = identity;
  const personId = await people.personWith('ada@example.com', password);
  await signInWithPassword(deps, { email: 'ada@example.com', password }, from);
  await createLink(db, clock, { purpose: 'reset', personId });
  const grants = [{ role: 'owner' as const, organizationId, locationId: null, robotId: null }];
  for (const id of [organizationId, 'gone'])
    await insertInvitation(db, clock, {
      organizationId: id,
      email: 'x@y.example',
      grants,
      mailed: false,
      invitedBy: '',
    });
  const counts = async (): Promise<number[]> =>
    Promise.all(
      (['sessions', 'one_time_links', 'invitations'] as const).map(
        async (table) => (await db.selectFrom(table).select('created_ms').execute()).length,
      ),
    );
  await pruneExpired(deps);
  expect(await counts()).toEqual([1, 1, 1]);
  await clock.leap(7 * 86_400_000);
  await pruneExpired(deps);
  expect(await counts()).toEqual([0, 0, 0]);
});

test('a link that is used twice at the same time signs in one person', async () => {
  const people = await startPeople();
  const { db, clock, organizationId, identity } = people;
  const grants = [{ role: 'owner' as const, organizationId, locationId: null, robotId: null }];
  const email = 'grace@example.com';
  const token = await insertInvitation(db, clock, { organizationId, email, grants, mailed: false, invitedBy: '' });
  const outcomes = await Promise.allSettled(
    [1, 2, 3].map((at) => acceptAsNewPerson(identity.deps, { token, name: `Grace ${at}`, password }, from)),
  );
  expect(outcomes.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
  expect(await db.selectFrom('people').select('id').where('email', '=', email).execute()).toHaveLength(1);
  expect(await db.selectFrom('sessions').select('id').execute()).toHaveLength(1);
});

test('a password hashed with older parameters is rehashed with the current ones when it is used', async () => {
  const people = await startPeople();
  const { db, identity } = people;
  const personId = await people.personWith('ada@example.com', password);
  const nonce = Buffer.alloc(16, 7);
  const tag = argon2Sync('argon2id', {
    message: password,
    nonce,
    parallelism: 1,
    tagLength: 32,
    memory: 64,
    passes: 1,
  });
  const text = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
  await db
    .updateTable('passwords')
    .set({ hash: `$argon2id$v=19$m=64,t=1,p=1$${text(nonce)}$${text(tag)}` })
    .where('person_id', '=', personId)
    .execute();
  await signInWithPassword(identity.deps, { email: 'ada@example.com', password }, from);
  const { hash } = await db.selectFrom('passwords').select('hash').executeTakeFirstOrThrow();
  expect(hash).toContain('$m=19456,t=2,p=1$');
  await signInWithPassword(identity.deps, { email: 'ada@example.com', password }, from);
});

test('roles on deleted objects are omitted; an invitation without any others is refused', async () => {
  const people = await startPeople();
  const { db, clock, organizationId, locationId, identity } = people;
  const gone = { role: 'owner' as const, organizationId, locationId: 'gone', robotId: null };
  const left = { role: 'operator' as const, organizationId, locationId, robotId: null };
  const invite = (email: string, grants: (typeof gone | typeof left)[]): Promise<string> =>
    insertInvitation(db, clock, { organizationId, email, grants, mailed: false, invitedBy: '' });
  const both = await invite('a@x.example', [gone, left]);
  await acceptAsNewPerson(identity.deps, { token: both, name: 'A', password }, from);
  const { id } = await db
    .selectFrom('people')
    .select('id')
    .where('email', '=', 'a@x.example')
    .executeTakeFirstOrThrow();
  const held = await db.selectFrom('grants').select('location_id').where('identity_id', '=', id).execute();
  expect(held).toEqual([{ location_id: locationId }]);
  const none = await invite('b@x.example', [gone]);
  await expect(acceptAsNewPerson(identity.deps, { token: none, name: 'B', password }, from)).rejects.toMatchObject({
    code: 'failed_precondition',
  });
  expect(await db.selectFrom('people').select('id').where('email', '=', 'b@x.example').execute()).toEqual([]);
});
