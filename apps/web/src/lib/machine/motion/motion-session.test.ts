import { expect, test } from 'vitest';
import { createMotionSession } from './motion-session.ts';

/** A machine and a clock of which the test is in control. */
function rig(windowMs = 2_000) {
  const sent: string[] = [];
  const answers: ((isKnown: boolean) => void)[] = [];
  let [started, lost, nowMs] = [0, 0, 0];
  let tick: (() => void) | undefined;
  let reason: string | undefined;
  const session = createMotionSession({
    start: async () => {
      started += 1;
      return { id: `s${started}`, windowMs };
    },
    beat: (id) => {
      sent.push(id);
      return new Promise((resolve) => answers.push(resolve));
    },
    lost: (why) => {
      lost += 1;
      reason = why;
    },
    nowMs: () => nowMs,
    every: (_ms, run) => {
      tick = run;
      return () => {
        tick = undefined;
      };
    },
  });
  return {
    session,
    sent,
    get lost() {
      return lost;
    },
    get reason() {
      return reason;
    },
    get isBeating() {
      return tick !== undefined;
    },
    pass: (ms: number) => {
      nowMs += ms;
      tick?.();
    },
    answer: async (isKnown = true) => {
      for (const one of answers.splice(0)) one(isKnown);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('the first movement starts the session, and answered heartbeats keep it', async () => {
  const machine = rig();
  expect(machine.isBeating).toBe(false);
  expect(await Promise.all([machine.session.id(), machine.session.id()])).toEqual(['s1', 's1']);
  for (let beats = 1; beats <= 20; beats++) {
    machine.pass(400);
    expect(machine.sent).toHaveLength(beats);
    await machine.answer();
  }
  expect([await machine.session.id(), machine.lost]).toEqual(['s1', 0]);
});

test('without answers the session is lost after its window, with at most two heartbeats on the way; the next movement starts another', async () => {
  const machine = rig();
  await machine.session.id();
  for (let ms = 400; ms < 2_000; ms += 400) machine.pass(400);
  expect([machine.sent.length, machine.lost]).toEqual([2, 0]);
  machine.pass(400);
  expect([machine.lost, machine.reason, machine.isBeating]).toEqual([1, 'silent', false]);
  // Answers that come now prove nothing: the machine may have stopped everything in between.
  await machine.answer();
  expect(await machine.session.id()).toBe('s2');
  expect(machine.lost).toBe(1);
});

test('a heartbeat counts from when it was sent, not from its late answer', async () => {
  const machine = rig();
  await machine.session.id();
  machine.pass(400);
  machine.pass(1_500);
  await machine.answer();
  machine.pass(400);
  expect(machine.lost).toBe(0);
  machine.pass(1_700);
  expect(machine.lost).toBe(1);
});

test('a session that the machine no longer knows is lost at once, from a heartbeat or a movement, and only once', async () => {
  const machine = rig();
  await machine.session.id();
  machine.pass(400);
  await machine.answer(false);
  expect([machine.lost, machine.reason, machine.isBeating]).toEqual([1, 'expired', false]);
  machine.session.expired('s1');
  expect(machine.lost).toBe(1);
  machine.session.expired(await machine.session.id());
  expect(machine.lost).toBe(2);
});

test('a machine without sessions gets no heartbeats, and a failed start is tried again', async () => {
  let fails = true;
  const session = createMotionSession({
    start: () => (fails ? Promise.reject(new Error('away')) : Promise.resolve(undefined)),
    beat: () => Promise.reject(new Error('a heartbeat')),
    lost: () => {},
    nowMs: () => 0,
    every: () => expect.unreachable('heartbeats'),
  });
  await expect(session.id()).rejects.toThrow('away');
  expect(session.window).toBeUndefined();
  fails = false;
  expect([await session.id(), session.window]).toEqual([undefined, 'none']);
});

test('a session that the page ends gets no more heartbeats, and its window is still known; the next movement starts another', async () => {
  const machine = rig(500);
  await machine.session.id();
  machine.session.end();
  expect([machine.isBeating, machine.lost, machine.session.window]).toEqual([false, 0, 500]);
  expect(await machine.session.id()).toBe('s2');
});
