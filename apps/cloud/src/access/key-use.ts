/** When each API key was last used, to the minute: kept in memory and stored periodically in one transaction. */
import type { Clock } from '@platform/base';
import type { Database } from '../metadata/tables.ts';

const minuteMs = 60_000;

export interface KeyUse {
  used(keyId: string): void;
  /** The minute of the last use, if it is not yet stored. */
  unwritten(keyId: string): number | undefined;
  /** Stores the changes. A crash loses at most the uses since the last call. */
  write(): Promise<void>;
}

export function createKeyUse(db: Database, clock: Clock): KeyUse {
  let fresh = new Map<string, number>();
  let written: ReadonlyMap<string, number> = new Map();
  return {
    used(keyId) {
      const minute = Math.floor(clock.now() / minuteMs) * minuteMs;
      if (written.get(keyId) !== minute) fresh.set(keyId, minute);
    },
    unwritten: (keyId) => fresh.get(keyId),
    async write() {
      const batch = fresh;
      if (batch.size === 0) return;
      fresh = new Map();
      try {
        await db.transaction().execute(async (trx) => {
          for (const [keyId, minute] of batch)
            await trx.updateTable('api_keys').set({ last_used_ms: minute }).where('id', '=', keyId).execute();
        });
      } catch (caught) {
        fresh = new Map([...batch, ...fresh]);
        throw caught;
      }
      // Minutes only increase, so it is enough to remember the last batch.
      written = batch;
    },
  };
}
