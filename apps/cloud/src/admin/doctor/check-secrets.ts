/** Checks that the instance key opens every sealed value and every saved configuration. */
import { sql } from 'kysely';
import type { KeyRing } from '../../instance/instance-key.ts';
import type { SealedColumn } from '../../instance/sealed-column.ts';
import { checkStoredDocuments } from '../../metadata/seal-stored-documents.ts';
import type { Database } from '../../metadata/tables.ts';

/** @returns what was checked. @throws data_loss if a value does not open. */
export async function checkSecrets(
  db: Database,
  instanceKey: KeyRing,
  columns: readonly SealedColumn[],
): Promise<string> {
  let count = 0;
  for (const { table, sealed } of columns) {
    const { rows } = await sql<Record<string, unknown>>`
      select ${sql.ref(sealed)} from ${sql.table(table)} where ${sql.ref(sealed)} is not null`.execute(db);
    for (const row of rows) {
      const value = row[sealed];
      if (!(value instanceof Uint8Array)) continue;
      instanceKey.decrypt(value);
      count++;
    }
  }
  const documents = await checkStoredDocuments(db, instanceKey);
  return `${count} secrets and ${documents} configurations can be decrypted with the key ${instanceKey.current.id}`;
}
