/**
 * The session of this tab with a machine: what the tab moves stops when its heartbeats stop, for example because the network is gone or
 * the tab was closed.
 *
 * States: none → starting (the first movement) → alive (heartbeats) → lost (none was answered within the window, or the machine no longer
 * knows the session, or the page ended it) → none: the next movement starts a new one. A lost session gets no more heartbeats, so the
 * machine lets it expire, and a movement that arrives late is refused there.
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
  /** Sends no more heartbeats: what the tab moves stops within the window. */
  end(): void;
  /** The window of the last session in ms, `none` if the machine has no sessions, undefined before the first. */
  readonly window: number | 'none' | undefined;
}

export interface MotionSessionDeps {
  /** @returns undefined if the machine has no sessions */
  readonly start: () => Promise<{ readonly id: string; readonly windowMs: number } | undefined>;
  /** @returns false: the session has expired. Rejects if there is no answer. */
  readonly beat: (id: string, timeoutMs: number) => Promise<boolean>;
  /** Called when the session is lost: the machine stops what the tab moved. `silent`: because it did not answer. Not after `end`. */
  readonly lost: (why: 'silent' | 'expired') => void;
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
  let window: MotionSession['window'];

  const end = (session: Alive, why?: 'silent' | 'expired'): void => {
    if (alive !== session) return;
    session.end();
    [alive, started] = [undefined, undefined];
    if (why !== undefined) lost(why);
  };
  const sendBeat = (session: Alive): void => {
    const sentMs = nowMs();
    if (sentMs >= session.untilMs) end(session, 'silent');
    if (alive !== session || session.unanswered >= mostUnanswered) return;
    session.unanswered += 1;
    beat(session.id, session.windowMs)
      .then(
        (isKnown) => {
          if (isKnown) session.untilMs = Math.max(session.untilMs, sentMs + session.windowMs);
          else end(session, 'expired');
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
    window = found?.windowMs ?? 'none';
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
      if (alive !== undefined && alive.id === id) end(alive, 'expired');
    },
    end() {
      if (alive === undefined) started = undefined;
      else end(alive);
    },
    get window() {
      return window;
    },
  };
}
