/**
 * The audit trail of movements through the cloud. The record is in the trail before the first call is sent to the machine; further calls of
 * the same caller to the same method of the same resource are counted for 10 s, and then the record gets their number, because a joystick
 * sends twenty calls a second. If the cloud is killed meanwhile, the record stays as it was.
 */
import { type Clock, errorText, type Log } from '@platform/base';
import type { Caller } from '../access/audit.ts';
import { closeEntry, openEntry } from '../access/counted-entries.ts';
import { idOf } from '../access/signed-address.ts';
import type { Database } from '../metadata/tables.ts';
import { callDetail } from './call-detail.ts';

const countMs = 10_000;
/** Beyond this number at a time, calls are written one by one. */
const maxCounted = 10_000;

export interface Actuation {
  readonly caller: Caller;
  readonly organizationId: string;
  readonly partId: string;
  /** Such as `MotorService.SetPower`. */
  readonly operation: string;
  /** The name of the resource; empty: the machine itself. */
  readonly resource: string;
  /** A summary (summarize-arguments.ts); undefined: the cloud has not decoded the message. */
  readonly arguments: string | undefined;
}

export interface ActuationRecord extends AsyncDisposable {
  /** Returns once the call is in the trail, or has been counted. */
  record(actuation: Actuation): Promise<void>;
}

interface Counted {
  /** In the trail. */
  readonly id: Promise<number>;
  readonly firstMs: number;
  readonly timer: Disposable;
  last: Actuation;
  lastMs: number;
  count: number;
}

export function createActuationRecord(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}): ActuationRecord {
  const { db, clock, log } = deps;
  const counted = new Map<string, Counted>();
  /** Records that are being closed. */
  const closing = new Set<Promise<void>>();

  const open = ({
    caller,
    organizationId,
    partId,
    operation,
    resource,
    arguments: args,
  }: Actuation): Promise<number> => {
    const now = clock.now();
    const detail = callDetail({ resource, count: 1, firstMs: now, lastMs: now, arguments: args, path: 'relay' });
    return openEntry(db, caller, now, operation, ['part', partId, organizationId], detail);
  };
  const close = async (id: number, { count, firstMs, lastMs, last }: Omit<Counted, 'id' | 'timer'>): Promise<void> => {
    const { resource, arguments: args } = last;
    const detail = callDetail({ resource, count, firstMs, lastMs, arguments: args, path: 'relay' });
    await closeEntry(db, id, count === 1 ? undefined : detail).catch((caught: unknown) =>
      log.error('repeated calls could not be added to the audit trail', { count, error: errorText(caught) }),
    );
  };
  const end = async (key: string, entry: Counted): Promise<void> => {
    entry.timer[Symbol.dispose]();
    counted.delete(key);
    const closed = entry.id.then(
      (id) => close(id, entry),
      // Its caller has the error.
      () => {},
    );
    closing.add(closed);
    await closed.finally(() => closing.delete(closed));
  };
  return {
    async record(actuation) {
      const { caller, partId, operation, resource } = actuation;
      const nowMs = clock.now();
      const key = JSON.stringify([caller.principal.kind, idOf(caller.principal), partId, operation, resource]);
      const before = counted.get(key);
      if (before !== undefined) {
        Object.assign(before, { last: actuation, lastMs: nowMs, count: before.count + 1 });
        // The record of the first call may still be on its way.
        await before.id;
        return;
      }
      const id = open(actuation);
      if (counted.size >= maxCounted)
        return close(await id, { firstMs: nowMs, lastMs: nowMs, last: actuation, count: 1 });
      const timer = clock.after(countMs, () => void end(key, entry));
      const entry: Counted = { id, firstMs: nowMs, timer, last: actuation, lastMs: nowMs, count: 1 };
      counted.set(key, entry);
      try {
        await id;
      } catch (caught) {
        // Nothing was sent: the next call tries again.
        timer[Symbol.dispose]();
        if (counted.get(key) === entry) counted.delete(key);
        throw caught;
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...[...counted].map(([key, entry]) => end(key, entry)), ...closing]);
    },
  };
}
