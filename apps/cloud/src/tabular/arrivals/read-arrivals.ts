/** Reads rows in order of arrival, in pages of roughly equal size, so that memory is bounded. */
import { PlatformError } from '@platform/base';
import type { RowFilter } from '../catalog/row-filter.ts';
import type { QueryRequest, QueryResult } from '../tabular.ts';
import { type ArrivalsAsked, type ArrivedRows, decodeArrived } from './arrived-rows.ts';
import { documentsIn } from './documents-in.ts';

export interface ArrivalsRequest extends Pick<ArrivalsAsked, 'paths' | 'only'> {
  readonly organizationId: string;
  readonly columns: RowFilter['columns'];
  /** When the rows were accepted, wall clock in ms: [from, until). */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

/** In any order. All rows are later than those of the previous page. */
export type ArrivalsPage = readonly ArrivedRows[];

export type ReadArrivals = (request: ArrivalsRequest) => AsyncGenerator<ArrivalsPage>;

/** Large enough to make its overhead negligible, small enough for two: a page is read while the previous one is processed. */
const page = { rows: 32_768, bytes: 4 << 20 } as const;
/** An upload may have one row or a thousand. */
const firstPositions = 1 << 8;

export function createReadArrivals(deps: {
  readonly query: (request: QueryRequest) => Promise<QueryResult>;
  readonly lastPosition: () => number;
}): ReadArrivals {
  return async function* read(request) {
    const { organizationId, columns, fromMs, untilMs, paths, only, signal } = request;
    const microseconds = (ms: number): bigint => BigInt(Math.ceil(ms)) * 1_000n;
    const filter: RowFilter = {
      columns,
      times: { time_synced: { from: microseconds(fromMs), to: microseconds(untilMs) - 1n } },
    };
    const ask = (after: number, upTo: number): Promise<QueryResult> =>
      deps.query({
        plan: { source: 'readings', stages: [] },
        scope: { organizationId, locationIds: null, robotIds: null },
        vocabulary: 'core',
        arrivals: { filter, asked: { after, upTo, paths, ...(only && { only }) } },
        unmetered: true,
        signal,
      });
    const last = deps.lastPosition();
    let positions = firstPositions;
    let after = 0;
    /** The next page, and where it ends. */
    const next = async (): Promise<ArrivalsPage | undefined> => {
      while (after < last) {
        const upTo = Math.min(last, after + positions);
        let result: QueryResult;
        try {
          result = await ask(after, upTo);
        } catch (caught) {
          if (!isTooMuch(caught) || positions === 1) throw caught;
          positions = Math.max(1, Math.floor(positions / 4));
          continue;
        }
        const chunks = documentsIn(result).map(decodeArrived);
        const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0);
        const read = upTo - after;
        after = upTo;
        const wanted = Math.min(page.rows / Math.max(rows, 1), page.bytes / Math.max(result.bytes.length, 1));
        positions = Math.max(1, Math.ceil(read * Math.min(8, Math.max(1 / 8, wanted))));
        if (rows > 0) return chunks;
      }
      return undefined;
    };
    let ahead = next();
    for (;;) {
      const found = await ahead;
      if (found === undefined) return;
      ahead = next();
      // Its error is thrown when the page is awaited.
      ahead.catch(() => {});
      yield found;
    }
  };
}

/** Whether an answer or a sort was too large, so that smaller pieces must be requested. */
export function isTooMuch(caught: unknown): boolean {
  return caught instanceof PlatformError && caught.code === 'resource_exhausted';
}
