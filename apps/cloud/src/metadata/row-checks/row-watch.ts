/**
 * Refuses answers that altered, missing or added rows could change (D33), and looks for them in the background.
 *
 * Each row that is read for an answer is compared with its checksum. Whether rows are missing is compared at once in sets of up to
 * `rowsPerCheck` rows, and in all sets by a pass over all tables: at the start, and then once an hour.
 */
import { type Clock, errorText, type Log, PlatformError } from '@platform/base';
import { sql } from 'kysely';
import type { Database } from '../tables.ts';
import {
  type Bucket,
  bucketOfRow,
  type CheckedTable,
  dayUs,
  isRowRight,
  nameOfRow,
  RowSum,
  words,
} from './checked-table.ts';
import { refillRowChecks } from './fill-row-checks.ts';
import { findRowDamage, incompleteText, type RowDamage } from './find-row-damage.ts';
import type { RowReader } from './open-row-reader.ts';
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
    return refusal(damage);
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
          await clock.sleep(failure === undefined ? periodMs : retryMs, ended.signal).catch(() => {});
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
      for (const row of rows as readonly Readonly<Record<string, unknown>>[]) {
        if (isRowRight(table, row)) continue;
        throw note({
          table: table.table,
          ...bucketOfRow(table, row),
          text: `${nameOfRow(table, row)}: its row in ${table.table} was altered or added`,
        });
      }
    },
    async requireComplete(table, owners, days = {}) {
      const isAsked = ({ table: damaged, owner, day }: RowDamage): boolean =>
        damaged === table.table &&
        owners.includes(owner) &&
        day >= (days.from ?? Number.NEGATIVE_INFINITY) &&
        day <= (days.to ?? Number.POSITIVE_INFINITY);
      const damaged = known.find(isAsked);
      if (damaged !== undefined) throw refusal(damaged);
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

/** Compares the sets of an owner with their proofs, in one statement, if they are small. */
async function incompleteSet(
  db: Database,
  table: CheckedTable,
  owner: string,
  days: DayRange,
): Promise<RowDamage | undefined> {
  const { from, to } = days;
  const proven = sql`table_name = ${table.table} and owner = ${owner} ${from === undefined ? sql`` : sql`and "day" >= ${from}`} ${to === undefined ? sql`` : sql`and "day" <= ${to}`}`;
  const size = await sql<{ rows: number | null }>`select sum("rows") as "rows" from row_proofs where ${proven}`.execute(
    db,
  );
  if (Number(size.rows[0]?.rows ?? 0) > rowsPerCheck) return undefined;
  const name = table.table;
  const nulls = sql.raw(words.map((word) => `cast(null as bigint) as word_${word}`).join(', '));
  const owned = table.owner === undefined ? sql`1 = 1` : sql`${sql.ref(table.owner)} = ${owner}`;
  const time = table.time === undefined ? undefined : sql.ref(table.time);
  const since = time === undefined || from === undefined ? sql`` : sql`and ${time} >= ${from * dayUs}`;
  const before = time === undefined || to === undefined ? sql`` : sql`and ${time} < ${to * dayUs + dayUs}`;
  const sums = sql.raw(words.map((word) => `word_${word}`).join(', '));
  const { rows } = await sql<Readonly<Record<string, unknown>>>`
    select 'proof' as kind, "day" as "day", "rows" as "rows", cast(null as text) as row_check, ${sums} from row_proofs where ${proven}
    union all
    select * from (select 'row' as kind, ${sql.raw(daySql(table, name))} as "day", 0 as "rows", row_check, ${nulls} from ${sql.table(name)} where ${owned} ${since} ${before} limit ${rowsPerCheck + 1}) as found
  `.execute(db);
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

function refusal({ text }: RowDamage): PlatformError {
  return new PlatformError(
    'data_loss',
    `stored rows were altered (${text}): no partial answers are given. The host administrator can find all damage with platform admin doctor --deep`,
  );
}
