/** Queries for readings: the tabular part of DataService. */
import { unavailable } from '@platform/base';
import type { DataService } from '@platform/proto/platform/app/data/v1/data';
import type { SeriesService } from '@platform/proto/platform/series/v1/series';
import { BsonDate, BsonDocument, type Plan } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import { clauseWords, parseSql } from '@platform/query/sql';
import type { CloudHandlers } from '../access/principal.ts';
import { type AnsweredQuery, type AskedQuery, answerQuery } from './answer-query.ts';
import { explainRow } from './explain-row.ts';
import { indexHandlers } from './indexes/index-rpc.ts';
import type { QueriesDeps } from './queries-deps.ts';
import { queryHandlers } from './query-rpc.ts';
import { createAsker } from './readings/ask-rows.ts';
import { readingHandlers } from './readings/reading-rpc.ts';
import { savedQueryHandlers } from './saved/saved-query-rpc.ts';
import { startPreparing } from './series/prepare-series.ts';
import { createSeriesIndex } from './series/series-index.ts';
import { seriesHandlers } from './series/series-rpc.ts';
import { withWireErrors } from './wire-errors.ts';

/** SQL, or the stages of a pipeline as BSON documents. */
export type QueryText = { readonly sql: string } | { readonly mql: readonly Uint8Array[] };

export interface Queries extends AsyncDisposable {
  /** Makes the lists of series of large organizations in the background. */
  start(): void;
  /** Other features serve the rest of DataService. */
  readonly dataHandlers: CloudHandlers<typeof DataService>;
  readonly seriesHandlers: CloudHandlers<typeof SeriesService>;
  /** Runs a query that does not come from an RPC. @throws like the RPCs */
  ask(
    asked: Omit<AskedQuery, 'parse'> & { readonly query: QueryText; readonly arrived: Arrived },
  ): Promise<AskedAnswer>;
}

/** When readings arrived. */
export interface Arrived {
  /** The first time; undefined: any. */
  readonly since: Date | undefined;
  /** The first time after it; undefined: any. */
  readonly until: Date | undefined;
}

export interface AskedAnswer extends AnsweredQuery {
  /** How the query was executed, as the only row of its answer, if requested. */
  readonly explained: Uint8Array | undefined;
}

export function createQueries(deps: QueriesDeps): Queries {
  // A list is shared by all callers who wait for it, so none of them cancels it.
  const stop = new AbortController();
  const index = createSeriesIndex(createAsker(deps, stop.signal).askBatch, deps.clock, stop.signal);
  let preparing: AsyncDisposable | undefined;
  return {
    start() {
      preparing = startPreparing({ index, fleetSizes: deps.fleetSizes, log: deps.log });
    },
    seriesHandlers: seriesHandlers(deps, index),
    dataHandlers: {
      ...queryHandlers(deps),
      ...readingHandlers({ ...deps, onDeleted: index.forget }),
      ...savedQueryHandlers(deps),
      ...indexHandlers(deps),
    },
    async ask({ query, arrived, ...asked }) {
      const parse = (): Plan =>
        withWireErrors(() => ('sql' in query ? parseSql(query.sql) : parseMql([...query.mql], 'readings')));
      const answer = await answerQuery(deps, { ...asked, parse: () => restrictedTo(arrived, parse()) });
      const { explain } = answer.result;
      const words = 'sql' in query ? clauseWords(query.sql) : (pushed: string) => pushed;
      return { ...answer, explained: explain && explainRow(explain, words, answer.notices) };
    },
    async [Symbol.asyncDispose]() {
      const ended = preparing?.[Symbol.asyncDispose]();
      stop.abort(unavailable('the cloud is stopping'));
      await ended;
    },
  };
}

/**
 * The plan, restricted to readings that arrived within a time. Rows that a plan makes from nothing, or reads in a subquery, are not
 * restricted.
 */
function restrictedTo({ since, until }: Arrived, plan: Plan): Plan {
  if ((plan.source !== 'readings' && plan.source !== 'hot') || (since ?? until) === undefined) return plan;
  const arrived = BsonDocument.of({
    ...(since !== undefined && { $gte: new BsonDate(since.getTime()) }),
    ...(until !== undefined && { $lt: new BsonDate(until.getTime()) }),
  });
  const range = parseMql([BsonDocument.of({ $match: BsonDocument.of({ time_received: arrived }) })]);
  return { ...plan, stages: [...range.stages, ...plan.stages] };
}
