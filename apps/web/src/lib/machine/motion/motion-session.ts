/**
 * The session of this tab with a machine: what the tab moves stops when its heartbeats stop, for example because the network is gone or
 * the tab was closed.
 *
 * States: none → starting (the first movement) → alive (heartbeats) → lost (none was answered within the window, or the machine no longer
 * knows the session) → none: the next movement starts a new one. A lost session gets no more heartbeats, so the machine lets it expire, and
 * a movement that arrives late is refused there.
 */

/** Heartbeats within one window; some may be late. */
const beatsInWindow = 5;
/** A browser has six connections to a cloud over HTTP/1.1: unanswered heartbeats must leave some for a stop. */
const mostUnanswered = 2;

export interface MotionSession {
  /** The id for the header of calls that move something; undefined if the machine has no sessions. The first call starts the session. */
  id(): Promise<string | undefined>;
  /** The machine has refused the session: it has expired. */
  expired(id: string | undefined): void;
}

export interface MotionSessionDeps {
  /** @returns undefined if the machine has no sessions */
  readonly start: () => Promise<{ readonly id: string; readonly windowMs: number } | undefined>;
  /** @returns false: the session has expired. Rejects if there is no answer. */
  readonly beat: (id: string, timeoutMs: number) => Promise<boolean>;
  /** Called when the session is lost: the machine stops what the tab moved. */
  readonly lost: () => void;
  readonly nowMs: () => number;
  /** Calls a function regularly. @returns ends it */
  readonly every: (ms: number, run: () => void) => () => void;
}

interface Alive {
  readonly id: string;
  readonly windowMs: number;
  /** The machine keeps the session at least until then, by the clock of this tab. */
  untilMs: number;
  unanswered: number;
  end: () => void;
}

export function createMotionSession({ start, beat, lost, nowMs, every }: MotionSessionDeps): MotionSession {
  let started: Promise<string | undefined> | undefined;
  let alive: Alive | undefined;

  const end = (session: Alive): void => {
    if (alive !== session) return;
    session.end();
    [alive, started] = [undefined, undefined];
    lost();
  };
  const sendBeat = (session: Alive): void => {
    const sentMs = nowMs();
    if (sentMs >= session.untilMs) end(session);
    if (alive !== session || session.unanswered >= mostUnanswered) return;
    session.unanswered += 1;
    beat(session.id, session.windowMs)
      .then(
        (isKnown) => {
          if (isKnown) session.untilMs = Math.max(session.untilMs, sentMs + session.windowMs);
          else end(session);
        },
        () => {},
      )
      .finally(() => {
        session.unanswered -= 1;
      });
  };
  const begin = async (): Promise<string | undefined> => {
    const sentMs = nowMs();
    const found = await start();
    if (found === undefined) return undefined;
    const { id, windowMs } = found;
    const session: Alive = { id, windowMs, untilMs: sentMs + windowMs, unanswered: 0, end: () => {} };
    session.end = every(windowMs / beatsInWindow, () => sendBeat(session));
    alive = session;
    return id;
  };
  return {
    id() {
      started ??= begin().catch((caught: unknown) => {
        started = undefined;
        throw caught;
      });
      return started;
    },
    expired(id) {
      if (alive !== undefined && alive.id === id) end(alive);
    },
  };
}
