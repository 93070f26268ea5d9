/**
 * When each part was last heard of (D17).
 *
 * The living value is in memory; it is written down at most once a minute for each part, so that a restart of the cloud
 * knows who was ever seen. States: awaiting setup (never seen) → online (seen within the last 60 s) ⇄ offline.
 */
import type { Clock } from '@platform/base';
import type { Database } from '../metadata/tables.ts';
import type { Registry } from './registry.ts';

const onlineWindowMs = 60_000;
const writeEveryMs = 60_000;

export type PresenceState = 'online' | 'offline' | 'awaiting_setup';

export interface Presence {
  /** A call of the part arrived. */
  saw(partId: string): void;
  of(partId: string): { readonly state: PresenceState; readonly lastSeenMs: number | null };
}

export function createPresence(deps: {
  db: Database;
  registry: Registry;
  clock: Clock;
  onWriteFailure: (caught: unknown) => void;
}): Presence {
  const { db, registry, clock, onWriteFailure } = deps;
  const seen = new Map<string, number>();
  const written = new Map<string, number>();
  return {
    saw(partId) {
      const now = clock.now();
      seen.set(partId, now);
      if (now - (written.get(partId) ?? 0) < writeEveryMs) return;
      written.set(partId, now);
      db.updateTable('parts').set({ last_seen_ms: now }).where('id', '=', partId).execute().catch(onWriteFailure);
    },
    of(partId) {
      const lastSeenMs = seen.get(partId) ?? registry.part(partId)?.last_seen_ms ?? null;
      if (lastSeenMs === null) return { state: 'awaiting_setup', lastSeenMs };
      return { state: clock.now() - lastSeenMs <= onlineWindowMs ? 'online' : 'offline', lastSeenMs };
    },
  };
}
