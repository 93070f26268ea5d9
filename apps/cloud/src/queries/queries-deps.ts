/** Dependencies of the query features on the rest of the cloud. */
import type { ClockAndLog } from '@platform/base';
import type { Access } from '../access/authorize.ts';
import type { CloudCall, Principal } from '../access/principal.ts';
import type { Database } from '../metadata/tables.ts';
import type { Tabular } from '../tabular/tabular.ts';
import type { FleetNames } from './readings/reading-conditions.ts';
import type { FleetSize } from './series/prepare-series.ts';

export interface QueriesDeps extends ClockAndLog {
  readonly tabular: Pick<Tabular, 'query' | 'deleteRows'>;
  readonly db: Database;
  readonly access: Pick<Access, 'authorize' | 'allows' | 'scopeIn'>;
  readonly names: FleetNames;
  readonly fleetSizes: () => readonly FleetSize[];
  /** The current principal of the call. @throws unauthenticated */
  readonly recheck: (call: CloudCall) => Promise<Principal>;
  /** How long an answer waits for notices about its names. Default: 1 s. */
  readonly noticeMs?: number;
  /** Called with the bytes of the returned rows (BSON). */
  readonly onAnswered?: (organizationId: string, bytes: number) => void;
}
