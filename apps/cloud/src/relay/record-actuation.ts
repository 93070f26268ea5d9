/**
 * The audit trail of movements through the cloud. The first call is written before it is sent to the machine; identical calls of the same
 * caller are then counted for a minute, and the count is written at its end, because a joystick sends twenty calls a second.
 */
import { type Clock, errorText, type Log } from '@platform/base';
import { audit, type Caller } from '../access/audit.ts';
import type { Database } from '../metadata/tables.ts';

const countMs = 60_000;
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
}

export interface ActuationRecord extends AsyncDisposable {
  /** Returns once the call is in the trail, or has been counted. */
  record(actuation: Actuation): Promise<void>;
}

interface Counted {
  readonly first: Actuation;
  readonly fromMs: number;
  readonly timer: Disposable;
  count: number;
}

export function createActuationRecord(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}): ActuationRecord {
  const { db, clock, log } = deps;
  const counted = new Map<string, Counted>();
  const write = ({ caller, organizationId, partId, operation, resource }: Actuation, more: object): Promise<void> => {
    const detail = { ...(resource !== '' && { resource }), ...more };
    return audit(db, caller, clock.now(), operation, ['part', partId, organizationId], detail);
  };
  const writeCount = async (key: string, { first, fromMs, count, timer }: Counted): Promise<void> => {
    timer[Symbol.dispose]();
    counted.delete(key);
    if (count === 0) return;
    const since = new Date(fromMs).toISOString();
    await write(first, { repeated: count, since }).catch((caught: unknown) =>
      log.error('repeated calls could not be added to the audit trail', { count, error: errorText(caught) }),
    );
  };
  return {
    async record(actuation) {
      const { caller, partId, operation, resource } = actuation;
      const { principal } = caller;
      const who = principal.kind === 'key' ? principal.keyId : principal.kind === 'person' ? principal.personId : '';
      const key = JSON.stringify([who, caller.peerAddress, partId, operation, resource]);
      const before = counted.get(key);
      if (before !== undefined) {
        before.count++;
        return;
      }
      await write(actuation, {});
      if (counted.size >= maxCounted || counted.has(key)) return;
      const timer = clock.after(countMs, () => void writeCount(key, entry));
      const entry: Counted = { first: actuation, fromMs: clock.now(), timer, count: 0 };
      counted.set(key, entry);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...counted].map(([key, entry]) => writeCount(key, entry)));
    },
  };
}
