/**
 * Refuses answers that altered, missing or added rows could change (D33), and looks for them in the background.
 *
 * Each row that is read for an answer is compared with its checksum. Whether rows are missing is compared at once in sets of up to
 * `rowsPerCheck` rows, and in all sets by a pass over all tables: at the start, and then once an hour, or once a minute while something is
 * damaged.
 */
import { type Clock, type ClockAndLog, errorText, type PlatformError } from '@platform/base';
import type { Database } from '../tables.ts';
import { bucketOfRow, type CheckedTable, separator } from './checked-table.ts';
import { type CoveredRow, isCoveredRight, namedValues } from './covered-text.ts';
import { refillRowChecks } from './fill-row-checks.ts';
import { findRowDamage, type RowDamage } from './find-row-damage.ts';
import type { RowReader } from './open-row-reader.ts';
import { type DayRange, incompleteSet, wrongSet } from './require-complete.ts';
import { alteredRows, alteredText } from './require-right.ts';
import { RightRows } from './right-rows.ts';
import type { StoreKind } from './row-check-sql.ts';

export interface RowWatch extends AsyncDisposable {
  /** Looks for damage in the background from now on. */
  start(): void;
  /** Looks at all rows once. Returns what is damaged. */
  look(): Promise<readonly string[]>;
  /** Takes the rows of damaged tables as they are now. Returns what was damaged. */
  accept(): Promise<readonly string[]>;
  /** @throws data_loss that names the first row that was altered or added */
  requireRight(table: CheckedTable, rows: readonly object[]): void;
  /** The same for rows of a table without bytes, read as text. */
  requireCoveredRight(table: CheckedTable, rows: readonly CoveredRow[]): void;
  /** @param days if the table is divided by day. @throws data_loss when rows are known to be missing there */
  requireComplete(table: CheckedTable, owners: readonly string[], days?: DayRange): Promise<void>;
  /**
   * For rows that a statement uses without reading them: also compares their values, at most every 2 s.
   *
   * @param days if the table is divided by day. @throws data_loss when one of these sets was altered
   */
  requireIntact(table: CheckedTable, owners: readonly string[], days?: DayRange): Promise<void>;
  /** What is known to be damaged, for the host administrator. */
  damages(): readonly string[];
}

export interface RowWatchDeps extends ClockAndLog {
  readonly db: Database;
  readonly tables: readonly CheckedTable[];
  readonly kind: StoreKind;
  readonly openReader: (signal: AbortSignal) => Promise<RowReader>;
}

const rowsPerCheck = 1_000;
/** How long sets are taken to be larger than that, so that a list of them costs no statement more; at most so many sets are remembered. */
const largeMs = 60_000;
const maxRemembered = 1_000;
/** How long a set is taken to be intact. */
const intactMs = 2_000;

type Row = Readonly<Record<string, unknown>>;
const periodMs = 3_600_000;
const retryMs = 60_000;

export function createRowWatch({ db, tables, kind, openReader, clock, log }: RowWatchDeps): RowWatch {
  const ended = new AbortController();
  let known: readonly RowDamage[] = [];
  let loop: Promise<void> | undefined;
  /** Sets with more than `rowsPerCheck` rows, which are not counted again for a while. */
  const large = new RememberedSets(clock);

  /** Sets that were found intact, which are not compared again for a while. */
  const intact = new RememberedSets(clock);
  const right = new RightRows();

  const note = (damage: RowDamage): PlatformError => {
    if (!known.some(({ text }) => text === damage.text)) {
      known = [...known, damage];
      report(damage);
    }
    return alteredRows(damage);
  };
  const report = ({ text: reason }: RowDamage): void =>
    log.error(
      'stored rows were changed by something other than the cloud; answers that they could affect are refused',
      { reason },
    );

  const look = async (): Promise<readonly string[]> => {
    await using reader = await openReader(ended.signal);
    const { damages } = await findRowDamage(reader, tables);
    for (const damage of damages) if (!known.some(({ text }) => text === damage.text)) report(damage);
    if (known.length > 0 && damages.length === 0) log.info('the stored rows are as they were written again', {});
    known = damages;
    return damages.map(({ text }) => text);
  };

  const repeat = async (what: () => Promise<unknown>): Promise<void> => {
    while (!ended.signal.aborted) {
      const failure = await what().then(() => undefined, errorText);
      if (failure !== undefined && !ended.signal.aborted)
        log.warn('the stored rows could not be compared with their checksums', { error: failure });
      const isWell = failure === undefined && known.length === 0;
      await clock.sleep(isWell ? periodMs : retryMs, ended.signal).catch(() => {});
    }
  };

  return {
    start() {
      loop ??= repeat(look);
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
      const wrong = right.firstWrong(table, rows as readonly Row[]);
      if (wrong !== undefined) throw note(wrong);
    },
    requireCoveredRight(table, rows) {
      const wrong = rows.find((row) => !isCoveredRight(row));
      if (wrong === undefined) return;
      const row = namedValues(table, wrong.covered.split(separator));
      throw note({ table: table.table, ...bucketOfRow(table, row), text: alteredText(table, row) });
    },
    async requireComplete(table, owners, days = {}) {
      const damaged = known.filter((damage) => isOfSets(damage, table, owners, days));
      if (damaged.length > 0 && !(await isRepaired(db, table, damaged))) throw alteredRows(damaged[0] ?? { text: '' });
      if (damaged.length > 0) {
        known = known.filter((damage) => !damaged.includes(damage));
        log.info('altered rows are as they were written again', { rows: damaged.map(({ text }) => text) });
      }
      for (const owner of owners) {
        const set = JSON.stringify([table.table, owner, days.from, days.to]);
        if (large.has(set)) continue;
        const wrong = await incompleteSet(db, table, owner, days, rowsPerCheck);
        if (wrong === 'large') large.add(set, largeMs);
        else if (wrong !== undefined) throw note(wrong);
      }
    },
    async requireIntact(table, owners, days = {}) {
      for (const owner of owners) {
        const set = JSON.stringify([table.table, owner, days.from, days.to]);
        if (intact.has(set)) continue;
        const wrong = await wrongSet(db, table, owner, days, rowsPerCheck);
        const damage = wrong === 'large' ? known.find((each) => isOfSets(each, table, [owner], days)) : wrong;
        if (damage !== undefined) throw note(damage);
        intact.add(set, wrong === 'large' ? largeMs : intactMs);
      }
    },
    damages: () => known.map(({ text }) => text),
    async [Symbol.asyncDispose]() {
      ended.abort();
      await loop;
    },
  };
}

function isOfSets(
  { table, owner, day }: RowDamage,
  of: CheckedTable,
  owners: readonly string[],
  { from, to }: DayRange,
): boolean {
  const isThen = day >= (from ?? Number.NEGATIVE_INFINITY) && day <= (to ?? Number.POSITIVE_INFINITY);
  return isThen && table === of.table && owners.includes(owner);
}

class RememberedSets {
  /** Until when. */
  readonly #known = new Map<string, number>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(set: string): boolean {
    return (this.#known.get(set) ?? 0) > this.#clock.monotonic();
  }

  add(set: string, ms: number): void {
    if (this.#known.size >= maxRemembered) this.#known.clear();
    this.#known.set(set, this.#clock.monotonic() + ms);
  }
}

/** Whether the sets of these damages, if they are small, are as they were written again. */
async function isRepaired(db: Database, table: CheckedTable, damages: readonly RowDamage[]): Promise<boolean> {
  const sets = new Map(damages.map(({ owner, day }) => [`${owner} ${day}`, { owner, day }]));
  for (const { owner, day } of sets.values()) {
    const days = { from: day, to: day };
    if ((await wrongSet(db, table, owner, days, rowsPerCheck)) !== undefined) return false;
  }
  return true;
}
