import { PlatformError, silentLog } from '@platform/base';
import type { Link } from '@platform/rpc/client';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { CloudReach } from './cloud-reach.ts';
import { watchForRestart } from './restart-watch.ts';

test('ADR-0066 the cloud is asked every 5 s, and 1 s after a call that hung for longer', async () => {
  const clock = new FakeClock();
  const asked: number[] = [];
  const hangsMs = [0, 10_000, 3_000, 0];
  const needsRestart = async (): Promise<never> => {
    asked.push(clock.monotonic());
    await clock.sleep(hangsMs.shift() ?? 0);
    throw new PlatformError('unavailable', 'away');
  };
  await using _watch = watchForRestart({
    link: { client: () => ({ needsRestart }) } as unknown as Link,
    ...{ partId: 'press', restart: () => {}, reach: new CloudReach(clock), clock, log: silentLog },
  });
  await clock.advance(31_000);
  expect(asked).toEqual([5_000, 10_000, 21_000, 26_000, 31_000]);
});
