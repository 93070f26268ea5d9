/** Queries for readings: the tabular part of DataService. */
import type { DataService } from '@platform/proto/platform/app/data/v1/data';
import { parseMql } from '@platform/query/mql';
import { parseSql } from '@platform/query/sql';
import type { Handlers } from '@platform/rpc/server';
import type { Principal } from '../access/principal.ts';
import { type AnsweredQuery, type AskedQuery, answerQuery } from './answer-query.ts';
import { indexHandlers } from './indexes/index-rpc.ts';
import type { QueriesDeps } from './queries-deps.ts';
import { queryHandlers } from './query-rpc.ts';
import { readingHandlers } from './readings/reading-rpc.ts';
import { savedQueryHandlers } from './saved/saved-query-rpc.ts';
import { withWireErrors } from './wire-errors.ts';

/** SQL, or the stages of a pipeline as BSON documents. */
export type QueryText = { readonly sql: string } | { readonly mql: readonly Uint8Array[] };

export interface Queries {
  /** Other features serve the rest of DataService. */
  readonly dataHandlers: Handlers<typeof DataService, Principal>;
  /** Runs a query that does not come from an RPC. @throws as the RPCs do */
  ask(asked: Omit<AskedQuery, 'parse'> & { readonly query: QueryText }): Promise<AnsweredQuery>;
}

export function createQueries(deps: QueriesDeps): Queries {
  return {
    dataHandlers: {
      ...queryHandlers(deps),
      ...readingHandlers(deps),
      ...savedQueryHandlers(deps),
      ...indexHandlers(deps),
    },
    ask: ({ query, ...asked }) =>
      answerQuery(deps, {
        ...asked,
        parse: () =>
          withWireErrors(() => ('sql' in query ? parseSql(query.sql) : parseMql([...query.mql], 'readings'))),
      }),
  };
}
