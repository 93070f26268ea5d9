/** Known damage, from the catalog alone. */
import type { Database } from '../../metadata/tables.ts';
import { type CatalogFinding, catalogFindings } from './catalog-findings.ts';

export interface DamagedFile {
  readonly file: string;
  readonly sinceMs: number;
  readonly reason: string;
}

export interface Damage {
  /** Sealed files known to be damaged or missing. */
  readonly files: readonly DamagedFile[];
  /** Problems in the catalog rows of all organizations. */
  readonly catalog: readonly CatalogFinding[];
}

export async function readDamage(db: Database): Promise<Damage> {
  return { files: await damagedFiles(db), catalog: await findingsOf(db) };
}

export async function damagedFiles(db: Database): Promise<readonly DamagedFile[]> {
  const rows = await db
    .selectFrom('tabular_health')
    .innerJoin('tabular_files', 'tabular_files.file', 'tabular_health.file')
    .select(['tabular_health.file', 'damaged_ms', 'damage'])
    .where('damaged_ms', 'is not', null)
    .orderBy('tabular_health.file')
    .execute();
  return rows.map((row) => ({ file: row.file, sinceMs: row.damaged_ms ?? 0, reason: row.damage ?? '' }));
}

export async function findingsOf(db: Database): Promise<readonly CatalogFinding[]> {
  const rows = await db.transaction().execute(async (trx) => ({
    state: await trx.selectFrom('tabular_state').selectAll().execute(),
    files: await trx.selectFrom('tabular_files').selectAll().execute(),
    deletes: await trx.selectFrom('tabular_deletes').selectAll().execute(),
    proofs: await trx.selectFrom('tabular_proofs').selectAll().execute(),
    days: await trx.selectFrom('tabular_day_proofs').selectAll().execute(),
  }));
  return catalogFindings(rows);
}
