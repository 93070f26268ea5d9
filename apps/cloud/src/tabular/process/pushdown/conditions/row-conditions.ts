/** SQL for the rows of a file that a query can see: those of wanted series, within the times of its filters, and not deleted. */
import { timeColumns } from '@platform/query';
import type { ScanRequest } from '../../messages.ts';
import { deletedRows } from '../../query/deleted-rows.ts';
import type { OpenFile } from '../open-files.ts';
import { inSeries } from './condition.ts';
import { timeFacts } from './operand.ts';
import type { Binds, Sql } from './sql.ts';

/** @param numbers wanted series, of those that the file has for the query */
export function rowConditions(
  file: OpenFile,
  numbers: readonly number[],
  request: ScanRequest,
  binds: Binds,
): readonly Sql[] {
  const { series } = file.facts;
  const where: Sql[] = [inSeries(numbers, series.length)];
  const bind = (value: bigint): string => binds.of({ type: 'bigint', value });
  if (file.upTo !== undefined) where.push(`position <= ${bind(BigInt(file.upTo))}`);
  for (const column of timeColumns) {
    const bounds = request.filter.times[column];
    if (bounds === undefined) continue;
    const held = numbers.map((number) => (series[number] as (typeof series)[number])[timeFacts[column]]);
    const { from, to } = bounds;
    if (from !== undefined && held.some(({ min, missing }) => missing > 0 || min === null || min < from))
      where.push(`${column} >= ${bind(from)}`);
    if (to === undefined || held.every(({ max }) => max === null || max <= to)) continue;
    // Without a lower bound, rows without a time are kept: some comparisons treat a missing time as less than any time.
    const below = `${column} <= ${bind(to)}`;
    where.push(
      from === undefined && held.some(({ missing }) => missing > 0) ? `(${below} OR ${column} IS NULL)` : below,
    );
  }
  return [...where, ...notDeleted(file, numbers, request, binds)];
}

function notDeleted(
  { captureDay, facts }: OpenFile,
  numbers: readonly number[],
  { deletes }: ScanRequest,
  binds: Binds,
): readonly Sql[] {
  if (deletes.length === 0) return [];
  const source = { series: facts.series, captureDay };
  const where: Sql[] = [];
  for (const deletion of deletes) {
    const covered = deletedRows(deletion, source, (value) => binds.of({ type: 'bigint', value }), numbers);
    if (covered !== undefined) where.push(`NOT (${covered})`);
  }
  return where;
}
