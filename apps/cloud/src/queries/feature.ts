/** Readings as the wire asks for them: the tabular half of DataService. */
import type { DataService } from '@platform/proto/platform/app/data/v1/data';
import type { Handlers } from '@platform/rpc/server';
import type { Principal } from '../access/principal.ts';
import { indexHandlers } from './indexes/index-rpc.ts';
import type { QueriesDeps } from './queries-deps.ts';
import { queryHandlers } from './query-rpc.ts';
import { readingHandlers } from './readings/reading-rpc.ts';
import { savedQueryHandlers } from './saved/saved-query-rpc.ts';

export interface Queries {
  /** Other features serve the rest of DataService beside these. */
  readonly dataHandlers: Handlers<typeof DataService, Principal>;
}

export function createQueries(deps: QueriesDeps): Queries {
  return {
    dataHandlers: {
      ...queryHandlers(deps),
      ...readingHandlers(deps),
      ...savedQueryHandlers(deps),
      ...indexHandlers(deps),
    },
  };
}
