/** How much of a file a deletion covers, as far as the catalog knows (I10). */
import type { SeriesColumn } from '@platform/query';
import { type Delete, type DeletePredicate, type FileRanges, isAmong, type PathRule } from '../catalog/row-filter.ts';
import type { PathSets } from '../catalog/series.ts';

export interface ListedRanges extends Pick<FileRanges, 'captureDay' | 'pathSets' | 'timeReceived'> {
  /** Absent: not known. */
  readonly positions?: { readonly min: number; readonly max: number };
}

/** `some` may turn out to be no row at all; `whole` is definitely every row. */
export type Coverage = 'none' | 'some' | 'whole';

export function coverageOf(file: ListedRanges, { predicate, upTo }: Delete): Coverage {
  const { paths = {}, except = [], beforeDay, receivedBefore, sparesHot: _, ...others } = predicate;
  const { positions, timeReceived } = file;
  if (positions !== undefined && positions.min > upTo) return 'none';
  if (beforeDay !== undefined && file.captureDay >= beforeDay) return 'none';
  if (receivedBefore !== undefined && timeReceived.min !== null && timeReceived.min >= receivedBefore) return 'none';
  const named = namedIn(file.pathSets, paths);
  if (named === 'none') return 'none';
  const spared = except.map((rule) => namedIn(file.pathSets, rule));
  if (spared.includes('whole')) return 'none';
  const isWhole =
    named === 'whole' &&
    spared.every((each) => each === 'none') &&
    (positions?.max ?? Number.MAX_SAFE_INTEGER) <= upTo &&
    (receivedBefore === undefined || timeReceived.max === null || timeReceived.max < receivedBefore) &&
    Object.values(others).every((member) => member === undefined);
  return isWhole ? 'whole' : 'some';
}

/** Whether the deletions cover every row: one of them alone, or several that each cover some of the parts. */
export function isWhollyDeleted(file: ListedRanges, deletes: readonly Delete[]): boolean {
  const parts = new Set<string>();
  for (const deletion of deletes) {
    const { paths: { part_id, ...others } = {}, ...rest } = deletion.predicate;
    const coverage = coverageOf(file, deletion);
    if (coverage === 'whole') return true;
    if (coverage === 'none' || part_id === undefined) continue;
    const ofTheseParts: Delete = { upTo: deletion.upTo, predicate: { ...rest, paths: others } };
    if (coverageOf(file, ofTheseParts) === 'whole') for (const id of part_id) parts.add(id);
  }
  return parts.size > 0 && file.pathSets.part_id.every((id) => parts.has(id));
}

function namedIn(sets: PathSets, rule: PathRule): Coverage {
  let found: Coverage = 'whole';
  for (const [column, values] of Object.entries(rule) as [SeriesColumn, readonly string[]][]) {
    const held = sets[column].filter((value) => isAmong(value, values)).length;
    if (held === 0) return 'none';
    if (held < sets[column].length) found = 'some';
  }
  return found;
}

/** The deletion restricted to values that occur in this file; it covers the same rows of it. */
export function narrowDelete({ predicate, upTo }: Delete, { pathSets }: Pick<ListedRanges, 'pathSets'>): Delete {
  const { paths, except } = predicate;
  const within = (rule: PathRule): PathRule =>
    Object.fromEntries(
      Object.entries(rule).map(([column, values]) => [
        column,
        pathSets[column as SeriesColumn].filter((value) => isAmong(value, values)),
      ]),
    );
  const named = except?.filter((rule) => namedIn(pathSets, rule) !== 'none').map(within);
  return { upTo, predicate: { ...predicate, ...(paths && { paths: within(paths) }), ...(named && { except: named }) } };
}

/** The predicate without the series that the hot store still holds on this day. */
export function excludePaths(predicate: DeletePredicate, held: readonly PathRule[]): DeletePredicate {
  return held.length === 0 ? predicate : { ...predicate, except: [...(predicate.except ?? []), ...held] };
}
