/** Metadata: one object of the user's own on an organization or location, written whole, never interpreted. */
import type { JsonObject } from '@bufbuild/protobuf';
import { audit, type Caller } from '../access/audit.ts';
import { requireAtMost } from '../text-rules/require-at-most.ts';
import { requireReadableJson } from '../wire/readable-json.ts';
import type { AccountsDeps } from './accounts-deps.ts';

/** As JSON text in UTF-8. */
export const maxMetadataBytes: number = 1024 * 1024;

export type MetadataTarget =
  | { readonly kind: 'organization'; readonly id: string; readonly organizationId: string }
  | { readonly kind: 'location'; readonly id: string; readonly organizationId: string };

/** An empty object when none was written. */
export async function readMetadata({ db }: Pick<AccountsDeps, 'db'>, target: MetadataTarget): Promise<JsonObject> {
  const row =
    target.kind === 'organization'
      ? await db
          .selectFrom('organization_metadata')
          .select('data')
          .where('organization_id', '=', target.id)
          .executeTakeFirst()
      : await db.selectFrom('location_metadata').select('data').where('location_id', '=', target.id).executeTakeFirst();
  return row === undefined ? {} : (JSON.parse(row.data) as JsonObject);
}

/** Replaces it. @throws invalid_argument when it is too large or nested too deeply */
export async function writeMetadata(
  { db, clock }: Pick<AccountsDeps, 'db' | 'clock'>,
  by: Caller,
  target: MetadataTarget,
  data: JsonObject,
): Promise<void> {
  const text = checkedMetadata(data);
  const action =
    target.kind === 'organization' ? 'AppService.UpdateOrganizationMetadata' : 'AppService.UpdateLocationMetadata';
  await db.transaction().execute(async (trx) => {
    if (target.kind === 'organization')
      await trx
        .insertInto('organization_metadata')
        .values({ organization_id: target.id, data: text })
        .onConflict((conflict) => conflict.column('organization_id').doUpdateSet({ data: text }))
        .execute();
    else
      await trx
        .insertInto('location_metadata')
        .values({ location_id: target.id, data: text })
        .onConflict((conflict) => conflict.column('location_id').doUpdateSet({ data: text }))
        .execute();
    const { organizationId, kind, id } = target;
    const detail = metadataDetail(data, text);
    await audit(trx, by, clock.now(), action, [kind, id, organizationId], detail);
  });
}

/** What the audit trail says of metadata that was written: its keys, the first 100 and 100 characters of each, and how much it is. */
export function metadataDetail(data: JsonObject, text: string): { readonly keys: string[]; readonly bytes: number } {
  const keys = Object.keys(data).slice(0, 100);
  return { keys: keys.map((key) => key.slice(0, 100)), bytes: text.length };
}

/** The text that is stored; the rule for metadata of machines and parts, too. @throws invalid_argument */
export function checkedMetadata(data: JsonObject): string {
  requireReadableJson(data, 'data');
  const text = JSON.stringify(data);
  requireAtMost('data', maxMetadataBytes, Buffer.byteLength(text), ' bytes of metadata as JSON');
  return text;
}
