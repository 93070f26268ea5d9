/** Converts a query's filter to the form in which rows are stored. */
import { canonicalApi } from '@platform/base';
import { type PathFilter, type TimeBounds, timeColumns } from '@platform/query';
import type { RowFilter, TimeRange } from '../catalog/row-filter.ts';

/**
 * A peer's `rdk:` spelling becomes ours (D2); ranges over spellings do not apply to stored rows. Queries see whole milliseconds, so a bound
 * covers all microseconds within its millisecond (D35).
 */
export function storedFilter({ columns: given, times }: PathFilter): RowFilter {
  const { component_type: componentType, ...others } = given;
  const columns =
    componentType?.in === undefined
      ? others
      : { ...others, component_type: { in: componentType.in.map(canonicalApi) } };
  const ranges: { -readonly [column in keyof RowFilter['times']]: TimeRange } = {};
  for (const column of timeColumns) {
    const bounds = times[column];
    if (bounds !== undefined) ranges[column] = rangeOf(bounds);
  }
  return { columns, times: ranges };
}

function rangeOf({ fromMs, toMs }: TimeBounds): TimeRange {
  return {
    ...(fromMs !== undefined && { from: microseconds(fromMs, 0n) }),
    ...(toMs !== undefined && { to: microseconds(toMs, 999n) }),
  };
}

/** The smallest int64 stands for a missing time. */
const int64 = { min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n };

function microseconds(ms: number, extra: bigint): bigint {
  const exact = BigInt(Math.trunc(ms)) * 1_000n + extra;
  return exact < int64.min ? int64.min : exact > int64.max ? int64.max : exact;
}
