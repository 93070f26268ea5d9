/** Push tokens of a person's devices: one for each app and device. */
import { invalidArgument } from '@platform/base';
import { audit, type Caller } from '../../access/audit.ts';
import { notVisible } from '../../access/principal.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import { checkedAppId } from './checked-app-id.ts';

/** Per person. Beyond this, the oldest is deleted, because people do not unregister phones they have replaced. */
const maxDevices = 50;
const maxTokenLength = 4_096;

type TokenDeps = Pick<AccountsDeps, 'db' | 'clock'>;

/** Sets the token of a device. A person who was signed in there before no longer gets its notifications. @throws invalid_argument */
export async function setDevicePushToken(
  { db, clock }: TokenDeps,
  by: Caller,
  personId: string,
  device: { readonly appId: string; readonly deviceUuid: string; readonly token: string },
): Promise<void> {
  const app_id = checkedAppId(device.appId);
  const device_uuid = checkedToken(device.deviceUuid, 'device_uuid', 200);
  const token = checkedToken(device.token, 'device_token', maxTokenLength);
  const set_ms = clock.now();
  await db.transaction().execute(async (trx) => {
    await trx
      .deleteFrom('device_push_tokens')
      .where('token', '=', token)
      .where('app_id', '=', app_id)
      .where((eb) => eb.or([eb('person_id', '!=', personId), eb('device_uuid', '!=', device_uuid)]))
      .execute();
    await trx
      .insertInto('device_push_tokens')
      .values({ person_id: personId, app_id, device_uuid, token, set_ms })
      .onConflict((conflict) => conflict.columns(['person_id', 'app_id', 'device_uuid']).doUpdateSet({ token, set_ms }))
      .execute();
    const all = await trx
      .selectFrom('device_push_tokens')
      .select(['app_id', 'device_uuid'])
      .where('person_id', '=', personId)
      .orderBy('set_ms', 'desc')
      .execute();
    for (const old of all.slice(maxDevices))
      await trx
        .deleteFrom('device_push_tokens')
        .where('person_id', '=', personId)
        .where('app_id', '=', old.app_id)
        .where('device_uuid', '=', old.device_uuid)
        .execute();
    const detail = { app_id, device_uuid };
    await audit(trx, by, clock.now(), 'AppService.UploadDevicePushToken', ['person', personId, null], detail);
  });
}

/** @throws not_found if the person has no such device */
export async function deleteDevicePushToken(
  { db, clock }: TokenDeps,
  by: Caller,
  personId: string,
  device: { readonly appId: string; readonly deviceUuid: string },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .deleteFrom('device_push_tokens')
      .where('person_id', '=', personId)
      .where('app_id', '=', device.appId)
      .where('device_uuid', '=', device.deviceUuid)
      .returning('app_id')
      .executeTakeFirstOrThrow(() => notVisible('device', device.deviceUuid));
    const detail = { app_id: device.appId, device_uuid: device.deviceUuid };
    await audit(trx, by, clock.now(), 'AppService.DeleteDevicePushToken', ['person', personId, null], detail);
  });
}

/** Newest first. */
export async function devicePushTokens(
  { db }: Pick<AccountsDeps, 'db'>,
  personId: string,
  appId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('device_push_tokens')
    .select('token')
    .where('person_id', '=', personId)
    .where('app_id', '=', appId)
    .orderBy('set_ms', 'desc')
    .execute();
  return rows.map(({ token }) => token);
}

/** Deletes a token that the push provider no longer knows. */
export async function removeDeadToken(
  { db }: Pick<AccountsDeps, 'db'>,
  device: { readonly appId: string; readonly token: string },
): Promise<void> {
  await db
    .deleteFrom('device_push_tokens')
    .where('token', '=', device.token)
    .where('app_id', '=', device.appId)
    .execute();
}

function checkedToken(text: string, what: string, maxLength: number): string {
  if (text.length > 0 && text.length <= maxLength && /^[\u0021-\u007e]+$/.test(text)) return text;
  throw invalidArgument(
    `${what}: expected 1 to ${maxLength} printable ASCII characters without spaces, found ${text.length} characters`,
  );
}
