/** What this tab moves on machines, with a session for each part. They last as long as the tab. */
import { fromJson, type JsonObject } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { StartSessionResponseSchema } from '@platform/proto/platform/robot/v1/robot';
import { AnswerError } from '../../api/answer-error.ts';
import { exactMs } from '../../ui/now.svelte.ts';
import { callMachine, pathsTo } from '../path/open-paths.svelte.ts';
import { createMotionSession, type MotionSession } from './motion-session.ts';
import { expiredText } from './send-movement.ts';

export interface Motion {
  readonly session: MotionSession;
  /** Aborts when the connection is lost or the page is left: movements that were not sent yet are not sent any more. */
  readonly over: AbortSignal;
  /** Resources that this tab has moved and not stopped, by any name; each is stopped when the page is left. */
  readonly moved: Map<string, () => Promise<unknown>>;
}

const robot = 'platform.robot.v1.RobotService';
const motions = new Map<string, Motion & { stop: AbortController }>();

/** `count` grows when movements have ended by themselves: whatever is held in this tab has stopped. */
export const lostSessions = $state({ count: 0 });

export function motionOf(partId: string): Motion {
  const known = motions.get(partId);
  if (known !== undefined) return known;
  const session = createMotionSession({
    start: () => startSession(partId),
    beat: async (id, timeoutMs) => {
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        await callMachine(partId, `${robot}/SendSessionHeartbeat`, { id }, { signal, over: 'either' });
        return true;
      } catch (caught) {
        if (caught instanceof Error && caught.message.includes(expiredText)) return false;
        throw caught;
      }
    },
    lost: (why) => {
      // The machine has ended the session, but answers: a movement may begin another one.
      if (why === 'expired') lostSessions.count += 1;
      else {
        cutMotion(partId);
        pathsTo(partId)?.markLost();
      }
    },
    nowMs: exactMs,
    every: (ms, run) => {
      const timer = setInterval(run, ms);
      return () => clearInterval(timer);
    },
  });
  const motion: Motion & { stop: AbortController } = {
    ...{ session, moved: new Map(), stop: new AbortController() },
    get over() {
      return motion.stop.signal;
    },
  };
  motions.set(partId, motion);
  return motion;
}

/** The connection is lost: no more heartbeats, and nothing that waits to be sent moves anything later. */
export function cutMotion(partId: string): void {
  const motion = motions.get(partId);
  lostSessions.count += 1;
  if (motion === undefined) return;
  motion.session.end();
  const { stop } = motion;
  motion.stop = new AbortController();
  stop.abort(new ConnectError('The connection was lost. Whether the movement had begun is unknown.', Code.Unavailable));
}

/** The page is left or hidden: stops what it moved, and sends no more heartbeats. */
export function leaveMotion(partId: string): void {
  const motion = motions.get(partId);
  if (motion === undefined) return;
  for (const stop of motion.moved.values()) stop().catch(() => {});
  motion.moved.clear();
  cutMotion(partId);
}

async function startSession(partId: string): Promise<{ readonly id: string; readonly windowMs: number } | undefined> {
  try {
    const answer: JsonObject = await callMachine(partId, `${robot}/StartSession`, {}, { over: 'either' });
    const { id, heartbeatWindow } = fromJson(StartSessionResponseSchema, answer, { ignoreUnknownFields: true });
    return { id, windowMs: Number(heartbeatWindow?.seconds ?? 2n) * 1_000 + (heartbeatWindow?.nanos ?? 0) / 1e6 };
  } catch (caught) {
    if (isUnimplemented(caught)) return undefined;
    throw caught;
  }
}

function isUnimplemented(caught: unknown): boolean {
  return caught instanceof AnswerError ? caught.status === 501 : ConnectError.from(caught).code === Code.Unimplemented;
}
