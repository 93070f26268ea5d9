import { systemClock } from '@platform/base';
import { expect, test } from 'vitest';
import { intactPlaces } from '../accounts/intact-places.ts';
import { openFirstAccount } from '../accounts/testing/open-first-account.ts';
import { createFirstAccount } from '../identity/create-first-account.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { RowWatch } from '../metadata/row-checks/row-watch.ts';
import type { Database } from '../metadata/tables.ts';
import { issueToken } from './access-token.ts';
import { type Authenticator, createAuthenticator } from './authenticate.ts';
import { createGuessLimit } from './guess-limit.ts';
import { readOwnerKey } from './keys.ts';
import { noSessions, noShares } from './testing/no-sessions.ts';

interface Given {
  readonly db: Database;
  readonly rows: RowWatch;
  alterRows(statement: string): Promise<void>;
  readonly instanceKey: InstanceKey;
  readonly authenticator: Authenticator;
  readonly owner: { id: string; key: string };
  /** Advances the clock past the time for which a principal is cached. */
  later(): void;
}

async function given(): Promise<Given> {
  const { db, rows, alterRows, instanceKey, organizationId } = await openFirstAccount();
  let shiftMs = 0;
  const clock = { ...systemClock, monotonic: () => performance.now() + shiftMs };
  const partSecrets = { check: async () => undefined, isCurrent: async () => false, deletedPlace: () => undefined };
  return {
    ...{ db, rows, alterRows },
    instanceKey,
    authenticator: createAuthenticator({
      rows,
      requirePlaces: intactPlaces(rows),
      db,
      instanceKey,
      partSecrets,
      sessions: noSessions,
      shares: noShares,
      guesses: createGuessLimit(clock),
      clock,
      keyUsed: () => {},
    }),
    owner: await readOwnerKey(db, instanceKey, organizationId),
    later: () => {
      shiftMs += 5_000;
    },
  };
}

const bearer = (token: string): Headers => new Headers({ authorization: `Bearer ${token}` });

test('D30 the first start creates one organization with an owner key; a second start creates nothing', async () => {
  const { db, instanceKey, authenticator, owner } = await given();
  await createFirstAccount(db, instanceKey, 2);
  expect(await db.selectFrom('organizations').select('id').execute()).toHaveLength(1);
  const principal = await authenticator.principalOf(
    bearer(await authenticator.signIn({ entity: owner.id, type: 'api-key', payload: owner.key }, '127.0.0.1:9')),
  );
  expect(principal).toMatchObject({ kind: 'key', keyId: owner.id, grants: [{ role: 'owner', locationId: null }] });
});

test('D5 a token stops within 5 s of the revocation of its key', async () => {
  const { db, authenticator, owner, later } = await given();
  const token = await authenticator.signIn({ entity: owner.id, type: 'api-key', payload: owner.key }, '127.0.0.1:9');
  await authenticator.principalOf(bearer(token));
  await db.updateTable('api_keys').set({ revoked_ms: 5 }).execute();
  later();
  await expect(authenticator.principalOf(bearer(token))).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('a token that ended says what its bearer can do: only people sign in again', async () => {
  const { instanceKey, authenticator } = await given();
  const refusalOf = async (kind: 'key' | 'part' | 'session'): Promise<string> =>
    authenticator.principalOf(bearer(issueToken(instanceKey, { kind, id: 'gone', epoch: 1 }))).then(
      () => 'accepted',
      (caught: Error) => caught.message,
    );
  expect(await refusalOf('session')).toContain('sign in again');
  expect(await refusalOf('key')).toMatch(/^authorization: the API key .*use another key$/);
  expect(await refusalOf('part')).toMatch(/the machine was deleted, or its secret was rotated out$/);
});

test('D5 a token signed by another instance key, or with changed claims, is refused', async () => {
  const { instanceKey, authenticator, owner } = await given();
  const good = issueToken(instanceKey, { kind: 'key', id: owner.id, epoch: 1 });
  const [version, , signature] = good.split('.');
  const forged = `${version}.${Buffer.from(JSON.stringify(['key', owner.id, 2])).toString('base64url')}.${signature}`;
  await expect(authenticator.principalOf(bearer(forged))).rejects.toThrow(
    /expected a token that Authenticate of this installation returned/,
  );
  await expect(authenticator.principalOf(bearer(good))).resolves.toMatchObject({ keyId: owner.id });
});

test('a wrong key, an unknown id, an unknown credential type and a missing header are each refused with what was expected', async () => {
  const { authenticator, owner } = await given();
  await expect(
    authenticator.signIn({ entity: owner.id, type: 'api-key', payload: 'wrong' }, '127.0.0.1:9'),
  ).rejects.toMatchObject({
    code: 'permission_denied',
  });
  await expect(
    authenticator.signIn({ entity: 'nobody', type: 'api-key', payload: owner.key }, '127.0.0.1:9'),
  ).rejects.toMatchObject({
    code: 'permission_denied',
  });
  await expect(
    authenticator.signIn({ entity: owner.id, type: 'password', payload: 'x' }, '127.0.0.1:9'),
  ).rejects.toThrow(/expected type "api-key", "robot-secret" or "access-token", found "password"/);
  await expect(authenticator.principalOf(new Headers())).rejects.toThrow(
    /expected "Bearer <token>", found no such header/,
  );
});

test('D6 stored secrets are sealed: the table does not contain a key in clear', async () => {
  const { db, owner } = await given();
  const row = await db.selectFrom('api_keys').selectAll().executeTakeFirstOrThrow();
  expect(Buffer.from(row.secret).includes(owner.key)).toBe(false);
  expect(Buffer.from(row.secret_hash).includes(owner.key)).toBe(false);
});

const other = "insert into organizations (id, name, created_ms, webhook_secret) values ('other', 'other', 1, '')";
const alterations: Readonly<Record<string, (keyId: string) => string>> = {
  'a role that is deleted': () => 'delete from grants',
  'a role that is moved to another organization': () => `${other}; update grants set organization_id = 'other'`,
  'a role that is lowered': () => "update grants set role = 'operator'",
  'a role that is added': (keyId) =>
    `${other}; insert into grants (identity_id, identity_type, role, organization_id) values ('${keyId}', 'api-key', 'owner', 'other')`,
  'a key that is deleted': () => 'delete from api_keys',
  'a key that is renamed': () => "update api_keys set name = 'another'",
  'a location that is moved to another organization': () => `${other}; update locations set organization_id = 'other'`,
  'a share that is added': () =>
    'insert into location_shares (location_id, organization_id, created_ms) select locations.id, organizations.id, 1 from locations cross join organizations',
};

for (const [what, sql] of Object.entries(alterations))
  test(`D33 ${what} in the database itself is DATA_LOSS for the caller, and is named`, async () => {
    const { rows, alterRows, authenticator, owner, later } = await given();
    const token = await authenticator.signIn({ entity: owner.id, type: 'api-key', payload: owner.key }, '127.0.0.1:9');
    expect(await authenticator.principalOf(bearer(token))).toMatchObject({ grants: [{ role: 'owner' }] });
    expect(await rows.look()).toEqual([]);
    await alterRows(sql(owner.id));
    later();
    await expect(authenticator.principalOf(bearer(token))).rejects.toMatchObject({ code: 'data_loss' });
    if (what.startsWith('a key'))
      await expect(
        authenticator.signIn({ entity: owner.id, type: 'api-key', payload: owner.key }, '127.0.0.1:9'),
      ).rejects.toMatchObject({ code: 'data_loss' });
    expect((await rows.look()).join('; ')).toMatch(/grants|api_keys|locations|location_shares/);
  });
