import { create, toJsonString } from '@bufbuild/protobuf';
import { AllowedLoginMethodsSchema, LoginMethod } from '@platform/proto/platform/app/v1/app';
import { expect, test } from 'vitest';
import { addGrant } from '../../access/grants.ts';
import { insertOrganization } from '../../accounts/insert-account-rows.ts';
import type { IdentityOperationDeps } from '../identity-deps.ts';
import { acceptAsNewPerson } from '../invitations/accept-invitation.ts';
import { insertInvitation } from '../invitations/stored-invitations.ts';
import { type People, startPeople } from '../testing/start-people.ts';
import { createLink } from './links.ts';
import { signInWithPassword } from './sign-in-with-password.ts';
import { resetPassword, signInWithLink } from './use-link.ts';

const password = 'correct horse battery';
const from = '127.0.0.1:5';
const email = 'ada@example.com';

async function allow({ tree, organizationId }: People, ...methods: LoginMethod[]): Promise<void> {
  const text = toJsonString(AllowedLoginMethodsSchema, create(AllowedLoginMethodsSchema, { methods }));
  await tree.change(async (trx, changed) => {
    const set = trx.updateTable('organizations').set({ login_methods: text }).where('id', '=', organizationId);
    changed.organization(await set.returningAll().executeTakeFirstOrThrow());
  });
}

async function given(): Promise<People & { deps: IdentityOperationDeps; personId: string }> {
  const people = await startPeople();
  const deps = { ...people.identity.deps, openIdIssuer: 'https://provider.example' };
  const personId = await people.personWith(email, password);
  const owner = { role: 'owner', organizationId: people.organizationId, locationId: null, robotId: null } as const;
  await addGrant(people.db, { type: 'person', id: personId }, owner);
  return { ...people, deps, personId };
}

test('D30 a person in an organization that forbids passwords cannot use one, and is told the alternative', async () => {
  const people = await given();
  const { deps, db, clock, organizationId, personId } = people;
  await allow(people, LoginMethod.GOOGLE);
  const refusal = {
    code: 'permission_denied',
    message: expect.stringMatching(/does not allow; sign in with OpenID Connect \(https:\/\/provider/),
  };
  await expect(signInWithPassword(deps, { email, password }, from)).rejects.toMatchObject(refusal);
  const reset = await createLink(db, clock, { purpose: 'reset', personId });
  const other = 'another horse battery';
  await expect(resetPassword(deps, { token: reset, password: other }, from)).rejects.toMatchObject(refusal);
  const grants = [{ role: 'operator' as const, organizationId, locationId: null, robotId: null }];
  const invited = { organizationId, email: 'grace@example.com', grants, mailed: false, invitedBy: '' };
  const token = await insertInvitation(db, clock, invited);
  await expect(acceptAsNewPerson(deps, { token, name: 'Grace', password }, from)).rejects.toMatchObject(refusal);
  expect(await db.selectFrom('people').select('id').where('email', '=', invited.email).execute()).toEqual([]);
  expect(await db.selectFrom('sessions').select('id').execute()).toEqual([]);
  // A wrong password does not reveal the policy.
  await expect(signInWithPassword(deps, { email, password: other }, from)).rejects.toMatchObject({
    code: 'unauthenticated',
  });
});

test('D30 a person cannot undo the policy of an organization by creating another one', async () => {
  const people = await given();
  const { deps, db, instanceKey, clock, personId, tree } = people;
  await allow(people, LoginMethod.GOOGLE);
  await tree.change(async (trx, changed) => {
    const own = await insertOrganization(trx, instanceKey, 'Her own', clock.now());
    changed.organization(own);
    const owner = { role: 'owner', organizationId: own.id, locationId: null, robotId: null } as const;
    await addGrant(trx, { type: 'person', id: personId }, owner);
  });
  const signIn = (): Promise<unknown> => signInWithPassword(deps, { email, password }, from);
  await expect(signIn()).rejects.toMatchObject({
    code: 'permission_denied',
    message: expect.not.stringContaining('Her own'),
  });
  // A person without another way is not locked out: the host administrator's link is not a password.
  const token = await createLink(db, clock, { purpose: 'sign-in', personId });
  await signInWithLink(deps, token, from);
  await allow(people, LoginMethod.GOOGLE, LoginMethod.PASSWORD);
  await signIn();
});

test('D30 an installation without any other way to sign in allows passwords', async () => {
  const people = await given();
  await allow(people, LoginMethod.GOOGLE);
  await signInWithPassword({ ...people.deps, openIdIssuer: undefined }, { email, password }, from);
});
