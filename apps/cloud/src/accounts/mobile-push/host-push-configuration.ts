/** The host administrator's credentials for the platform's own mobile app, sealed: they serve every organization of the installation. */
import { notFound } from '@platform/base';
import { audit, type OwnActor } from '../../access/audit.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import { checkedPushCredentials } from './checked-push-credentials.ts';

type HostDeps = Pick<AccountsDeps, 'db' | 'instanceKey' | 'clock'>;

/** There is one row. */
const id = 1;

/** @param credentials JSON of a service account. @throws invalid_argument */
export async function setHostPushCredentials(
  { db, instanceKey, clock }: HostDeps,
  by: OwnActor,
  credentials: string,
): Promise<void> {
  const columns = { credentials: instanceKey.encrypt(checkedPushCredentials(credentials)), set_ms: clock.now() };
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('host_push_credentials')
      .values({ id, ...columns })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(columns))
      .execute();
    await audit(trx, by, clock.now(), 'admin.push-config.set', ['installation', '', null], {});
  });
}

/** When the credentials were set, ms; undefined: there are none. */
export async function hostPushCredentialsSetAt({ db }: Pick<HostDeps, 'db'>): Promise<number | undefined> {
  const row = await db.selectFrom('host_push_credentials').select('set_ms').executeTakeFirst();
  return row?.set_ms;
}

/** For the sender of notifications: undefined if there are none. */
export async function readHostPushCredentials({
  db,
  instanceKey,
}: Pick<HostDeps, 'db' | 'instanceKey'>): Promise<string | undefined> {
  const row = await db.selectFrom('host_push_credentials').select('credentials').executeTakeFirst();
  return row && instanceKey.decrypt(row.credentials);
}

/** @throws not_found if there are none */
export async function deleteHostPushCredentials(
  { db, clock }: Pick<HostDeps, 'db' | 'clock'>,
  by: OwnActor,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const gone = await trx.deleteFrom('host_push_credentials').returning('id').executeTakeFirst();
    if (gone === undefined) throw notFound('this installation has no credentials for push notifications');
    await audit(trx, by, clock.now(), 'admin.push-config.unset', ['installation', '', null], {});
  });
}
