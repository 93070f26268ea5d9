/** Finds files: by id, or a page of those that match a filter. Only files in the given scopes are found. */
import { chunks } from '@platform/base';
import type { BinaryID, Filter, Order } from '@platform/proto/platform/app/data/v1/data';
import { Order as Orders } from '@platform/proto/platform/app/data/v1/data';
import { notVisible } from '../../access/principal.ts';
import { dayOfUs } from '../../metadata/row-checks/checked-table.ts';
import type { DayRange } from '../../metadata/row-checks/require-complete.ts';
import type { RowWatch } from '../../metadata/row-checks/row-watch.ts';
import { rowsPerStatement } from '../../metadata/rows-per-statement.ts';
import type { Database } from '../../metadata/tables.ts';
import { requireSome } from '../../text-rules/require-at-most.ts';
import type { BinaryOperationDeps } from '../binary-deps.ts';
import { maxNamed } from '../limits.ts';
import { isKept } from '../retention-days/is-kept.ts';
import { organizationsIn, type Scopes } from '../scopes.ts';
import { type BinaryTables, files, retentionDays } from '../store.ts';
import { microsecondsOf } from '../times.ts';
import { inScopes } from './filter.ts';
import { asCovered, type FoundFile, foundFiles } from './found-files.ts';
import type { PagePlace } from './page-token.ts';
import { requireBoxes, requireFoundBy } from './require-labels.ts';
import { walkFiles, walksOf } from './walk-files.ts';

export type FileRow = BinaryTables['binary_data'];

/** A file as identified by a request. */
export interface NamedFile {
  readonly id: string;
  /** Empty: not given. */
  readonly organizationId: string;
  readonly locationId: string;
}

/** Distinct files, however the client names them. @throws invalid_argument */
export function namedFiles(ids: readonly string[], older: readonly BinaryID[]): readonly NamedFile[] {
  const named = [
    ...ids.map((id) => ({ id, organizationId: '', locationId: '' })),
    ...older.map(({ fileId, organizationId, locationId }) => ({ id: fileId, organizationId, locationId })),
  ];
  requireSome('binary_data_ids', maxNamed, named.length, ' ids');
  return [...new Map(named.map((one) => [one.id, one])).values()];
}

export type FindFilesDeps = Pick<BinaryOperationDeps, 'db' | 'rows'>;

/**
 * In the order of the request.
 *
 * @throws not_found when one of them is not in the scopes, or not at its stated place; data_loss when its row was altered, or could be one
 * of those that are known to be missing
 */
export async function filesNamed(
  { db, rows: watch }: FindFilesDeps,
  named: readonly NamedFile[],
  scopes: Scopes,
  nowMs: number,
): Promise<readonly FileRow[]> {
  const found = new Map<string, FileRow>();
  for (const some of chunks(named, rowsPerStatement)) {
    const ids = some.map(({ id }) => id);
    const rows = await db
      .selectFrom('binary_data')
      .selectAll()
      .where('id', 'in', ids)
      .where(inScopes(scopes))
      .where(isKept(nowMs))
      .execute();
    watch.requireRight(files, rows);
    for (const row of rows) found.set(row.id, row);
  }
  const organizations = new Set([...found.values()].map((row) => row.organization_id));
  await watch.requireIntact(retentionDays, [...organizations]);
  if (found.size < named.length) await requireFiles(watch, organizationsIn(scopes, []), {});
  return named.map(({ id, organizationId, locationId }) => {
    const row = found.get(id);
    const isThere = organizationId === '' || organizationId === row?.organization_id;
    const isHere = locationId === '' || locationId === row?.location_id;
    if (row === undefined || !isThere || !isHere) throw notVisible('binary data', id);
    return row;
  });
}

export interface Page {
  readonly filter: Filter;
  readonly scopes: Scopes;
  readonly after: PagePlace | undefined;
  readonly order: Order;
  readonly limit: number;
  readonly nowMs: number;
}

/** Newest first, unless the order says otherwise. */
export async function pageOfFiles(
  { db, rows: watch }: FindFilesDeps,
  { filter, scopes, after, order, limit, nowMs }: Page,
  signal: AbortSignal,
): Promise<readonly FileRow[]> {
  const direction = order === Orders.ASCENDING ? 'asc' : 'desc';
  const found: FoundFile[] = [];
  // Twice as many: some may be of other organizations, or expired.
  const firstRows = isSelective(filter) ? undefined : 2 * limit;
  for (const slices of walksOf(db, { filter, scopes, direction, after, nowMs, signal, firstRows })) {
    let left = limit;
    for await (const slice of slices) {
      const rows = await db
        .selectFrom('binary_data')
        .select(asCovered)
        .where(slice)
        .orderBy('captured_us', direction)
        .orderBy('id', direction)
        .limit(left)
        .execute();
      found.push(...(await foundFiles(db, rows)));
      left -= rows.length;
      if (left === 0) break;
    }
  }
  const sign = direction === 'asc' ? 1 : -1;
  const before = (a: FileRow, b: FileRow): boolean =>
    a.captured_us < b.captured_us || (a.captured_us === b.captured_us && a.id < b.id);
  const onPage = found.toSorted((a, b) => (before(a.row, b.row) ? -sign : sign)).slice(0, limit);
  watch.requireCoveredRight(
    files,
    onPage.map(({ stored }) => stored),
  );
  const page = onPage.map(({ row }) => row);
  const days = daysBetween(filter, direction, after, page.length === limit ? page.at(-1) : undefined);
  const organizationIds = organizationsIn(scopes, filter.organizationIds);
  await Promise.all([
    requireFiles(watch, organizationIds, days),
    requireBoxes(watch, organizationIds, days),
    requireFoundBy(watch, { filter, organizationIds, days }),
  ]);
  return page;
}

/** @throws data_loss when files of these organizations and days are known to be missing, or something else changed how long they are kept */
export async function requireFiles(
  watch: Pick<RowWatch, 'requireComplete' | 'requireIntact'>,
  organizationIds: readonly string[],
  days: DayRange,
): Promise<void> {
  await Promise.all([
    watch.requireIntact(retentionDays, organizationIds),
    watch.requireComplete(files, organizationIds, days),
  ]);
}

/** Whether it can leave out many of the rows of a place and time, so that a page needs several times as many. */
function isSelective({ componentName, method, robotName, robotId, partName, mimeType, ...others }: Filter): boolean {
  const { componentType, tagsFilter, bboxLabels, datasetId } = others;
  const texts = [componentName, method, robotName, robotId, partName, componentType, datasetId];
  return texts.some((text) => text !== '') || mimeType.length + bboxLabels.length > 0 || tagsFilter !== undefined;
}

/** The days in which a missing row would have been on the page. @param last undefined: it is the last page */
function daysBetween(
  filter: Filter,
  direction: 'asc' | 'desc',
  after: PagePlace | undefined,
  last: FileRow | undefined,
): DayRange {
  const all = daysOf(filter);
  const first = after === undefined ? undefined : dayOfUs(after.at);
  const end = last === undefined ? undefined : dayOfUs(last.captured_us);
  return direction === 'asc'
    ? { from: first ?? all.from, to: end ?? all.to }
    : { from: end ?? all.from, to: first ?? all.to };
}

/** The days in which files can match. */
export function daysOf({ interval }: Filter): DayRange {
  const { start, end } = interval ?? {};
  return {
    from: start === undefined ? undefined : dayOfUs(microsecondsOf(start)),
    to: end === undefined ? undefined : dayOfUs(microsecondsOf(end)),
  };
}

export async function countFiles(
  db: Database,
  filter: Filter,
  scopes: Scopes,
  nowMs: number,
  signal: AbortSignal,
): Promise<{ readonly count: number; readonly bytes: number }> {
  let [count, bytes] = [0, 0];
  for await (const slice of walkFiles(db, { filter, scopes, direction: 'asc', nowMs, signal })) {
    const row = await db
      .selectFrom('binary_data')
      .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.sum<number | null>('size_bytes').as('bytes')])
      .where(slice)
      .executeTakeFirstOrThrow();
    count += row.count;
    bytes += row.bytes ?? 0;
  }
  return { count, bytes };
}

/** Whether the file is stored and not deleted. */
export async function isListed(db: Database, id: string): Promise<boolean> {
  return (await db.selectFrom('binary_data').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;
}
