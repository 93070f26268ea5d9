import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { CloudReach } from './cloud-reach.ts';
import { NetworkWatch } from './network-watch.ts';

const { signal } = new AbortController();

test('the first call that succeeds after failures ends all waits; further ones end none', async () => {
  const clock = new FakeClock();
  const reach = new CloudReach(clock);
  let retries = 0;
  using _listening = reach.onRetry(() => retries++);
  reach.report(true);
  reach.report(false);
  reach.report(false);
  expect(retries).toBe(0);
  const waits = [reach.wait(60_000, signal), reach.wait(600_000, signal)];
  reach.report(true);
  await Promise.all(waits);
  reach.report(true);
  expect(retries).toBe(1);
  expect(clock.waiting).toBe(0);
});

test('a change of the addresses of this computer ends all waits, and later ones are short while routes settle', async () => {
  const clock = new FakeClock();
  const reach = new CloudReach(clock);
  let addresses = ['10.0.0.2', '127.0.0.1'];
  const seen: string[][] = [];
  using watch = new NetworkWatch({
    addresses: () => addresses,
    onChange(found) {
      seen.push([...found]);
      reach.networkChanged();
    },
    clock,
  });
  watch.start();
  const wait = reach.wait(60_000, signal);
  await clock.advance(5_000);
  addresses = ['127.0.0.1', '10.0.0.2'];
  await clock.advance(5_000);
  expect(seen).toEqual([]);
  addresses = ['127.0.0.1', '192.168.7.3'];
  await clock.advance(1_000);
  await wait;
  expect(seen).toEqual([addresses]);
  let isOver = false;
  void reach.wait(60_000, signal).then(() => (isOver = true));
  await clock.advance(1_000);
  expect(isOver).toBe(true);
  await clock.advance(20_000);
  let isLongOver = false;
  void reach.wait(60_000, signal).then(() => (isLongOver = true));
  await clock.advance(59_000);
  expect(isLongOver).toBe(false);
  await clock.advance(1_000);
  expect(isLongOver).toBe(true);
});
