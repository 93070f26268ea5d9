/** Counts the logical bytes that an organization's queries scan in a UTC month, and refuses queries over the limit (D26). */
import { type Clock, errorText, getOrInsert, type Log, resourceExhausted } from '@platform/base';
import { sql } from 'kysely';
import { type CoveredRow, coveredText, isCoveredRight, valuesOf } from '../../metadata/row-checks/covered-text.ts';
import { readProvenSets } from '../../metadata/row-checks/read-proven-sets.ts';
import { provenRows } from '../../metadata/row-checks/require-complete.ts';
import type { Database } from '../../metadata/tables.ts';
import { queryUsage } from '../store.ts';

export interface Reservation {
  /** Bytes used in the month so far, and its limit; absent: the query counts towards no limit. */
  readonly month?: { readonly usedBytes: number; readonly limitBytes: number };
  /**
   * Ends the reservation and counts the bytes actually scanned. Callers do not wait for the write: until then the bytes count as reserved.
   */
  settle(scannedBytes: number): void;
}

/** The month, including what a query has scanned. */
export function monthWith({ month }: Reservation, scannedBytes: number): Pick<Reservation, 'month'> {
  return month ? { month: { ...month, usedBytes: month.usedBytes + scannedBytes } } : {};
}

export interface ScanMeter {
  /**
   * Reserves the bytes that a query may scan.
   *
   * @throws resource_exhausted when the month's limit would be exceeded; data_loss when what the organization has used was altered
   */
  reserve(organizationId: string, bytes: number): Promise<Reservation>;
  /** Resolves when all settled usage is written. */
  settled(): Promise<void>;
}

/** For queries that count towards no limit. */
export const noReservation: Reservation = { settle: () => {} };

/** Syncing the disk for each query would delay uploads. Usage not yet written when the process crashes is not counted. */
const writeEveryMs = 250;

interface Usage {
  readonly organizationId: string;
  readonly month: string;
  scannedBytes: number;
  queries: number;
}

/** The month of usage: `YYYY-MM` in UTC. */
export function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7);
}

interface UsedMonth extends CoveredRow {
  /** Months of the organization, and how many its proof counts. */
  readonly months: number;
  readonly proven: number | null;
}

/** @throws data_loss when the usage of the organization was altered, or is missing */
export async function scannedBytes(db: Database, organizationId: string, month: string): Promise<number> {
  const { rows } = await sql<UsedMonth>`
    select ${coveredText(queryUsage)} as covered, row_check as row_check, ${provenRows(queryUsage, 'tabular_usage.organization_id')} as proven,
      (select count(*) from tabular_usage as each_month where each_month.organization_id = tabular_usage.organization_id) as months
    from tabular_usage where organization_id = ${organizationId} and month = ${month}
  `.execute(db);
  const [used] = rows;
  // Right, and none is missing. Otherwise all of them say what is wrong, or that the month has none yet.
  if (used !== undefined && isCoveredRight(used) && Number(used.months) === Number(used.proven))
    return bytesOf(valuesOf(queryUsage, used.covered));
  const all = await readProvenSets(db, queryUsage, organizationId);
  return bytesOf(all.find(([, of]) => of === month));
}

function bytesOf(values: readonly string[] | undefined): number {
  return Number(values?.[2] ?? 0);
}

export function createScanMeter(options: {
  db: Database;
  clock: Clock;
  log: Log;
  monthlyBytesOf: (organizationId: string) => number;
  /** Called with what each query scanned. */
  onScanned?: ((organizationId: string, bytes: number) => void) | undefined;
}): ScanMeter {
  const { db, clock, log, monthlyBytesOf, onScanned } = options;
  const reserved = new Map<string, number>();
  /** By organization and month. */
  let unwritten = new Map<string, Usage>();
  let due: Disposable | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  let failing = false;
  const hold = (organizationId: string, bytes: number): void => {
    const held = (reserved.get(organizationId) ?? 0) + bytes;
    if (held > 0) reserved.set(organizationId, held);
    else reserved.delete(organizationId);
  };
  const write = async ({ organizationId, month, scannedBytes, queries }: Usage): Promise<void> => {
    try {
      await db
        .insertInto('tabular_usage')
        .values({ organization_id: organizationId, month, scanned_bytes: scannedBytes, queries })
        .onConflict((conflict) =>
          conflict.columns(['organization_id', 'month']).doUpdateSet(({ ref, val, eb }) => ({
            scanned_bytes: eb(ref('tabular_usage.scanned_bytes'), '+', val(scannedBytes)),
            queries: eb(ref('tabular_usage.queries'), '+', val(queries)),
          })),
        )
        .execute();
      failing = false;
    } catch (caught) {
      if (!failing)
        log.error('the usage of queries cannot be recorded and is not counted', { error: errorText(caught) });
      failing = true;
    }
    // Released only now, so that another query always sees the bytes as reserved or as used.
    hold(organizationId, -scannedBytes);
  };
  const writeAll = (): void => {
    due?.[Symbol.dispose]();
    due = undefined;
    const all = [...unwritten.values()];
    unwritten = new Map();
    writing = Promise.all([writing, ...all.map(write)]);
  };
  return {
    async reserve(organizationId, bytes) {
      const monthlyBytes = monthlyBytesOf(organizationId);
      const month = monthOf(clock.now());
      const before = reserved.get(organizationId) ?? 0;
      const used = await scannedBytes(db, organizationId, month);
      const held = reserved.get(organizationId) ?? 0;
      // Usage settled while the stored usage was read may not be included in it.
      const others = Math.max(before, held);
      if (used + others + bytes > monthlyBytes) {
        throw resourceExhausted(
          `organization ${organizationId} has used ${used} of the ${monthlyBytes} bytes that its queries may process in ${month}, ${others} are in use, and this query would process up to ${bytes}; filter on a shorter time_received range, or ask the host administrator to raise the limit`,
        );
      }
      hold(organizationId, bytes);
      return {
        month: { usedBytes: used + others, limitBytes: monthlyBytes },
        settle(scannedBytes) {
          hold(organizationId, scannedBytes - bytes);
          const key = `${organizationId} ${month}`;
          const usage = getOrInsert(unwritten, key, () => ({ organizationId, month, scannedBytes: 0, queries: 0 }));
          usage.scannedBytes += scannedBytes;
          usage.queries++;
          onScanned?.(organizationId, scannedBytes);
          due ??= clock.after(writeEveryMs, writeAll);
        },
      };
    },
    async settled() {
      writeAll();
      await writing;
    },
  };
}
