/**
 * Sessions of clients that move something. A client sends heartbeats; if none arrives within the heartbeat window, the resources that the
 * session was the last to move are stopped.
 *
 * States of a session: alive → expired (its window has passed) or ended (the server stops). An expired one cannot be resumed.
 */
import { type Clock, errorText, invalidArgument, type Log, newId } from '@platform/base';
import type { Stopper } from './stop.ts';

export interface Session {
  readonly id: string;
  /** Its owner; others may neither use nor resume it. */
  readonly owner: string;
  readonly peerAddress: string;
}

export interface Sessions extends Disposable {
  readonly all: readonly Session[];
  /** @param resume id of an earlier session; if it is alive and belongs to the caller, it continues */
  start(owner: string, peerAddress: string, resume: string): { readonly id: string; readonly windowMs: number };
  /** @throws invalid_argument `SESSION_EXPIRED`, after which clients start a new one */
  heartbeat(owner: string, id: string): void;
  /** Records that the session moves a resource, by its full name. Throws as `heartbeat`. */
  use(owner: string, id: string, full: string): void;
  /** Records that a caller without a session moves a resource: no earlier session stops that motion. */
  release(full: string): void;
}

export interface SessionsDeps {
  /** `network.sessions.heartbeat_window` of the configuration. */
  readonly windowMs: () => number;
  readonly stopper: Pick<Stopper, 'stop'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A client that starts more sessions loses its oldest ones. */
const mostSessions = 1_000;

interface Alive extends Session {
  readonly windowMs: number;
  expiry: Disposable;
}

export function createSessions({ windowMs, stopper, clock, log }: SessionsDeps): Sessions {
  const alive = new Map<string, Alive>();
  /** The session that moved a resource last, by the resource's full name. */
  const lastMover = new Map<string, string>();
  const ending = new AbortController();

  const expire = ({ id, peerAddress }: Alive): void => {
    alive.delete(id);
    const moved = [...lastMover].flatMap(([full, mover]) => (mover === id ? [full] : []));
    for (const full of moved) {
      lastMover.delete(full);
      log.warn('stopping a resource that a session moved, because its heartbeats have stopped', {
        resource: full,
        peer: peerAddress,
      });
      stopper
        .stop(full, {}, { signal: ending.signal })
        .catch((caught: unknown) => log.error('could not be stopped', { resource: full, error: errorText(caught) }));
    }
  };
  const found = (owner: string, id: string): Alive => {
    const session = alive.get(id);
    // Public clients recognise exactly this text.
    if (session === undefined || session.owner !== owner) throw invalidArgument('SESSION_EXPIRED');
    return session;
  };
  const renew = (session: Alive): void => {
    session.expiry[Symbol.dispose]();
    session.expiry = clock.after(session.windowMs, () => expire(session));
  };

  return {
    get all() {
      return [...alive.values()];
    },
    start(owner, peerAddress, resume) {
      const before = alive.get(resume);
      if (before !== undefined && before.owner === owner) {
        renew(before);
        return before;
      }
      const [oldest] = alive.values();
      if (alive.size >= mostSessions && oldest !== undefined) {
        oldest.expiry[Symbol.dispose]();
        expire(oldest);
      }
      const session: Alive = {
        ...{ id: newId(), owner, peerAddress, windowMs: windowMs() },
        expiry: { [Symbol.dispose]: () => {} },
      };
      alive.set(session.id, session);
      renew(session);
      return session;
    },
    heartbeat: (owner, id) => renew(found(owner, id)),
    use(owner, id, full) {
      lastMover.set(full, found(owner, id).id);
    },
    release(full) {
      lastMover.delete(full);
    },
    [Symbol.dispose]() {
      ending.abort();
      for (const { expiry } of alive.values()) expiry[Symbol.dispose]();
      alive.clear();
    },
  };
}
