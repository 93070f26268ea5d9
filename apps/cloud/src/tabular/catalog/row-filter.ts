/**
 * Which rows a query can need at all: scope exactly, path and times as a superset (the executor filters again).
 * The same rules choose files in the parent and series in the child.
 */
import { type PathFilter, type Scope, type SeriesColumn, seriesColumns, type TimeColumn } from '@platform/query';
import type { WantedTags } from '../query/tag-condition.ts';
import type { PathSets, Series } from './series.ts';

/** What a PathFilter means for rows as they are stored: component_type in the `core` vocabulary, times in microseconds. */
export interface RowFilter extends Pick<PathFilter, 'columns'> {
  readonly times: { readonly [column in TimeColumn]?: TimeRange };
}

/** Microseconds since 1970 UTC, both included. Without `from`, rows that lack the time are in it. */
export interface TimeRange {
  readonly from?: bigint;
  readonly to?: bigint;
}

type TextBounds = NonNullable<PathFilter['columns'][SeriesColumn]>;

/** Columns that all must be among the values; a column that is absent may hold anything. */
export type PathRule = Readonly<Partial<Record<SeriesColumn, readonly string[]>>>;

/** What a deletion covers, all members together; a member that is absent covers everything (I10). */
export interface DeletePredicate {
  readonly paths?: PathRule;
  /** Series that it does not cover, whatever `paths` says: those that any of these names. */
  readonly except?: readonly PathRule[];
  /** Series with one of these tags, with any tag, or without. */
  readonly tags?: WantedTags;
  /** Rows whose capture day is before this UTC day, "YYYY-MM-DD". */
  readonly beforeDay?: string;
  /** Rows whose time_received is before this, in microseconds, or missing. */
  readonly receivedBefore?: number;
  /** Of a size limit: it does not hold for the hot store, and its rows stay as long as they are there. */
  readonly sparesHot?: boolean;
}

export interface Delete {
  readonly predicate: DeletePredicate;
  /** Last position that it covers. */
  readonly upTo: number;
}

/** What the catalog knows of a file. */
export interface FileRanges {
  readonly captureDay: string;
  readonly pathSets: PathSets;
  readonly timeReceived: HeldTimes;
  readonly timeRequested: HeldTimes;
}

/** Microseconds. min is null when a row lacks the time, max when every row does. */
export interface HeldTimes {
  readonly min: number | null;
  readonly max: number | null;
}

/** Whether a scope is a whole organization. */
export function isOfAll(scope: Scope): boolean {
  return scope.locationIds === null && scope.robotIds === null;
}

/** Whether the caller may see rows of the series (D26). With neither locations nor machines named, the whole organization. */
export function isInScope(path: Series['path'], scope: Scope): boolean {
  if (path.organization_id !== scope.organizationId) return false;
  if (isOfAll(scope)) return true;
  return (scope.locationIds?.includes(path.location_id) ?? false) || (scope.robotIds?.includes(path.robot_id) ?? false);
}

/** False only if the filter keeps no row of the series. */
export function mayKeepSeries(path: Series['path'], filter: RowFilter): boolean {
  return seriesColumns.every((column) => isWithin(path[column], filter.columns[column]));
}

/** Whether a deletion covers the series on at least some days; on this capture day, if one is given. */
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

/** Lists of the parts of a fleet are asked for every series and query. */
const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

/** @param values never changed: what is made of a long list is kept. */
export function isAmong(value: string, values: readonly string[]): boolean {
  if (values.length < 8) return values.includes(value);
  let set = sets.get(values);
  if (set === undefined) {
    set = new Set(values);
    sets.set(values, set);
  }
  return set.has(value);
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
  if (bounds?.in !== undefined && !isListed(value, bounds.in)) return false;
  // JavaScript orders text by UTF-16 unit, the executor by code point: where they may differ, the row is kept.
  if (bounds?.from !== undefined && isBasic(value) && isBasic(bounds.from) && value < bounds.from) return false;
  if (bounds?.to !== undefined && isBasic(value) && isBasic(bounds.to) && value > bounds.to) return false;
  return true;
}

/** Lists are as long as a query may be, and are asked for each series of each file. */
function isListed(value: string, list: readonly string[]): boolean {
  if (list.length < 16) return list.includes(value);
  let known = listed.get(list);
  if (known === undefined) {
    known = new Set(list);
    listed.set(list, known);
  }
  return known.has(value);
}

const listed = new WeakMap<readonly string[], ReadonlySet<string>>();

function isBasic(text: string): boolean {
  return !/[\ud800-\udfff]/.test(text);
}

/** A missing time may be "less" than any. */
function overlap(held: HeldTimes, wanted: TimeRange | undefined): boolean {
  const { from, to } = wanted ?? {};
  if (from !== undefined && (held.max ?? Number.NEGATIVE_INFINITY) < least(from, catalogTime.max)) return false;
  return to === undefined || (held.min ?? Number.NEGATIVE_INFINITY) <= greatest(to, catalogTime.min);
}

function least(microseconds: bigint, limit: number): bigint {
  return microseconds < limit ? microseconds : BigInt(limit);
}

function greatest(microseconds: bigint, limit: number): bigint {
  return microseconds > limit ? microseconds : BigInt(limit);
}

/** The catalog's times are clamped to what a JavaScript number holds exactly; the clocks beyond are wrong by centuries. */
export const catalogTime: { readonly min: number; readonly max: number } = {
  min: Number.MIN_SAFE_INTEGER,
  max: Number.MAX_SAFE_INTEGER,
};
