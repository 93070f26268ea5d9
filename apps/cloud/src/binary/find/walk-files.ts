/**
 * Walks the files that a filter can match, some thousands at a time. SQLite is read on the main thread, so one query over a million files
 * would block all other requests. Other work runs between two slices.
 */
import { setImmediate } from 'node:timers/promises';
import type { Filter } from '@platform/proto/platform/app/data/v1/data';
import { type Expression, type SqlBool, sql } from 'kysely';
import type { Database } from '../../metadata/tables.ts';
import { organizationsIn, type Scopes } from '../scopes.ts';
import { type DataExpressions, intervalConditions, matching } from './filter.ts';
import { keysetAfter, keysetUpTo } from './keyset-condition.ts';
import type { PagePlace } from './page-token.ts';

const sliceRows = 2_000;
/** With more locations than this, their organizations are walked instead. */
const maxLocations = 8;

export interface Walk {
  readonly filter: Filter;
  readonly scopes: Scopes;
  readonly direction: 'asc' | 'desc';
  /** Where to continue; undefined: from the beginning. */
  readonly after?: PagePlace | undefined;
  /** Files whose retention has ended by now are hidden (D24). */
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /** Rows in the first slice, if few are wanted; the next ones grow. Default: `sliceRows`. */
  readonly firstRows?: number | undefined;
}

/** Selects the matching files of a slice. */
export type SliceCondition = (eb: DataExpressions) => Expression<SqlBool>;

/** For each anchor, slices that together hold everything that matches, in order; anchors share no file. */
export function walksOf(db: Database, walk: Walk): AsyncIterable<SliceCondition>[] {
  return anchorsOf(walk.filter, walk.scopes).map((anchor) => slicesOf(db, anchor, walk));
}

/** Walks all anchors, one after another. */
export async function* walkFiles(db: Database, walk: Walk): AsyncIterable<SliceCondition> {
  for (const slices of walksOf(db, walk)) yield* slices;
}

/** The first column of an index, followed by time and id. */
interface Anchor {
  readonly column: 'organization_id' | 'location_id' | 'part_id';
  readonly value: string;
}

function anchorsOf({ partId, locationIds, organizationIds }: Filter, scopes: Scopes): readonly Anchor[] {
  if (partId !== '') return [{ column: 'part_id', value: partId }];
  const scopedLocations = scopes.flatMap((scope) => scope.locationIds ?? []);
  const isByLocation = scopes.every((scope) => scope.locationIds !== null && !scope.robotIds?.length);
  const locations = new Set(locationIds.length > 0 ? locationIds : isByLocation ? scopedLocations : []);
  if (locations.size > 0 && locations.size <= maxLocations)
    return [...locations].map((value) => ({ column: 'location_id', value }));
  return organizationsIn(scopes, organizationIds).map((value) => ({ column: 'organization_id', value }));
}

async function* slicesOf(
  db: Database,
  { column, value }: Anchor,
  { filter, scopes, direction, after, nowMs, signal, firstRows = sliceRows }: Walk,
): AsyncIterable<SliceCondition> {
  let rows = Math.min(firstRows, sliceRows);
  for (let from = after; ; rows = Math.min(rows * 4, sliceRows)) {
    const end: PagePlace | undefined = await db
      .selectFrom('binary_data')
      .select(['captured_us as at', 'id'])
      .where(column, '=', value)
      .where((eb) =>
        eb.and([...intervalConditions(eb, filter), keysetAfter('binary_data.captured_us', from, direction)]),
      )
      .orderBy('captured_us', direction)
      .orderBy('id', direction)
      .offset(rows - 1)
      .limit(1)
      .executeTakeFirst();
    const start = from;
    yield (eb) =>
      eb.and([
        sql<SqlBool>`${sql.ref(`binary_data.${column}`)} = ${value}`,
        keysetAfter('binary_data.captured_us', start, direction),
        keysetUpTo('binary_data.captured_us', end, direction),
        matching(eb, filter, scopes, nowMs),
      ]);
    if (end === undefined) return;
    from = end;
    await setImmediate();
    signal.throwIfAborted();
  }
}
