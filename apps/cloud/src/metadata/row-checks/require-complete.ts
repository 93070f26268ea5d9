/** Refuses sets of rows of which some are missing, or to which others were added (D33). */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { bucketOfRow, type CheckedTable, dayUs, RowSum, words } from './checked-table.ts';
import { incompleteText, type RowDamage } from './find-row-damage.ts';
import { alteredRows, firstWrong, requireRight } from './require-right.ts';
import { daySql } from './row-check-sql.ts';

/** Both included; undefined: unlimited. */
export interface DayRange {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Larger sets are compared by the pass over all tables (row-watch.ts). */
const maxRowsAtOnce = 20_000;

/** For sets that are read as a whole. @throws data_loss that names the set */
export async function requireCompleteSet<T>(
  db: Kysely<T>,
  table: CheckedTable,
  owner: string,
  days: DayRange = {},
): Promise<void> {
  const wrong = await incompleteSet(db, table, owner, days, maxRowsAtOnce);
  if (wrong !== undefined && wrong !== 'large') throw alteredRows(wrong);
}

/** A column for statements that read the newest row of a set: how many rows its proof counts. @param owner the column */
export function provenRows(table: CheckedTable, owner: string): RawBuilder<number | null> {
  return sql`(select "rows" from row_proofs where table_name = ${table.table} and owner = ${sql.ref(owner)} and "day" = 0)`;
}

/**
 * For sets whose rows are numbered from 1 without gaps, of which the newest is read: if it has the number of the rows that the proof
 * counts, no newer one is missing. So the cost does not depend on the number of rows.
 *
 * @param number of the newest row, which was found right. @param proven `provenRows` of the same statement. @throws data_loss that names the set
 */
export async function requireNewest<T>(
  db: Kysely<T>,
  table: CheckedTable,
  owner: string,
  number: number,
  proven: number | null,
): Promise<void> {
  if (Number(proven) === number) return;
  const wrong = await incompleteSet(db, table, owner, {}, Number.MAX_SAFE_INTEGER - 1);
  if (wrong !== undefined && wrong !== 'large') throw alteredRows(wrong);
}

/** @throws data_loss that names the first of these sets that should have rows */
export async function requireNoRows<T>(db: Kysely<T>, table: CheckedTable, owners: readonly string[]): Promise<void> {
  if (owners.length === 0) return;
  const { rows } = await sql<{ owner: string }>`
    select owner from row_proofs where table_name = ${table.table} and owner in (${sql.join(owners)})
  `.execute(db);
  for (const { owner } of rows) await requireCompleteSet(db, table, owner);
}

/**
 * For the answer that a set does not have a row, and for statements that use its rows without reading them: a row whose key or value was
 * altered is not missing from the sum.
 *
 * @throws data_loss that names the first row that was altered, or the set
 */
export async function requireIntactSet<T>(db: Kysely<T>, table: CheckedTable, owner: string): Promise<void> {
  // As stored: without what plugins make of the values.
  const plain = db.withoutPlugins();
  const { rows } = await sql<object>`
    select * from ${sql.table(table.table)} where ${isInSets(table, owner, {})} limit ${maxRowsAtOnce}
  `.execute(plain);
  requireRight(table, rows);
  await requireCompleteSet(plain, table, owner);
}

/**
 * For sets of which all rows were read and found right: as many as the proofs count are all of them.
 *
 * @param rows of these sets @throws data_loss that names the first set of which rows are missing
 */
export async function requireAllRows<T>(
  db: Kysely<T>,
  table: CheckedTable,
  owners: readonly string[],
  rows: readonly object[],
): Promise<void> {
  if (owners.length === 0) return;
  requireRight(table, rows);
  const proofs = await sql<{ owner: string; rows: number }>`
    select owner as owner, "rows" as "rows" from row_proofs where table_name = ${table.table} and owner in (${sql.join(owners)})
  `.execute(db);
  const found = Map.groupBy(rows, (row) => bucketOfRow(table, row as Readonly<Record<string, unknown>>).owner);
  const proven = new Map(proofs.rows.map(({ owner, rows: count }) => [owner, Number(count)]));
  for (const owner of owners)
    if ((found.get(owner)?.length ?? 0) !== (proven.get(owner) ?? 0)) await requireCompleteSet(db, table, owner);
}

interface FoundSet {
  readonly kind: 'proof' | 'rows';
  readonly day: number;
  readonly rows: number;
  /** The checksums of its rows, without anything between them; of a proof: null. */
  readonly checks: string | null;
}

/** Compares the sets of an owner with their proofs, in one statement, if they have at most so many rows. Undefined: they are right. */
export async function incompleteSet<T>(
  db: Kysely<T>,
  table: CheckedTable,
  owner: string,
  days: DayRange,
  maxRows: number,
): Promise<RowDamage | 'large' | undefined> {
  const name = table.table;
  const nulls = sql.raw(words.map((word) => `cast(null as bigint) as word_${word}`).join(', '));
  const sums = sql.raw(words.map((word) => `word_${word}`).join(', '));
  const { rows } = await sql<FoundSet>`
    select 'rows' as kind, "day" as "day", count(*) as "rows", string_agg(coalesce(row_check, ''), '') as checks, ${nulls}
    from (select ${sql.raw(daySql(table, name))} as "day", row_check from ${sql.table(name)} where ${isInSets(table, owner, days)} limit ${maxRows + 1}) as found
    group by "day"
    union all
    select 'proof' as kind, "day" as "day", "rows" as "rows", cast(null as text) as checks, ${sums} from row_proofs where ${isProofOf(table, owner, days)}
  `.execute(db);
  const count = (of: FoundSet['kind']): number =>
    rows.reduce((sum, each) => sum + (each.kind === of ? Number(each.rows) : 0), 0);
  if (count('rows') > maxRows || count('proof') > maxRows) return 'large';
  const byDay = Map.groupBy(rows, (row) => Number(row.day));
  for (const [day, some] of byDay) {
    const sum = new RowSum();
    for (const { kind: of, rows: n, checks } of some) if (of === 'rows') sum.addAll(Number(n), checks ?? '');
    const proof = some.find((each) => each.kind === 'proof');
    const text = incompleteText(table, { owner, day }, sum, proof);
    if (text !== undefined) return { table: name, owner, day, text };
  }
  return undefined;
}

/** Whether a row is missing by the proof of rows that it owns. @param table with one column as key */
export async function isMissing<T>(
  db: Kysely<T>,
  { table, key: [column = ''] }: CheckedTable,
  id: string,
  owned: CheckedTable,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from row_proofs where table_name = ${owned.table} and owner = ${id}
      and not exists (select 1 from ${sql.table(table)} where ${sql.ref(column)} = ${id})
  `.execute(db);
  return rows.length > 0;
}

/** Compares the values of the rows, too. */
export async function wrongSet<T>(
  db: Kysely<T>,
  table: CheckedTable,
  owner: string,
  days: DayRange,
  maxRows: number,
): Promise<RowDamage | 'large' | undefined> {
  const incomplete = await incompleteSet(db, table, owner, days, maxRows);
  if (incomplete !== undefined) return incomplete;
  const found =
    await sql<object>`select * from ${sql.table(table.table)} where ${isInSets(table, owner, days)}`.execute(db);
  return firstWrong(table, found.rows);
}

/** A condition for their proofs. */
export function isProofOf({ table }: CheckedTable, owner: string, { from, to }: DayRange): RawBuilder<unknown> {
  const since = from === undefined ? sql`` : sql`and "day" >= ${from}`;
  const before = to === undefined ? sql`` : sql`and "day" <= ${to}`;
  return sql`table_name = ${table} and owner = ${owner} ${since} ${before}`;
}

/** A condition for the rows of an owner and days. */
export function isInSets(table: CheckedTable, owner: string, { from, to }: DayRange): RawBuilder<unknown> {
  const owned = table.owner === undefined ? sql`1 = 1` : sql`${sql.ref(table.owner)} = ${owner}`;
  if (table.time === undefined) return owned;
  const time = sql.ref(table.time);
  const unitsPerDay = dayUs / (table.usPerTime ?? 1);
  const since = from === undefined ? sql`` : sql`and ${time} >= ${from * unitsPerDay}`;
  const before = to === undefined ? sql`` : sql`and ${time} < ${to * unitsPerDay + unitsPerDay}`;
  return sql`${owned} ${since} ${before}`;
}
