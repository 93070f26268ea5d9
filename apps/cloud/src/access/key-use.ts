/** When each API key was last used, to the minute: kept in memory, written down in one transaction now and then. */
import type { Clock } from '@platform/base';
import type { Database } from '../metadata/tables.ts';

const minuteMs = 60_000;

export interface KeyUse {
  used(keyId: string): void;
  /** The minute of the last use, when it is not written down yet. */
  unwritten(keyId: string): number | undefined;
  /** Writes down what changed. A crash loses at most what came after the last call. */
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
      // An older minute never comes again, so the last batch is enough to remember.
      written = batch;
    },
  };
}
