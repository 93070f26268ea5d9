/** Inserts the row of an uploaded picture or file, for tests; by default of the first organization. */
import type { Insertable } from 'kysely';
import type { BinaryTables } from '../../binary/store.ts';
import type { Database } from '../../metadata/tables.ts';

type FileValues = Insertable<BinaryTables['binary_data']>;

let lastPosition = 0;

export async function insertFile(db: Database, given: Partial<FileValues> & { readonly id: string }): Promise<void> {
  const { id: organizationId } = await db.selectFrom('organizations').select('id').executeTakeFirstOrThrow();
  const none = { component_type: '', component_name: '', method_name: '', mime_type: '', file_name: '', file_ext: '' };
  const times = { captured_us: 1, time_requested_us: 1, time_received_us: 1, capture_day: 20_000, synced_ms: 1 };
  const place = { organization_id: organizationId, location_id: 'l', robot_id: 'r', part_id: 'p' };
  const rest = { robot_name: '', part_name: '', size_bytes: 1, method_parameters: '', classifications: '[]' };
  const blob = { blob_path: `blob ${given.id}`, sha256: '', tags: '[]' };
  await db
    .insertInto('binary_data')
    .values({ ...none, ...times, ...place, ...rest, position: ++lastPosition, ...blob, ...given })
    .execute();
}
