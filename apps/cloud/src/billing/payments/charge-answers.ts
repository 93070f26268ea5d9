/** Records when the answers to charges were delivered. Until then, an equal charge is refused (repeated-charge.ts). */
import { type Clock, errorText, type Log } from '@platform/base';
import type { Database } from '../../metadata/tables.ts';

export interface ChargeAnswers {
  /** @param holder of the row of the request. Does nothing if another call has taken the row */
  delivered(organizationId: string, key: string, holder: string): void;
  /** Resolves when all are recorded. */
  recorded(): Promise<void>;
}

export function createChargeAnswers(deps: {
  readonly db: Database;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}): ChargeAnswers {
  const { db, clock, log } = deps;
  const writing = new Set<Promise<void>>();
  const write = async (organizationId: string, key: string, holder: string): Promise<void> => {
    try {
      await db
        .updateTable('charge_requests')
        .set({ answered_ms: clock.now() })
        .where('organization_id', '=', organizationId)
        .where('key', '=', key)
        .where('holder', '=', holder)
        .execute();
    } catch (caught) {
      // As if the answer had been lost.
      log.warn('the delivered answer to a charge could not be recorded; equal charges are refused for 24 hours', {
        organization: organizationId,
        error: errorText(caught),
      });
    }
  };
  return {
    delivered(...of) {
      const one = write(...of).finally(() => writing.delete(one));
      writing.add(one);
    },
    async recorded() {
      await Promise.all(writing);
    },
  };
}
