/** Inserts the rows of a new organization or location; the caller adds them to the tree in memory after its commit. */
import { newId, newSecret, newShortId } from '@platform/base';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Database } from '../metadata/tables.ts';
import type { LocationRow, OrganizationRow } from './tree.ts';

/** `whsec_` and base64 (Standard Webhooks). */
export function newWebhookSecret(): string {
  return `whsec_${Buffer.from(newSecret(), 'base64url').toString('base64')}`;
}

/** Inserts an organization with the secret that signs its webhooks. @param name already validated */
export async function insertOrganization(
  trx: Database,
  instanceKey: InstanceKey,
  name: string,
  nowMs: number,
): Promise<OrganizationRow> {
  return await trx
    .insertInto('organizations')
    .values({ id: newId(), name, created_ms: nowMs, webhook_secret: instanceKey.encrypt(newWebhookSecret()) })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Inserts a location with its first secret. @param name already validated @param parentId null: at the top of the organization */
export async function insertLocation(
  trx: Database,
  instanceKey: InstanceKey,
  location: { readonly organizationId: string; readonly parentId: string | null; readonly name: string },
  nowMs: number,
): Promise<LocationRow> {
  const row = await trx
    .insertInto('locations')
    .values({
      id: newShortId(),
      organization_id: location.organizationId,
      parent_id: location.parentId,
      name: location.name,
      created_ms: nowMs,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await insertLocationSecret(trx, instanceKey, row.id, nowMs);
  return row;
}

/** Returns the id of the secret. */
export async function insertLocationSecret(
  trx: Database,
  instanceKey: InstanceKey,
  locationId: string,
  nowMs: number,
): Promise<string> {
  const id = newId();
  await trx
    .insertInto('location_secrets')
    .values({ id, location_id: locationId, secret: instanceKey.encrypt(newSecret()), created_ms: nowMs })
    .execute();
  return id;
}
