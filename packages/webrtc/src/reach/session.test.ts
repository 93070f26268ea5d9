import { type Clock, PlatformError, systemClock } from '@platform/base';
import type { Link } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { createSession } from './session.ts';

interface FakeMachine {
  readonly started: string[];
  readonly beats: string[];
  /** Runs when a heartbeat is due. */
  beat: () => void;
  answer: () => void;
  readonly link: Pick<Link, 'client'>;
  readonly clock: Clock;
}

function fakeMachine(): FakeMachine {
  const machine: FakeMachine = {
    started: [],
    beats: [],
    beat: () => {},
    answer: () => {},
    link: {
      client: () =>
        ({
          async startSession() {
            machine.answer();
            machine.started.push(`s${machine.started.length}`);
            return { id: machine.started.at(-1), heartbeatWindow: { seconds: 1n, nanos: 0 } };
          },
          async sendSessionHeartbeat({ id }: { id: string }) {
            machine.answer();
            machine.beats.push(id);
          },
        }) as never,
    },
    clock: {
      ...systemClock,
      every(ms, act) {
        expect(ms).toBe(200);
        machine.beat = act;
        return {
          [Symbol.dispose]() {
            machine.beat = () => {};
          },
        };
      },
    },
  };
  return machine;
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

test('one session for all calls, heartbeats until it is disposed, a new session after the machine has forgotten it', async () => {
  const machine = fakeMachine();
  const session = createSession(machine.link, undefined, machine.clock);
  expect(machine.started).toEqual([]);
  expect(await Promise.all([session.id(), session.id()])).toEqual(['s0', 's0']);
  machine.beat();
  await settled();
  expect(machine.beats).toEqual(['s0']);
  machine.answer = () => {
    throw new PlatformError('unavailable', 'the link broke');
  };
  machine.beat();
  await settled();
  expect(await session.id()).toBe('s0');
  machine.answer = () => {
    throw new PlatformError('invalid_argument', 'SESSION_EXPIRED');
  };
  machine.beat();
  await settled();
  machine.answer = () => {};
  expect(await session.id()).toBe('s1');
  session[Symbol.dispose]();
  machine.beat();
  await settled();
  expect(machine.beats).toEqual(['s0']);
});

test('a machine without sessions is called without one; a failed start is retried', async () => {
  const machine = fakeMachine();
  using session = createSession(machine.link, undefined, machine.clock);
  machine.answer = () => {
    throw new PlatformError('unavailable', 'offline');
  };
  await expect(session.id()).rejects.toThrow('offline');
  machine.answer = () => {
    throw new PlatformError('unimplemented', 'no sessions');
  };
  expect(await session.id()).toBe('');
});

test('a heartbeat that is not answered by the best path goes by the other; the session ends only if the machine says so', async () => {
  const machine = fakeMachine();
  const floor = fakeMachine();
  const link: Pick<Link, 'client'> = {
    client: (service) => ({ ...machine.link.client(service), sendSessionHeartbeat: silent }) as never,
  };
  const deadlines: (number | undefined)[] = [];
  const silent = async (_request: object, { timeoutMs }: { timeoutMs?: number }): Promise<never> => {
    deadlines.push(timeoutMs);
    throw new PlatformError('deadline_exceeded', 'no answer');
  };
  using session = createSession(link, floor.link, machine.clock);
  expect(await session.id()).toBe('s0');
  machine.beat();
  await settled();
  expect([deadlines, floor.beats]).toEqual([[400], ['s0']]);
  floor.answer = () => {
    throw new PlatformError('invalid_argument', 'SESSION_EXPIRED');
  };
  machine.beat();
  await settled();
  expect(await session.id()).toBe('s1');
});
