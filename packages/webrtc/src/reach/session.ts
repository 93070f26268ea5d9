/**
 * A session with a machine: while heartbeats arrive, movements that this program started may continue. When the heartbeats stop (the
 * program ends, or a connection breaks), the machine stops these movements.
 */
import { type Clock, PlatformError } from '@platform/base/portable';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import type { Link } from '@platform/rpc/portable';

export interface Session extends Disposable {
  /** Session id for the header of calls that move something; the first call starts the session. Empty if the machine has no sessions. */
  id(): Promise<string>;
}

/** Heartbeats within one window; some may be late. */
const beatsInWindow = 5;
/** How many of them may be due while one is not answered, until it is also sent by the floor. */
const patience = 2;

/**
 * The machine knows its caller by the same name on every path, so the session goes on when the path changes.
 *
 * @param link by the best path. @param floor another path: takes the heartbeats that a broken connection does not answer
 */
export function createSession(
  link: Pick<Link, 'client'>,
  floor: Pick<Link, 'client'> | undefined,
  clock: Pick<Clock, 'every'>,
): Session {
  const robot = link.client(RobotService);
  const spare = floor?.client(RobotService);
  let started: Promise<string> | undefined;
  let beating: Disposable | undefined;
  let isOver = false;

  const stop = (): void => {
    beating?.[Symbol.dispose]();
    beating = undefined;
    started = undefined;
  };
  const failed = (caught: unknown): void => {
    // Expired: the next call that moves something starts a new session.
    if (caught instanceof PlatformError && caught.code === 'invalid_argument') stop();
  };
  const beat = async (id: string, windowMs: number): Promise<void> => {
    try {
      await robot.sendSessionHeartbeat({ id }, { timeoutMs: (windowMs / beatsInWindow) * patience });
    } catch (caught) {
      failed(caught);
      if (started === undefined) return;
      await spare?.sendSessionHeartbeat({ id }, { timeoutMs: windowMs }).catch(failed);
    }
  };
  const start = async (): Promise<string> => {
    try {
      const { id, heartbeatWindow } = await robot.startSession({});
      const windowMs = Number(heartbeatWindow?.seconds ?? 2n) * 1_000 + (heartbeatWindow?.nanos ?? 0) / 1e6;
      if (!isOver) beating = clock.every(windowMs / beatsInWindow, () => void beat(id, windowMs));
      return id;
    } catch (caught) {
      if (caught instanceof PlatformError && caught.code === 'unimplemented') return '';
      started = undefined;
      throw caught;
    }
  };
  return {
    id() {
      started ??= start();
      return started;
    },
    [Symbol.dispose]() {
      isOver = true;
      stop();
    },
  };
}
