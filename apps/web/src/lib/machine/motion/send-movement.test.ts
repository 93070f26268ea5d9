import { expect, test } from 'vitest';
import type { MotionSession } from './motion-session.ts';
import { sendMovement } from './send-movement.ts';

function sessions(): MotionSession & { readonly lost: (string | undefined)[] } {
  const lost: (string | undefined)[] = [];
  return { lost, id: async () => `s${lost.length + 1}`, expired: (id) => void lost.push(id) };
}

test('a movement of a session that the machine has forgotten is sent once more in a new one', async () => {
  const session = sessions();
  const sent: (string | undefined)[] = [];
  const refuse = (id: string | undefined): Promise<never> => {
    sent.push(id);
    return Promise.reject(new Error('SESSION_EXPIRED'));
  };
  await expect(sendMovement(session, refuse)).rejects.toThrow('SESSION_EXPIRED');
  expect([sent, session.lost]).toEqual([
    ['s1', 's2'],
    ['s1', 's2'],
  ]);
  expect(await sendMovement(session, async (id) => id)).toBe('s3');
});

test('a movement that was released while its session started is not sent', async () => {
  const held = new AbortController();
  const slow: MotionSession = {
    id: async () => {
      held.abort();
      return 's';
    },
    expired: () => {},
  };
  expect(await sendMovement(slow, () => expect.unreachable('sent'), held.signal)).toBeUndefined();
});

test('a movement that was released is not repeated, and other failures are not either', async () => {
  const held = new AbortController();
  let sent = 0;
  const fail = (message: string) => (): Promise<never> => {
    sent += 1;
    held.abort();
    return Promise.reject(new Error(message));
  };
  expect(await sendMovement(sessions(), fail('SESSION_EXPIRED'), held.signal)).toBeUndefined();
  await expect(sendMovement(sessions(), fail('jammed'))).rejects.toThrow('jammed');
  expect(sent).toBe(2);
});
