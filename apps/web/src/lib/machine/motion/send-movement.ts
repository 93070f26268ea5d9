/** Sends a movement within the session of the tab. */
import type { MotionSession } from './motion-session.ts';

/** The text of machines for a session that they no longer know. */
export const expiredText = 'SESSION_EXPIRED';

/**
 * @param send gets the id of the session; undefined if the machine has none
 * @param held aborts when the movement is no longer wanted: then it is not sent
 * @returns undefined if it was not sent
 */
export async function sendMovement<T>(
  session: MotionSession,
  send: (sessionId: string | undefined) => Promise<T>,
  held?: AbortSignal,
): Promise<T | undefined> {
  const attempt = async (last: boolean): Promise<T | undefined> => {
    const id = await session.id();
    if (held?.aborted) return undefined;
    try {
      return await send(id);
    } catch (caught) {
      if (!(caught instanceof Error) || !caught.message.includes(expiredText)) throw caught;
      session.expired(id);
      if (last) throw caught;
      return attempt(true);
    }
  };
  return attempt(false);
}
