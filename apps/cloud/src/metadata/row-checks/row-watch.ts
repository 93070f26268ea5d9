/**
 * Refuses answers that altered, missing or added rows could change (D33), and looks for them in the background.
 *
 * Each row that is read for an answer is compared with its checksum. Whether rows are missing is compared at once in sets of up to
 * `rowsPerCheck` rows, and in all sets by a pass over all tables: at the start, and then once an hour, or once a minute while something is
 * damaged.
 */
import { type Clock, errorText, type Log, type PlatformError } from '@platform/base';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../tables.ts';
import { type Bucket, type CheckedTable, dayUs, RowSum, words } from './checked-table.ts';
import { refillRowChecks } from './fill-row-checks.ts';
import { findRowDamage, incompleteText, type RowDamage } from './find-row-damage.ts';
import type { RowReader } from './open-row-reader.ts';
import { alteredRows, firstWrong } from './require-right.ts';
import { daySql, type StoreKind } from './row-check-sql.ts';

export interface RowWatch extends AsyncDisposable {
  /** Looks for damage in the background from now on. */
  start(): void;
  /** Looks at all rows once. Returns what is damaged. */
  look(): Promise<readonly string[]>;
  /** Takes the rows of damaged tables as they are now. Returns what was damaged. */
  accept(): Promise<readonly string[]>;
  /** @throws data_loss that names the first row that was altered or added */
  requireRight(table: CheckedTable, rows: readonly object[]): void;
  /** @param days if the table is divided by day. @throws data_loss when rows are known to be missing there */
  requireComplete(table: CheckedTable, owners: readonly string[], days?: DayRange): Promise<void>;
  /** What is known to be damaged, for the host administrator. */
  damages(): readonly string[];
}

/** Both included; undefined: unlimited. */
export interface DayRange {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface RowWatchDeps {
  readonly db: Database;
  readonly tables: readonly CheckedTable[];
  readonly kind: StoreKind;
  readonly openReader: (signal: AbortSignal) => Promise<RowReader>;
  readonly clock: Clock;
  readonly log: Log;
}

const rowsPerCheck = 1_000;
const periodMs = 3_600_000;
const retryMs = 60_000;

export function createRowWatch({ db, tables, kind, openReader, clock, log }: RowWatchDeps): RowWatch {
  const ended = new AbortController();
  let known: readonly RowDamage[] = [];
  let loop: Promise<void> | undefined;

  const note = (damage: RowDamage): PlatformError => {
    if (!known.some(({ text }) => text === damage.text)) {
      known = [...known, damage];
      report(damage);
    }
    return alteredRows(damage);
  };
  const report = ({ text }: RowDamage): void =>
    log.error(
      'stored rows were changed by something other than the cloud; answers that they could affect are refused',
      {
        reason: text,
      },
    );

  const look = async (): Promise<readonly string[]> => {
    await using reader = await openReader(ended.signal);
    const { damages } = await findRowDamage(reader, tables);
    for (const damage of damages) if (!known.some(({ text }) => text === damage.text)) report(damage);
    if (known.length > 0 && damages.length === 0) log.info('the stored rows are as they were written again', {});
    known = damages;
    return damages.map(({ text }) => text);
  };

  return {
    start() {
      loop ??= (async () => {
        while (!ended.signal.aborted) {
          const failure = await look().then(() => undefined, errorText);
          if (failure !== undefined && !ended.signal.aborted)
            log.warn('the stored rows could not be compared with their checksums', { error: failure });
          await clock
            .sleep(failure === undefined && known.length === 0 ? periodMs : retryMs, ended.signal)
            .catch(() => {});
        }
      })();
    },
    look,
    async accept() {
      const found = await look();
      const damaged = new Set(known.map(({ table }) => table));
      for (const table of tables) if (damaged.has(table.table)) await refillRowChecks(db, table, kind, log);
      await look();
      return found;
    },
    requireRight(table, rows) {
      const wrong = firstWrong(table, rows);
      if (wrong !== undefined) throw note(wrong);
    },
    async requireComplete(table, owners, days = {}) {
      const isAsked = ({ table: damaged, owner, day }: RowDamage): boolean =>
        damaged === table.table &&
        owners.includes(owner) &&
        day >= (days.from ?? Number.NEGATIVE_INFINITY) &&
        day <= (days.to ?? Number.POSITIVE_INFINITY);
      const damaged = known.filter(isAsked);
      if (damaged.length > 0 && !(await isRepaired(db, table, damaged))) throw alteredRows(damaged[0] ?? { text: '' });
      if (damaged.length > 0) {
        known = known.filter((damage) => !damaged.includes(damage));
        log.info('altered rows are as they were written again', { rows: damaged.map(({ text }) => text) });
      }
      for (const owner of owners) {
        const wrong = await incompleteSet(db, table, owner, days);
        if (wrong !== undefined) throw note(wrong);
      }
    },
    damages: () => known.map(({ text }) => text),
    async [Symbol.asyncDispose]() {
      ended.abort();
      await loop;
    },
  };
}

/** Whether the sets of these damages, if they are small, are as they were written again. */
async function isRepaired(db: Database, table: CheckedTable, damages: readonly RowDamage[]): Promise<boolean> {
  const sets = new Map(damages.map(({ owner, day }) => [`${owner} ${day}`, { owner, day }]));
  for (const { owner, day } of sets.values()) {
    const days = { from: day, to: day };
    if ((await rowsProven(db, table, owner, days)) > rowsPerCheck) return false;
    if ((await incompleteSet(db, table, owner, days)) !== undefined) return false;
    const found = await sql<object>`select * from ${sql.table(table.table)} where ${isIn(table, owner, days)}`.execute(
      db,
    );
    if (firstWrong(table, found.rows) !== undefined) return false;
  }
  return true;
}

/** Compares the sets of an owner with their proofs, in one statement, if they are small. */
async function incompleteSet(
  db: Database,
  table: CheckedTable,
  owner: string,
  days: DayRange,
): Promise<RowDamage | undefined> {
  if ((await rowsProven(db, table, owner, days)) > rowsPerCheck) return undefined;
  const proven = isProofOf(table, owner, days);
  const name = table.table;
  const nulls = sql.raw(words.map((word) => `cast(null as bigint) as word_${word}`).join(', '));
  const sums = sql.raw(words.map((word) => `word_${word}`).join(', '));
  const { rows } = await sql<Readonly<Record<string, unknown>>>`
    select 'proof' as kind, "day" as "day", "rows" as "rows", cast(null as text) as row_check, ${sums} from row_proofs where ${proven}
    union all
    select * from (select 'row' as kind, ${sql.raw(daySql(table, name))} as "day", 0 as "rows", row_check, ${nulls} from ${sql.table(name)} where ${isIn(table, owner, days)} limit ${rowsPerCheck + 1}) as found
  `.execute(db);
  // Rows were added in the meantime.
  if (rows.filter(({ kind }) => kind === 'row').length > rowsPerCheck) return undefined;
  const byDay = Map.groupBy(rows, (row) => Number(row['day']));
  for (const [day, some] of byDay) {
    const sum = new RowSum();
    for (const row of some) if (row['kind'] === 'row') sum.add(row['row_check']);
    const proof = some.find((row) => row['kind'] === 'proof');
    const bucket: Bucket = { owner, day };
    if (!sum.matches(proof))
      return { table: name, ...bucket, text: incompleteText(table, bucket, sum.rows, Number(proof?.['rows'] ?? 0)) };
  }
  return undefined;
}

/** The number of rows that the proofs of these sets count. */
async function rowsProven(db: Database, table: CheckedTable, owner: string, days: DayRange): Promise<number> {
  const found = await sql<{ rows: number | null }>`
    select sum("rows") as "rows" from row_proofs where ${isProofOf(table, owner, days)}
  `.execute(db);
  return Number(found.rows[0]?.rows ?? 0);
}

function isProofOf({ table }: CheckedTable, owner: string, { from, to }: DayRange): RawBuilder<unknown> {
  const since = from === undefined ? sql`` : sql`and "day" >= ${from}`;
  const before = to === undefined ? sql`` : sql`and "day" <= ${to}`;
  return sql`table_name = ${table} and owner = ${owner} ${since} ${before}`;
}

function isIn(table: CheckedTable, owner: string, { from, to }: DayRange): RawBuilder<unknown> {
  const owned = table.owner === undefined ? sql`1 = 1` : sql`${sql.ref(table.owner)} = ${owner}`;
  if (table.time === undefined) return owned;
  const time = sql.ref(table.time);
  const since = from === undefined ? sql`` : sql`and ${time} >= ${from * dayUs}`;
  const before = to === undefined ? sql`` : sql`and ${time} < ${to * dayUs + dayUs}`;
  return sql`${owned} ${since} ${before}`;
}
