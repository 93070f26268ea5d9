/** An organization's credentials for the push provider, sealed: one set for one app (ADR-0012). */
import { notFound } from '@platform/base';
import { audit, type Caller } from '../../access/audit.ts';
import { notVisible } from '../../access/principal.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import { checkedAppId } from './checked-app-id.ts';
import { checkedPushCredentials } from './checked-push-credentials.ts';

type PushDeps = Pick<AccountsDeps, 'db' | 'instanceKey' | 'clock'>;

/** What is needed to send push notifications. */
export interface PushConfiguration {
  readonly appId: string;
  /** JSON of a service account; secret. */
  readonly credentials: string;
}

/** Replaces an earlier configuration, even one of another app. The caller must own the organization. @throws invalid_argument */
export async function setPushConfiguration(
  { db, instanceKey, clock }: PushDeps,
  by: Caller,
  organizationId: string,
  configuration: PushConfiguration,
): Promise<void> {
  const app_id = checkedAppId(configuration.appId);
  const credentials = instanceKey.encrypt(checkedPushCredentials(configuration.credentials));
  const columns = { app_id, credentials, set_ms: clock.now() };
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('push_configurations')
      .values({ organization_id: organizationId, ...columns })
      .onConflict((conflict) => conflict.column('organization_id').doUpdateSet(columns))
      .execute();
    const target = ['organization', organizationId, organizationId] as const;
    await audit(trx, by, clock.now(), 'AppService.SetFirebaseConfig', target, { app_id });
  });
}

/** The app to which an organization's credentials belong. @throws not_found if none are set */
export async function appOfPushConfiguration(
  { db }: Pick<AccountsDeps, 'db'>,
  organizationId: string,
): Promise<string> {
  const row = await db
    .selectFrom('push_configurations')
    .select('app_id')
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  if (row !== undefined) return row.app_id;
  const text = 'this organization has no credentials for push notifications; SetFirebaseConfig sets them';
  throw notFound(text);
}

/** For the sender of notifications: undefined if no credentials are set. */
export async function readPushConfiguration(
  { db, instanceKey }: Pick<AccountsDeps, 'db' | 'instanceKey'>,
  organizationId: string,
): Promise<PushConfiguration | undefined> {
  const row = await db
    .selectFrom('push_configurations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  return row && { appId: row.app_id, credentials: instanceKey.decrypt(row.credentials) };
}

/** The caller must own the organization. @throws not_found if none are set for that app */
export async function deletePushConfiguration(
  { db, clock }: PushDeps,
  by: Caller,
  organizationId: string,
  appId: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .deleteFrom('push_configurations')
      .where('organization_id', '=', organizationId)
      .where('app_id', '=', appId)
      .returning('app_id')
      .executeTakeFirstOrThrow(() => notVisible('push configuration', appId));
    const target = ['organization', organizationId, organizationId] as const;
    await audit(trx, by, clock.now(), 'AppService.DeleteFirebaseConfig', target, { app_id: appId });
  });
}
