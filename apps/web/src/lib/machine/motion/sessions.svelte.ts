/** The sessions of this tab with machines, one for each part that it moves. They last as long as the tab. */
import { Code, ConnectError } from '@connectrpc/connect';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { clientOf, toPart } from '../../api/clients.ts';
import { exactMs } from '../../ui/now.svelte.ts';
import { createMotionSession, type MotionSession } from './motion-session.ts';

const robot = clientOf(RobotService);
const sessions = new Map<string, MotionSession>();

/** `count` grows when a session is lost: whatever is held in this tab has stopped. */
export const lostSessions = $state({ count: 0 });

export function sessionWith(partId: string): MotionSession {
  const known = sessions.get(partId);
  if (known !== undefined) return known;
  const session = createMotionSession({
    start: async () => {
      try {
        const { id, heartbeatWindow } = await robot.startSession({}, toPart(partId));
        return { id, windowMs: Number(heartbeatWindow?.seconds ?? 2n) * 1_000 + (heartbeatWindow?.nanos ?? 0) / 1e6 };
      } catch (caught) {
        if (ConnectError.from(caught).code === Code.Unimplemented) return undefined;
        throw caught;
      }
    },
    beat: async (id, timeoutMs) => {
      try {
        await robot.sendSessionHeartbeat({ id }, { ...toPart(partId), timeoutMs });
        return true;
      } catch (caught) {
        if (ConnectError.from(caught).code === Code.InvalidArgument) return false;
        throw caught;
      }
    },
    lost: () => {
      lostSessions.count += 1;
    },
    nowMs: exactMs,
    every: (ms, run) => {
      const timer = setInterval(run, ms);
      return () => clearInterval(timer);
    },
  });
  sessions.set(partId, session);
  return session;
}
