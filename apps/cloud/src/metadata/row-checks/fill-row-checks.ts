/**
 * Gives existing rows their checksums and proofs: at the first start of the version that introduces them, and when what a checksum covers
 * has changed. Each batch is one transaction, which also records how far it got, so an interrupted start continues there.
 */
import type { Log } from '@platform/base';
import { type Kysely, sql } from 'kysely';
import type { CheckedTable } from './checked-table.ts';
import { addToProofsSql, checkSql, type StoreKind } from './row-check-sql.ts';

const batchRows = 2_000;
const rowsPerLogLine = 100_000;

export async function fillRowChecks<T>(
  db: Kysely<T>,
  tables: readonly CheckedTable[],
  kind: StoreKind,
  log: Log,
): Promise<void> {
  if (tables.length === 0) return;
  const { rows } = await sql<Filled>`select * from checked_tables`.execute(db);
  const known = new Map(rows.map((row) => [row.table_name, row]));
  const changed = tables.filter((table) => known.get(table.table)?.definition !== JSON.stringify(table));
  const empty = await emptyOf(db, changed);
  if (empty.length > 0) await db.transaction().execute((trx) => record(trx, empty, true));
  for (const table of changed) if (!empty.includes(table)) await refillRowChecks(db, table, kind, log);
  for (const table of tables) {
    const found = known.get(table.table);
    if (found?.is_filled !== 0 || changed.includes(table)) continue;
    await fill(db, table, kind, found.filled_to ?? undefined, log);
  }
}

/** Those without rows, which are all of them in a new database. */
async function emptyOf<T>(db: Kysely<T>, tables: readonly CheckedTable[]): Promise<readonly CheckedTable[]> {
  if (tables.length === 0) return [];
  const counts = tables.map(({ table }) => `select '${table}' as name where not exists (select 1 from ${table})`);
  const { rows } = await sql.raw<{ name: string }>(counts.join(' union all ')).execute(db);
  const names = new Set(rows.map(({ name }) => name));
  return tables.filter(({ table }) => names.has(table));
}

/** Notes what the checksums of the tables cover, and forgets their proofs. */
async function record<T>(trx: Kysely<T>, tables: readonly CheckedTable[], isFilled: boolean): Promise<void> {
  const names = sql.join(tables.map(({ table }) => table));
  const values = tables.map((table) => sql`(${table.table}, ${JSON.stringify(table)}, null, ${isFilled ? 1 : 0})`);
  await sql`delete from row_proofs where table_name in (${names})`.execute(trx);
  await sql`delete from checked_tables where table_name in (${names})`.execute(trx);
  await sql`insert into checked_tables (table_name, definition, filled_to, is_filled) values ${sql.join(values)}`.execute(
    trx,
  );
}

interface Filled {
  readonly table_name: string;
  readonly definition: string;
  /** JSON: the key of the last row that has its checksum; null: none has. */
  readonly filled_to: string | null;
  readonly is_filled: number;
}

/** Takes the rows as they are: those of the version before, or what is left after damage that a person accepts. */
export async function refillRowChecks<T>(db: Kysely<T>, table: CheckedTable, kind: StoreKind, log: Log): Promise<void> {
  await db.transaction().execute((trx) => record(trx, [table], false));
  await fill(db, table, kind, undefined, log);
}

async function fill<T>(
  db: Kysely<T>,
  table: CheckedTable,
  kind: StoreKind,
  filledTo: string | undefined,
  log: Log,
): Promise<void> {
  const { table: name } = table;
  let after: readonly unknown[] | undefined = filledTo === undefined ? undefined : JSON.parse(filledTo);
  for (let rows = 0; ; rows += batchRows) {
    if (rows > 0 && rows % rowsPerLogLine === 0) log.info('stored rows get checksums', { table: name, rows });
    const from = after;
    const end = await db.transaction().execute(async (trx) => {
      const to = table.isSmall ? undefined : await endOfBatch(trx, table, from);
      const where = `${inBatch(table, from, '>')} and ${inBatch(table, to, '<=')}`;
      await sql.raw(`update ${name} set row_check = ${checkSql(table, name, kind)} where ${where}`).execute(trx);
      await sql.raw(addToProofsSql(table, name, where)).execute(trx);
      const filled = to === undefined ? null : JSON.stringify(to);
      await sql`update checked_tables set filled_to = ${filled}, is_filled = ${to === undefined ? 1 : 0} where table_name = ${name}`.execute(
        trx,
      );
      return to;
    });
    if (end === undefined) return;
    after = end;
  }
}

/** The key of the last row of the batch; undefined: it holds all that are left. */
async function endOfBatch<T>(
  trx: Kysely<T>,
  table: CheckedTable,
  from: readonly unknown[] | undefined,
): Promise<readonly unknown[] | undefined> {
  const columns = keyOf(table);
  const statement = `select ${columns} from ${table.table} where ${inBatch(table, from, '>')} order by ${columns} limit 1 offset ${batchRows - 1}`;
  const { rows } = await sql.raw<Record<string, unknown>>(statement).execute(trx);
  return rows[0] === undefined ? undefined : table.key.map((column) => rows[0]?.[column]);
}

function inBatch(table: CheckedTable, key: readonly unknown[] | undefined, comparison: '>' | '<='): string {
  return key === undefined ? '1 = 1' : `(${keyOf(table)}) ${comparison} (${key.map(literal).join(', ')})`;
}

function keyOf({ key }: CheckedTable): string {
  return key.map((column) => `"${column}"`).join(', ');
}

function literal(value: unknown): string {
  return typeof value === 'number' ? String(value) : `'${String(value).replaceAll("'", "''")}'`;
}
