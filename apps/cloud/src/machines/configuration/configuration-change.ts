/**
 * What a part is to run changes: its configuration is saved, a fragment that it uses changes, or the part is deleted. Who depends on it
 * is told in the transaction that changes it, and is listed in compose-fleet.ts.
 */
import type { Transaction } from 'kysely';
import type { Caller } from '../../access/audit.ts';
import type { CloudTables } from '../../metadata/tables.ts';

export interface ConfigurationChange {
  readonly partId: string;
  /** The effective document until now, decoded; undefined: there was none. Resolved when asked for, which is until the commit. */
  readonly before: () => Promise<unknown>;
  /** The effective document from now on, decoded; undefined: the part is deleted. */
  readonly after: unknown;
  /** Who deletes the part. */
  readonly deletedBy?: Caller;
}

export type OnConfigurationChange = (
  trx: Transaction<CloudTables>,
  changes: readonly ConfigurationChange[],
) => Promise<void>;

/** Tells each subscriber, in this order. */
export function callInOrder(...subscribers: readonly OnConfigurationChange[]): OnConfigurationChange {
  return async (trx, changes) => {
    for (const subscriber of subscribers) await subscriber(trx, changes);
  };
}
