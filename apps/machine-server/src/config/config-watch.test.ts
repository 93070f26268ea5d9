import { createLog, deletedMachineText, PlatformError, silentLog } from '@platform/base';
import type { Link } from '@platform/rpc/client';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { CloudReach } from '../cloud-link/cloud-reach.ts';
import { ConfigWatch } from './config-watch.ts';
import type { CloudCredentials } from './credentials.ts';

/** The times of the polls, in ms, if each takes this long and then fails. */
async function pollsOf(hangMs: number, refreshMs: number, untilMs: number): Promise<readonly number[]> {
  const clock = new FakeClock();
  const polls: number[] = [];
  const config = async (_request: unknown, { signal }: { readonly signal: AbortSignal }): Promise<never> => {
    polls.push(clock.monotonic());
    await clock.sleep(hangMs, signal);
    throw new PlatformError('deadline_exceeded', 'no answer');
  };
  await using watch = new ConfigWatch({
    link: { client: () => ({ config }) } as unknown as Link,
    credentials: { partId: 'press', appAddress: 'https://cloud.example', refreshMs } as CloudCredentials,
    ...{ home: '/nowhere', readTimeoutMs: hangMs, onProblem: () => {}, reach: new CloudReach(clock) },
    ...{ clock, log: silentLog },
  });
  watch.start(
    () => {},
    async () => undefined,
  );
  await clock.advance(untilMs);
  return polls;
}

const gapsOf = (times: readonly number[]): readonly number[] => times.slice(1).map((time, n) => time - (times[n] ?? 0));

test('ADR-0066 a poll that hung for longer than its interval and the longest wait is repeated at once', async () => {
  const gaps = gapsOf(await pollsOf(15_000, 5_000, 200_000));
  expect(Math.max(...gaps)).toBeLessThanOrEqual(15_000 + 240);
  expect(gaps.length).toBeGreaterThan(10);
});

test('polls that fail at once are repeated after the interval, and after up to 9.6 s if that is longer', async () => {
  for (const [refreshMs, leastMs] of [
    [20_000, 20_000],
    [1_000, 6_400],
  ] as const) {
    const last = gapsOf(await pollsOf(0, refreshMs, 200_000)).at(-1);
    expect(last).toBeGreaterThanOrEqual(leastMs);
    expect(last).toBeLessThanOrEqual(Math.max(refreshMs, 9_600));
  }
});

test('the server of a machine that the cloud has deleted logs that once as an error, and one without a cached configuration ends with it', async () => {
  const clock = new FakeClock();
  const errors: string[] = [];
  const log = createLog((level, _logger, message) => void (level === 'error' && errors.push(message)));
  const config = async (): Promise<never> => {
    throw new PlatformError('permission_denied', `part "press": ${deletedMachineText}`);
  };
  await using watch = new ConfigWatch({
    link: { client: () => ({ config }) } as unknown as Link,
    credentials: { partId: 'press', appAddress: 'https://cloud.example', refreshMs: 1_000 } as CloudCredentials,
    ...{ home: '/nowhere', readTimeoutMs: 1_000, onProblem: () => {}, reach: new CloudReach(clock) },
    ...{ clock, log },
  });
  await expect(watch.first(new AbortController().signal)).rejects.toThrow(
    'https://cloud.example: the cloud has deleted this machine: stop its machine-server, or connect it again',
  );
  watch.start(
    () => {},
    async () => undefined,
  );
  await clock.advance(60_000);
  expect(errors).toEqual([expect.stringContaining('the cloud has deleted this machine')]);
});
