/** SQL of the rows of a source that a deletion covers (I10). */
import { coversSeries, type Delete } from '../row-filter.ts';
import type { Series } from '../series.ts';
import { dayNumber } from './capture-day.ts';
import { ofSeries } from './of-series.ts';
import type { Source } from './source.ts';

/**
 * @param numbers of the series whose rows are looked at; others are not there.
 * @returns undefined when it covers none of them.
 */
export function deletedRows(
  { predicate, upTo }: Delete,
  source: Pick<Source, 'series' | 'captureDay' | 'day' | 'time'>,
  bind: (value: bigint) => string,
  numbers: readonly number[] = [...source.series.keys()],
): string | undefined {
  // Most of what retention says is about days long before: not asked for each series.
  const { beforeDay } = predicate;
  if (beforeDay !== undefined && source.captureDay !== undefined && source.captureDay >= beforeDay) return undefined;
  const covered = numbers.filter((number) =>
    coversSeries(source.series[number] as Series, predicate, source.captureDay),
  );
  if (covered.length === 0) return undefined;
  const terms = [`position <= ${bind(BigInt(upTo))}`];
  if (covered.length < numbers.length) terms.push(ofSeries(covered));
  if (beforeDay !== undefined) terms.push(`${source.day} < ${bind(BigInt(dayNumber(beforeDay)))}`);
  // A missing time is the least of all.
  if (predicate.receivedBefore !== undefined)
    terms.push(`${source.time('time_received')} < ${bind(BigInt(predicate.receivedBefore))}`);
  return terms.join(' AND ');
}
