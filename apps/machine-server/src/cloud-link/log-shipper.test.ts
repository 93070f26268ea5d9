import { PlatformError } from '@platform/base';
import { FakeClock, temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { LogQueue } from '../logging/log-queue.ts';
import { createServerLog } from '../logging/server-log.ts';
import { FakeLogCloud } from '../testing/fake-log-cloud.ts';
import { LogShipper } from './log-shipper.ts';

async function rig() {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  const clock = new FakeClock();
  const cloud = new FakeLogCloud();
  const serverLog = createServerLog({ file: '/dev/null', alsoFile: undefined, clock });
  onTestFinished(() => serverLog[Symbol.asyncDispose]());
  const queue = new LogQueue({ directory: directory.file('queue'), clock, onState: () => {} });
  await queue.start();
  onTestFinished(() => queue[Symbol.asyncDispose]());
  const shipper = new LogShipper({ link: cloud.link(), partId: 'p', queue, clock, log: serverLog.log });
  onTestFinished(() => shipper[Symbol.asyncDispose]());
  const own: string[] = [];
  serverLog.onLine(({ message }) => own.push(message));
  const add = (message: string): void => {
    queue.add({ timeMs: clock.now(), level: 'info', logger: 'a', message, fields: {} });
    shipper.wake();
  };
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await clock.advance(500);
  };
  return { clock, cloud, queue, shipper, own, add, until };
}

const numbers = (count: number): string[] => Array.from({ length: count }, (_, n) => `line ${n}`);

test('lines reach the cloud once and in order, although answers are lost and calls fail', async () => {
  const { cloud, shipper, add, until } = await rig();
  let calls = 0;
  cloud.before = () => {
    if (++calls % 3 === 0) throw new PlatformError('unavailable', 'down');
  };
  cloud.after = () => {
    if (calls % 3 === 1) throw new PlatformError('deadline_exceeded', 'the answer is lost');
  };
  for (const message of numbers(150)) add(message);
  shipper.start();
  await until(() => cloud.stored.length === 150);
  for (const message of ['more', 'and more']) add(message);
  await until(() => cloud.stored.length === 152);
  expect(cloud.stored).toEqual([...numbers(150), 'more', 'and more']);
  expect(cloud.repeated).toBeGreaterThan(0);
  expect(Math.max(...cloud.calls.map(({ messages }) => messages.length))).toBe(100);
});

test.each(['invalid_argument', 'resource_exhausted'] as const)(
  'a line that the cloud answers with %s is replaced by one that says so; all others get through',
  async (code) => {
    const { cloud, shipper, own, add, until } = await rig();
    cloud.before = (messages) => {
      if (messages.includes('line 7')) throw new PlatformError(code, 'not this one');
    };
    for (const message of numbers(20)) add(message);
    shipper.start();
    await until(() => cloud.stored.length === 20);
    const expected = numbers(20);
    expected[7] = 'the cloud did not accept a line of the logger "a" (not this one)';
    expect(cloud.stored).toEqual(expected);
    expect(own).toEqual([]);
  },
);

test.each(['permission_denied', 'invalid_argument', 'resource_exhausted', 'unimplemented'] as const)(
  'if the cloud answers every call with %s, no line is lost: they wait, the log says so once, and they are sent later',
  async (code) => {
    const { cloud, clock, shipper, own, add, until } = await rig();
    cloud.before = () => {
      throw new PlatformError(code, 'no');
    };
    for (const message of numbers(5)) add(message);
    shipper.start();
    await until(() => own.length === 1);
    for (let minute = 0; minute < 10; minute++) await clock.advance(60_000);
    expect(own).toEqual(['the cloud does not accept the log of this machine; the lines wait in the queue: no']);
    cloud.before = () => {};
    await until(() => cloud.stored.length === 5);
    expect(cloud.stored).toEqual(numbers(5));
  },
);

test('the backlog of offline weeks is sent no faster than the cloud accepts it', async () => {
  const { cloud, clock, shipper, queue, until } = await rig();
  for (let n = 0; n < 7_000; n++)
    queue.add({ timeMs: 0, level: 'info', logger: 'a', message: `line ${n}`, fields: {} });
  shipper.start();
  await until(() => cloud.stored.length >= 5_000);
  const [atMs, before] = [clock.monotonic(), cloud.stored.length];
  await until(() => cloud.stored.length >= 6_000);
  const perSecond = ((cloud.stored.length - before) * 1_000) / (clock.monotonic() - atMs);
  expect(perSecond).toBeLessThan(150);
});
