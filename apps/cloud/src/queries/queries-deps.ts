/** What the query features need of the rest of the cloud. */
import type { Clock, Log } from '@platform/base';
import type { Access } from '../access/authorize.ts';
import type { Tabular } from '../tabular/tabular.ts';

export interface QueriesDeps {
  readonly tabular: Pick<Tabular, 'query'>;
  readonly access: Pick<Access, 'authorize' | 'allows' | 'scopeIn'>;
  readonly clock: Clock;
  readonly log: Log;
}
