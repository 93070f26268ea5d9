/** Reads tables of usage by hour, whose sets are the days of an organization (D33). */
import { dayMs } from '@platform/base';
import type { Kysely } from 'kysely';
import type { CheckedTable } from './checked-table.ts';
import { readProvenSets } from './read-proven-sets.ts';

const daysAtOnce = 31;

/**
 * The rows of an organization. Half open: startMs ≤ hour < endMs.
 *
 * @param table with the organization, the hour in ms and others as columns, in this order
 * @returns the values of each row, in the order of its columns, as text
 * @throws data_loss when one was altered, or rows of its days are missing
 */
export async function readProvenHours<T>(
  db: Kysely<T>,
  table: CheckedTable,
  organizationId: string,
  startMs: number,
  endMs: number,
): Promise<(readonly string[])[]> {
  const rows: (readonly string[])[] = [];
  for (let at = startMs; at < endMs; at += daysAtOnce * dayMs) {
    const end = Math.min(endMs, at + daysAtOnce * dayMs);
    const days = { from: Math.floor(at / dayMs), to: Math.floor((end - 1) / dayMs) };
    for (const row of await readProvenSets(db, table, organizationId, days)) {
      const hour = Number(row[1]);
      // The sets are whole days.
      if (hour >= at && hour < end) rows.push(row);
    }
  }
  return rows;
}
