/**
 * Reads a page of a part's log, newest or oldest first. Order and token use (time, id) of a line, so lines that arrive in between, even
 * late ones with an earlier time, neither shift a page nor appear twice.
 */
import { setImmediate } from 'node:timers/promises';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Clock, invalidArgument } from '@platform/base';
import type { LogEntrySchema } from '@platform/proto/platform/common/v1/common';
import type { LogFilter } from './filter.ts';
import { maxPageBytes, maxScanMs, maxScannedRows, maxSearchMs, scanRows, scanSliceMs } from './limits.ts';
import { bytesOf, entryOf, type StoredLine } from './line.ts';
import type { MachineLogsDatabase } from './store.ts';

export interface LogPageRequest {
  readonly partId: string;
  readonly matches: LogFilter;
  /** At least 1. */
  readonly limit: number;
  /** Default: newest first. */
  readonly oldestFirst?: boolean;
  /** Token of an earlier page in the same order; empty: from the first line. */
  readonly pageToken?: string;
  /** Lines at this time or later, ms. */
  readonly startMs?: number;
  /** Lines before this time, ms. */
  readonly endMs?: number;
  readonly signal?: AbortSignal;
  /** How long to search before returning an empty page. Default and maximum: maxSearchMs. */
  readonly searchMs?: number;
}

export interface LogPage {
  readonly entries: readonly MessageInitShape<typeof LogEntrySchema>[];
  /**
   * Empty: there are no further lines, and this page has none. A page may have fewer lines than its limit and still have a next page; a
   * page without lines has one only after `searchMs`.
   */
  readonly nextPageToken: string;
  /** Size of its lines, as counted by `bytesOf`. */
  readonly bytes: number;
}

interface Place {
  readonly timeMs: number;
  readonly id: number;
}

/** @throws invalid_argument for an invalid token */
export async function readLogPage(db: MachineLogsDatabase, clock: Clock, request: LogPageRequest): Promise<LogPage> {
  const { matches, limit, signal, pageToken = '' } = request;
  const entries: MessageInitShape<typeof LogEntrySchema>[] = [];
  let place = pageToken === '' ? undefined : placeOf(pageToken);
  let bytes = 0;
  let scanned = 0;
  let matchedMs = 0;
  const searchUntilMs = clock.monotonic() + Math.min(request.searchMs ?? maxSearchMs, maxSearchMs);
  const mayGoOn = (): boolean =>
    entries.length === 0 ? clock.monotonic() < searchUntilMs : scanned < maxScannedRows && matchedMs < maxScanMs;
  const page = (nextPageToken: string): LogPage => ({ entries, nextPageToken, bytes });
  do {
    signal?.throwIfAborted();
    const rows = await rowsAfter(db, request, place);
    let sliceStartMs = clock.monotonic();
    for (const row of rows) {
      if (matches(row)) {
        const size = bytesOf(row);
        if (entries.length > 0 && bytes + size > maxPageBytes) return page(tokenOf(place));
        bytes += size;
        entries.push(entryOf(row));
      }
      place = { timeMs: row.time_ms, id: row.id };
      if (entries.length >= limit) return page(tokenOf(place));
      const elapsedMs = clock.monotonic() - sliceStartMs;
      if (elapsedMs < scanSliceMs) continue;
      matchedMs += elapsedMs;
      if (!mayGoOn()) return page(tokenOf(place));
      await setImmediate();
      sliceStartMs = clock.monotonic();
    }
    matchedMs += clock.monotonic() - sliceStartMs;
    scanned += rows.length;
    // Public clients discard the lines of a page without a token.
    if (rows.length < scanRows) return page(entries.length === 0 ? '' : tokenOf(place));
    await setImmediate();
  } while (mayGoOn());
  return page(tokenOf(place));
}

function rowsAfter(
  db: MachineLogsDatabase,
  { partId, startMs, endMs, oldestFirst = false }: LogPageRequest,
  after: Place | undefined,
): Promise<StoredLine[]> {
  const order = oldestFirst ? 'asc' : 'desc';
  const further = oldestFirst ? '>' : '<';
  let query = db.selectFrom('machine_logs').selectAll().where('part_id', '=', partId);
  if (startMs !== undefined) query = query.where('time_ms', '>=', startMs);
  if (endMs !== undefined) query = query.where('time_ms', '<', endMs);
  if (after !== undefined) {
    query = query
      // Implied by the next condition, but the index can use only this one.
      .where('time_ms', oldestFirst ? '>=' : '<=', after.timeMs)
      .where((eb) =>
        eb.or([
          eb('time_ms', further, after.timeMs),
          eb.and([eb('time_ms', '=', after.timeMs), eb('id', further, after.id)]),
        ]),
      );
  }
  return query.orderBy('time_ms', order).orderBy('id', order).limit(scanRows).execute();
}

function tokenOf(place: Place | undefined): string {
  return place === undefined ? '' : `${place.timeMs}_${place.id}`;
}

function placeOf(token: string): Place {
  const [, timeMs, id] = /^(-?\d{1,15})_(\d{1,15})$/.exec(token) ?? [];
  if (timeMs !== undefined && id !== undefined) return { timeMs: Number(timeMs), id: Number(id) };
  throw invalidArgument(
    `GetRobotPartLogs: expected the page token of an earlier answer, found ${JSON.stringify(token.slice(0, 64))}`,
  );
}
