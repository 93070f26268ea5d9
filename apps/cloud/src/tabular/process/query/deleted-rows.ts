/** SQL for the rows of a source that a deletion covers (I10). */
import { coversSeries, type Delete } from '../../catalog/row-filter.ts';
import type { Series } from '../../catalog/series.ts';
import { noTime } from '../rows/row-buffer.ts';
import { seriesFilter } from './series-filter.ts';

/** Rows that a deletion may cover. */
export interface DeletedSource {
  readonly series: readonly Pick<Series, 'path' | 'tags'>[];
  /** "YYYY-MM-DD" of all rows. */
  readonly captureDay: string;
  /** Column with the row's number in `series`. Default: series. */
  readonly column?: string;
}

/**
 * @param numbers of the series whose rows are considered
 * @returns undefined when it covers none of them
 */
export function deletedRows(
  { predicate, upTo }: Delete,
  source: DeletedSource,
  bind: (value: bigint) => string,
  numbers: readonly number[] = [...source.series.keys()],
): string | undefined {
  // Most retention rules concern much older days, so the day is checked before the series.
  const { beforeDay } = predicate;
  if (beforeDay !== undefined && source.captureDay >= beforeDay) return undefined;
  const covered = numbers.filter((number) =>
    coversSeries(source.series[number] as Series, predicate, source.captureDay),
  );
  if (covered.length === 0) return undefined;
  const terms = [`position <= ${bind(BigInt(upTo))}`];
  if (covered.length < numbers.length) terms.push(seriesFilter(covered, source.column));
  // A missing time is the least of all.
  if (predicate.receivedBefore !== undefined)
    terms.push(`coalesce(time_received, ${noTime}) < ${bind(BigInt(predicate.receivedBefore))}`);
  return terms.join(' AND ');
}
