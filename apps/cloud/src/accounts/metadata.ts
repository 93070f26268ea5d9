/** Metadata: one JSON object defined by the user for an organization or location. It is always replaced whole and never interpreted. */
import type { JsonObject } from '@bufbuild/protobuf';
import { sql } from 'kysely';
import { audit, type Caller } from '../access/audit.ts';
import { requireAtMost } from '../text-rules/require-at-most.ts';
import { requireReadableJson } from '../wire/readable-json.ts';
import type { AccountsDeps } from './accounts-deps.ts';

/** Limit of the JSON text in UTF-8. */
export const maxMetadataBytes: number = 1024 * 1024;

export interface MetadataTarget {
  readonly kind: keyof typeof places;
  readonly id: string;
  readonly organizationId: string;
}

const places = {
  organization: { table: 'organization_metadata', key: 'organization_id', action: 'UpdateOrganizationMetadata' },
  location: { table: 'location_metadata', key: 'location_id', action: 'UpdateLocationMetadata' },
} as const;

/** Returns an empty object if none was written. */
export async function readMetadata(
  { db }: Pick<AccountsDeps, 'db'>,
  { kind, id }: MetadataTarget,
): Promise<JsonObject> {
  const { table, key } = places[kind];
  const { rows } = await sql<{
    data: string;
  }>`select data from ${sql.table(table)} where ${sql.ref(key)} = ${id}`.execute(db);
  return rows[0] === undefined ? {} : (JSON.parse(rows[0].data) as JsonObject);
}

/** Replaces the metadata. @throws invalid_argument if it is too large or too deeply nested */
export async function writeMetadata(
  { db, clock }: Pick<AccountsDeps, 'db' | 'clock'>,
  by: Caller,
  { kind, id, organizationId }: MetadataTarget,
  data: JsonObject,
): Promise<void> {
  const text = checkedMetadata(data);
  const { table, key, action } = places[kind];
  await db.transaction().execute(async (trx) => {
    await sql`insert into ${sql.table(table)} (${sql.ref(key)}, data) values (${id}, ${text})
      on conflict (${sql.ref(key)}) do update set data = excluded.data`.execute(trx);
    const detail = metadataDetail(data, text);
    await audit(trx, by, clock.now(), `AppService.${action}`, [kind, id, organizationId], detail);
  });
}

/** Audit detail for written metadata: its first 100 keys, the first 100 characters of each, and its size. */
export function metadataDetail(data: JsonObject, text: string): { readonly keys: string[]; readonly bytes: number } {
  const keys = Object.keys(data).slice(0, 100);
  return { keys: keys.map((key) => key.slice(0, 100)), bytes: text.length };
}

/** Returns the text to store; metadata of machines and parts follows the same rule. @throws invalid_argument */
export function checkedMetadata(data: JsonObject): string {
  requireReadableJson(data, 'data');
  const text = JSON.stringify(data);
  requireAtMost('data', maxMetadataBytes, Buffer.byteLength(text), ' bytes of metadata as JSON');
  return text;
}
