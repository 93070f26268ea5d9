/**
 * Which rows a query can need: an exact filter by scope, and a superset by path and times (the executor filters again). The same rules
 * choose files in the parent process and series in the child.
 */
import { memoized } from '@platform/base';
import { type PathFilter, type Scope, type SeriesColumn, seriesColumns, type TimeColumn } from '@platform/query';
import type { WantedTags } from '../query/tag-condition.ts';
import type { PathSets, Series } from './series.ts';

/** A PathFilter in terms of stored rows: component_type in the `core` vocabulary, times in microseconds. */
export interface RowFilter extends Pick<PathFilter, 'columns'> {
  readonly times: { readonly [column in TimeColumn]?: TimeRange };
}

/** Microseconds since 1970 UTC, both ends included. Without `from`, rows that lack the time match too. */
export interface TimeRange {
  readonly from?: bigint;
  readonly to?: bigint;
}

type TextBounds = NonNullable<PathFilter['columns'][SeriesColumn]>;

/** Every listed column must have one of its values; an absent column may have any. */
export type PathRule = Readonly<Partial<Record<SeriesColumn, readonly string[]>>>;

/** Which rows a deletion covers. All members must match; an absent member matches everything (I10). */
export interface DeletePredicate {
  readonly paths?: PathRule;
  /** Series that are not covered, whatever `paths` says: those that match any of these rules. */
  readonly except?: readonly PathRule[];
  /** Series with one of these tags, with any tag, or without tags. */
  readonly tags?: WantedTags;
  /** Rows whose capture day is before this UTC day, "YYYY-MM-DD". */
  readonly beforeDay?: string;
  /** Rows whose time_received is before this, in microseconds, or missing. */
  readonly receivedBefore?: number;
  /** Set by size limits: the rule does not apply to the hot store, whose rows stay for its full window. */
  readonly sparesHot?: boolean;
}

export interface Delete {
  readonly predicate: DeletePredicate;
  /** Last position that the deletion covers. */
  readonly upTo: number;
}

/** What the catalog knows about a file. */
export interface FileRanges {
  readonly captureDay: string;
  readonly pathSets: PathSets;
  readonly timeReceived: HeldTimes;
  readonly timeRequested: HeldTimes;
}

/** Microseconds. min is null when at least one row lacks the time, max when every row does. */
export interface HeldTimes {
  readonly min: number | null;
  readonly max: number | null;
}

/** Whether a scope covers a whole organization. */
export function isOfAll(scope: Scope): boolean {
  return scope.locationIds === null && scope.robotIds === null;
}

/**
 * Whether the caller may see rows of the series (D26). If neither locations nor machines are named, the scope is the whole organization.
 */
export function isInScope(path: Series['path'], scope: Scope): boolean {
  if (path.organization_id !== scope.organizationId) return false;
  if (isOfAll(scope)) return true;
  return (scope.locationIds?.includes(path.location_id) ?? false) || (scope.robotIds?.includes(path.robot_id) ?? false);
}

/** False only if the filter keeps no row of the series. */
export function mayKeepSeries(path: Series['path'], filter: RowFilter): boolean {
  return seriesColumns.every((column) => isWithin(path[column], filter.columns[column]));
}

/** Whether a deletion covers the series on at least some days, or on this capture day if one is given. */
export function coversSeries(
  { path, tags }: Pick<Series, 'path' | 'tags'>,
  predicate: DeletePredicate,
  captureDay?: string,
): boolean {
  const { paths = {}, except = [], beforeDay } = predicate;
  if (beforeDay !== undefined && captureDay !== undefined && captureDay >= beforeDay) return false;
  if (!isTagged(tags, predicate.tags)) return false;
  return isNamed(path, paths) && !except.some((rule) => isNamed(path, rule));
}

function isTagged(tags: readonly string[], wanted: DeletePredicate['tags']): boolean {
  if (wanted === undefined) return true;
  if (wanted === 'some') return tags.length > 0;
  if (wanted === 'none') return tags.length === 0;
  return tags.some((tag) => wanted.includes(tag));
}

function isNamed(path: Series['path'], rule: PathRule): boolean {
  for (const column in rule)
    if (!isAmong(path[column as SeriesColumn], rule[column as SeriesColumn] ?? [])) return false;
  return true;
}

/** Lists can be as long as a query or a fleet, and are checked for each series of each file. */
const setOf = memoized((values: readonly string[]): ReadonlySet<string> => new Set(values));

/** @param values must never change: the set built from a long list is cached. */
export function isAmong(value: string, values: readonly string[]): boolean {
  return values.length < 8 ? values.includes(value) : setOf(values).has(value);
}

/** False only if no row of the file can be needed. */
export function mayHoldRows(file: FileRanges, scope: Scope, filter: RowFilter): boolean {
  const { pathSets } = file;
  const holds = (column: SeriesColumn, values: readonly string[]): boolean =>
    pathSets[column].some((value) => values.includes(value));
  if (!holds('organization_id', [scope.organizationId])) return false;
  if (!isOfAll(scope) && !holds('location_id', scope.locationIds ?? []) && !holds('robot_id', scope.robotIds ?? []))
    return false;
  if (!isWithin(file.captureDay, filter.columns.capture_day)) return false;
  if (!seriesColumns.every((column) => pathSets[column].some((value) => isWithin(value, filter.columns[column]))))
    return false;
  return (
    overlap(file.timeReceived, filter.times.time_received) && overlap(file.timeRequested, filter.times.time_requested)
  );
}

function isWithin(value: string, bounds: TextBounds | undefined): boolean {
  if (bounds?.in !== undefined && !isAmong(value, bounds.in)) return false;
  // JavaScript orders text by UTF-16 unit, the executor by code point. Where the two may differ, the row is kept.
  if (bounds?.from !== undefined && isBasic(value) && isBasic(bounds.from) && value < bounds.from) return false;
  if (bounds?.to !== undefined && isBasic(value) && isBasic(bounds.to) && value > bounds.to) return false;
  return true;
}

function isBasic(text: string): boolean {
  return !/[\ud800-\udfff]/.test(text);
}

/** A missing time may compare as less than any time. */
function overlap(held: HeldTimes, wanted: TimeRange | undefined): boolean {
  const { from, to } = wanted ?? {};
  if (from !== undefined && (held.max ?? Number.NEGATIVE_INFINITY) < Math.min(Number(from), catalogTime.max))
    return false;
  return to === undefined || (held.min ?? Number.NEGATIVE_INFINITY) <= Math.max(Number(to), catalogTime.min);
}

/** Catalog times are clamped to the integers that a JavaScript number represents exactly; times beyond are wrong by centuries anyway. */
export const catalogTime: { readonly min: number; readonly max: number } = {
  min: Number.MIN_SAFE_INTEGER,
  max: Number.MAX_SAFE_INTEGER,
};
