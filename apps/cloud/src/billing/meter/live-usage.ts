/**
 * Usage that is not recorded elsewhere: answers that were sent, and data that queries processed. It is added in memory when it occurs, and
 * written once a second, so that no query or download waits for a disk. A crash loses what has not been written: at most a second of usage.
 */
import { type Clock, errorText, type Log } from '@platform/base';
import type { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import type { Database } from '../../metadata/tables.ts';
import { addUsage } from './add-usage.ts';
import { UsageSums } from './count-uploads.ts';

export interface LiveUsage extends AsyncDisposable {
  /** @param quantity in units of the meter; not negative */
  add(organizationId: string, type: UsageCostType, quantity: number): void;
  /** Resolves once all usage added before has been written, or has failed and will be retried. */
  written(): Promise<void>;
}

const everyMs = 1_000;

export function createLiveUsage(deps: { readonly db: Database; readonly clock: Clock; readonly log: Log }): LiveUsage {
  const { db, clock, log } = deps;
  let sums = new UsageSums();
  let due: Disposable | undefined;
  let writing: Promise<void> = Promise.resolve();
  let failing = false;
  const writeLater = (): void => {
    due ??= clock.after(everyMs, () => void written());
  };
  const write = async (): Promise<void> => {
    const rows = sums.rows();
    sums = new UsageSums();
    if (rows.length === 0) return;
    try {
      await db.transaction().execute((trx) => addUsage(trx, rows));
      failing = false;
    } catch (caught) {
      if (!failing) log.error('usage cannot be recorded; trying again', { error: errorText(caught) });
      failing = true;
      for (const { organization_id, hour, type, quantity } of rows) sums.add(organization_id, hour, type, quantity);
      writeLater();
    }
  };
  const written = (): Promise<void> => {
    due?.[Symbol.dispose]();
    due = undefined;
    writing = writing.then(write);
    return writing;
  };
  return {
    add(organizationId, type, quantity) {
      if (quantity <= 0 || organizationId === '') return;
      sums.add(organizationId, clock.now(), type, quantity);
      writeLater();
    },
    written,
    async [Symbol.asyncDispose]() {
      await written();
      due?.[Symbol.dispose]();
    },
  };
}
