import { silentLog } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { createSessions } from './sessions.ts';

const motor = 'core:component:motor/left';
const expired = { code: 'invalid_argument', message: 'SESSION_EXPIRED' };

function start() {
  const clock = new FakeClock();
  const stopped: string[] = [];
  const stopper = { stop: async (full: string) => void stopped.push(full) };
  return { clock, stopped, sessions: createSessions({ windowMs: () => 2_000, stopper, clock, log: silentLog }) };
}

test('the resource that a session last moved is stopped once, if no heartbeat arrives within the window', async () => {
  const { clock, stopped, sessions } = start();
  const { id, windowMs } = sessions.start('a', 'peer', '');
  expect(windowMs).toBe(2_000);
  sessions.use('a', id, motor);
  for (let beat = 0; beat < 5; beat++) {
    await clock.advance(1_500);
    sessions.heartbeat('a', id);
  }
  expect(stopped).toEqual([]);
  await clock.advance(2_000);
  expect(stopped).toEqual([motor]);
  expect(() => sessions.heartbeat('a', id)).toThrow(expect.objectContaining(expired));
  await clock.advance(60_000);
  expect(stopped).toEqual([motor]);
});

test('a resource that another session has moved since is not stopped, and only its owner can use and resume a session', async () => {
  const { clock, stopped, sessions } = start();
  const first = sessions.start('a', 'peer', '');
  sessions.use('a', first.id, motor);
  const second = sessions.start('b', 'peer', first.id);
  expect(second.id).not.toBe(first.id);
  sessions.use('b', second.id, motor);
  expect(() => sessions.use('b', first.id, motor)).toThrow(expect.objectContaining(expired));
  await clock.advance(1_000);
  sessions.heartbeat('b', second.id);
  expect(sessions.start('b', 'peer', second.id).id).toBe(second.id);
  await clock.advance(1_000);
  expect(sessions.all.map(({ id }) => id)).toEqual([second.id]);
  expect(stopped).toEqual([]);
  sessions[Symbol.dispose]();
  await clock.advance(60_000);
  expect(stopped).toEqual([]);
});

test('a resource that a caller without a session has moved since is not stopped', async () => {
  const { clock, stopped, sessions } = start();
  sessions.use('a', sessions.start('a', 'peer', '').id, motor);
  sessions.release(motor);
  await clock.advance(60_000);
  expect(stopped).toEqual([]);
});
