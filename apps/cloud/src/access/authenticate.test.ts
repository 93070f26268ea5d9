import { systemClock } from '@platform/base';
import { expect, test } from 'vitest';
import { openFirstAccount } from '../accounts/testing/open-first-account.ts';
import { createFirstAccount } from '../identity/create-first-account.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Database } from '../metadata/tables.ts';
import { issueToken } from './access-token.ts';
import { type Authenticator, createAuthenticator } from './authenticate.ts';
import { createGuessLimit } from './guess-limit.ts';
import { readOwnerKey } from './keys.ts';
import { noSessions, noShares } from './testing/no-sessions.ts';

interface Given {
  readonly db: Database;
  readonly instanceKey: InstanceKey;
  readonly authenticator: Authenticator;
  readonly owner: { id: string; key: string };
  /** Advances the clock past the time for which a principal is cached. */
  later(): void;
}

async function given(): Promise<Given> {
  const { db, instanceKey, organizationId } = await openFirstAccount();
  let shiftMs = 0;
  const clock = { ...systemClock, monotonic: () => performance.now() + shiftMs };
  const partSecrets = { check: async () => undefined, isCurrent: async () => false };
  return {
    db,
    instanceKey,
    authenticator: createAuthenticator({
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
