/**
 * Copies every table of both schemas out of one transaction that sees one moment: whatever was acknowledged before it is in the
 * copied log, or in a file that the copied catalog lists. A table is a file `tables/<schema>.<table>.ndjson`: first a line that
 * says what it is (`TableHead`), then a row a line, a JSON array of the texts that Postgres writes for its values, so that
 * bytes and whole numbers of 64 bits come back as they were.
 */
import { join } from 'node:path';
import { makeDirectory } from '../instance/make-directory.ts';
import { openSnapshot, type Snapshot } from '../metadata/postgres/open-snapshot.ts';
import { commitTable } from '../metadata/postgres/postgres-writer.ts';
import type { CopiedStores, CopyOptions } from './copied-stores.ts';
import type { BackedUpFile } from './manifest.ts';
import { namedFiles } from './named-files.ts';
import { openTableFile } from './table-file.ts';

export interface TableHead {
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly string[];
  /** The column that counts by itself, and the last number that it gave; ids that were deleted since are not given again. */
  readonly identity?: { readonly column: string; readonly last: number };
}

export const tablesFolder = 'tables';
export const schemas: readonly string[] = ['meta', 'ingest'];
/** Made anew by a restore. */
const ownOfDatabase = ['schema_version', 'installation', commitTable];

export async function copyPostgres({
  dataDirectory,
  destination,
  database = '',
  progress,
  signal,
}: CopyOptions): Promise<CopiedStores> {
  await using snapshot = await openSnapshot(database, join(dataDirectory, 'postgres.json'), signal);
  makeDirectory(join(destination, tablesFolder));
  const files: BackedUpFile[] = [];
  for (const head of await listTables(snapshot)) {
    const { schema, table } = head;
    progress(`copying table ${schema}.${table}`);
    const path = `${tablesFolder}/${schema}.${table}.ndjson`;
    const file = openTableFile(join(destination, path));
    try {
      file.write(head);
      await snapshot.eachRow(`select ${quoted(head.columns)} from ${schema}.${quoted([table])}`, file.write);
      files.push({ path, ...file.close() });
    } catch (caught) {
      file.close();
      throw caught;
    }
  }
  const numberOf = async (sql: string): Promise<number> =>
    Number(Object.values((await snapshot.query(sql))[0] ?? {})[0]);
  return {
    store: 'postgres',
    files,
    metaVersion: await numberOf('select version from meta.schema_version'),
    ingestVersion: await numberOf('select version from ingest.schema_version'),
    sealedPosition: await numberOf('select sealed_position from meta.tabular_state'),
    lastPosition: await numberOf('select last_position from ingest.log_state'),
    named: namedFiles(
      await snapshot.query('select * from meta.tabular_files order by file'),
      await snapshot.query('select path from ingest.blobs order by path'),
      files.some(({ path }) => path.endsWith('/meta.binary_data.ndjson'))
        ? await snapshot.query('select * from meta.binary_data')
        : [],
    ),
  };
}

/** All but those that a restore makes anew. */
export async function listTables(snapshot: Snapshot): Promise<TableHead[]> {
  const columns = await snapshot.query(`
    select n.nspname as schema, c.relname as table, a.attname as column, a.attidentity <> '' as counts
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
    where n.nspname in (${schemas.map((name) => `'${name}'`).join(', ')}) and c.relkind = 'r'
      and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    order by array_position(array['meta', 'ingest'], n.nspname::text), c.relname, a.attnum`);
  const tables = Map.groupBy(columns, (row) => `${String(row['schema'])}.${String(row['table'])}`);
  const heads: TableHead[] = [];
  for (const rows of tables.values()) {
    const [schema, table] = [String(rows[0]?.['schema']), String(rows[0]?.['table'])];
    if (ownOfDatabase.includes(table)) continue;
    const counting = rows.find((row) => row['counts'] === 1)?.['column'];
    heads.push({
      ...{ schema, table, columns: rows.map((row) => String(row['column'])) },
      ...(counting !== undefined && { identity: await identityOf(snapshot, schema, table, String(counting)) }),
    });
  }
  return heads;
}

/** A sequence is outside of every transaction: it may be further than the rows of the snapshot, never behind them. */
async function identityOf(
  snapshot: Snapshot,
  schema: string,
  table: string,
  column: string,
): Promise<{ readonly column: string; readonly last: number }> {
  const [named] = await snapshot.query(`select pg_get_serial_sequence('${schema}.${table}', '${column}') as name`);
  const [row] = await snapshot.query(
    `select case when is_called then last_value else last_value - 1 end as last from ${String(named?.['name'])}`,
  );
  return { column, last: Number(row?.['last']) };
}

/** Names of columns, some of which are words of SQL. */
export function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
