/** Queries over readings as the wire asks for them: DataService TabularDataByMQL and TabularDataBySQL. */
import type { Clock, Log } from '@platform/base';
import type { Scope } from '@platform/query';
import type { ServiceBinding } from '@platform/rpc/server';
import type { Tabular } from '../tabular/tabular.ts';
import { queriesBinding } from './rpc.ts';

export interface QueriesOptions<P> {
  readonly tabular: Pick<Tabular, 'query'>;
  /** What the caller may see of an organization. Throws not_found or permission_denied. */
  readonly scopeOf: (principal: P, organizationId: string) => Promise<Scope>;
  readonly log: Log;
  /** Default: the system's. */
  readonly clock?: Clock;
}

export interface Queries<P> {
  readonly bindings: readonly ServiceBinding<P>[];
}

export function createQueries<P>(options: QueriesOptions<P>): Queries<P> {
  return { bindings: [queriesBinding(options)] };
}
