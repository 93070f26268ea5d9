/**
 * A change to what a part runs: its configuration is saved, a fragment that it uses changes, or the part is deleted. Subscribers are
 * notified in the same transaction; compose-fleet.ts lists them.
 */
import type { Caller } from '../../access/audit.ts';
import type { DatabaseTransaction } from '../../metadata/tables.ts';

export interface ConfigurationChange {
  readonly partId: string;
  /** The previous effective document, decoded; undefined: there was none. Read on demand; may be called only before the commit. */
  readonly before: () => Promise<unknown>;
  /** The new effective document, decoded; undefined: the part is deleted. */
  readonly after: unknown;
  /** The caller who deletes the part. */
  readonly deletedBy?: Caller;
}

export type OnConfigurationChange = (
  trx: DatabaseTransaction,
  changes: readonly ConfigurationChange[],
) => Promise<void>;

/** Notifies each subscriber, in the given order. */
export function callInOrder(...subscribers: readonly OnConfigurationChange[]): OnConfigurationChange {
  return async (trx, changes) => {
    for (const subscriber of subscribers) await subscriber(trx, changes);
  };
}
