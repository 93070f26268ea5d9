/** The rows that a plan's filters on path and times may keep; the store need not check whether other rows make a stage fail. */
import { type Batch, BsonDate, type BsonDocument, batchOf, documentsOf, type Plan, pathFilter } from '@platform/query';
import { mayKeepSeries } from '../../catalog/row-filter.ts';
import type { Series } from '../../catalog/series.ts';
import { storedFilter } from '../../query/stored-filter.ts';

export function neededRows(plan: Plan, rows: Batch): Batch {
  const filter = storedFilter(pathFilter(plan));
  const isWithin = (row: BsonDocument): boolean =>
    (['time_requested', 'time_received', 'time_synced'] as const).every((column) => {
      const { from, to } = filter.times[column] ?? {};
      const time = row.get(column);
      if (!(time instanceof BsonDate)) return from === undefined;
      const microseconds = BigInt(time.ms) * 1_000n;
      return (from === undefined || microseconds >= from) && (to === undefined || microseconds <= to);
    });
  const pathOf = (row: BsonDocument): Series['path'] =>
    Object.fromEntries([...row].filter(([, value]) => typeof value === 'string')) as unknown as Series['path'];
  return batchOf([...documentsOf(rows)].filter((row) => mayKeepSeries(pathOf(row), filter) && isWithin(row)));
}
