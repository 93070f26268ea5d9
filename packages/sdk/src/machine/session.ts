/**
 * A session with a machine: while heartbeats arrive, movements that this program started may continue. When the heartbeats stop (the
 * program ends, or a connection breaks), the machine stops these movements.
 */
import { type Clock, PlatformError } from '@platform/base';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import type { Link } from '@platform/rpc/client';

export interface Session extends Disposable {
  /** Session id for the header of calls that move something; the first call starts the session. Empty if the machine has no sessions. */
  id(): Promise<string>;
}

/** Heartbeats within one window; some may be late. */
const beatsInWindow = 5;

export function createSession(connection: Pick<Link, 'client'>, clock: Clock): Session {
  const robot = connection.client(RobotService);
  let started: Promise<string> | undefined;
  let beating: Disposable | undefined;
  let isOver = false;

  const stop = (): void => {
    beating?.[Symbol.dispose]();
    beating = undefined;
    started = undefined;
  };
  const start = async (): Promise<string> => {
    try {
      const { id, heartbeatWindow } = await robot.startSession({});
      const windowMs = Number(heartbeatWindow?.seconds ?? 2n) * 1_000 + (heartbeatWindow?.nanos ?? 0) / 1e6;
      const beat = async (): Promise<void> => {
        try {
          await robot.sendSessionHeartbeat({ id }, { timeoutMs: windowMs });
        } catch (caught) {
          // Expired: the next call that moves something starts a new session.
          if (caught instanceof PlatformError && caught.code === 'invalid_argument') stop();
        }
      };
      if (!isOver) beating = clock.every(windowMs / beatsInWindow, () => void beat());
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
