import { createLog } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { defaultIngestSettings, type IngestSettings } from '../settings.ts';
import { type Backpressure, createBackpressure } from './backpressure.ts';

const megabyte = 1_000_000;

function given(settings: Partial<IngestSettings> = {}) {
  const clock = new FakeClock();
  const lines: string[] = [];
  const lag = { loadedPosition: 0, sealedPosition: 0, unsealedBytes: 0, isAsked: true };
  let moved = (): void => {};
  const backpressure: Backpressure = createBackpressure({
    store: {
      lag: () => lag,
      onProgress(listener) {
        moved = listener;
        return { [Symbol.dispose]: () => {} };
      },
    },
    settings: { ...defaultIngestSettings, ...settings },
    clock,
    log: createLog((_level, _logger, message) => void lines.push(message)),
  });
  let position = 0;
  const stored: string[] = [];
  return {
    ...{ clock, lines, lag, backpressure, stored },
    moved: () => moved(),
    async upload(organizationId: string, bytes: number, deadline?: number): Promise<void> {
      const { signal } = new AbortController();
      using admission = await backpressure.admit({
        ...{ organizationId, bytes, signal, deadline },
        isKnown: async () => false,
      });
      stored.push(organizationId);
      admission.stored(++position);
    },
  };
}

/** Resolves after all work that needs no timer has run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('the fuller the backlog, the longer an upload waits per byte, and at the bound it waits the maximum', async () => {
  const store = given();
  const waitOf = async (unsealedBytes: number, deadlineMs?: number): Promise<number> => {
    store.lag.unsealedBytes = 0;
    store.moved();
    store.lag.unsealedBytes = unsealedBytes;
    let isStored = false;
    const upload = store.upload('a', megabyte, deadlineMs && store.clock.now() + deadlineMs).then(() => {
      isStored = true;
    });
    let waitedMs = 0;
    for (await settled(); !isStored; waitedMs++) await store.clock.advance(1);
    await upload;
    return waitedMs;
  };
  expect(await waitOf(380 * megabyte)).toBe(0);
  const [quarter, half, most] = [
    await waitOf(415 * megabyte),
    await waitOf(447 * megabyte),
    await waitOf(505 * megabyte),
  ];
  expect(quarter).toBeGreaterThan(30);
  expect(half).toBeGreaterThan(2 * quarter);
  expect(most).toBeGreaterThan(4 * half);
  expect(await waitOf(600 * megabyte)).toBe(5_000);
  expect(await waitOf(600 * megabyte, 2_000)).toBe(1_000);
});

test('concurrent uploads take turns; once the store has caught up, all continue, alternating between organizations', async () => {
  const store = given();
  store.lag.unsealedBytes = 600 * megabyte;
  const uploads = ['a', 'a', 'a', 'b', 'b'].map((name) => store.upload(name, megabyte));
  await settled();
  expect(store.stored).toEqual([]);
  await store.clock.advance(4_000);
  expect(store.stored).toEqual([]);
  store.lag.unsealedBytes = 0;
  store.moved();
  await Promise.all(uploads);
  expect(store.stored).toEqual(['a', 'b', 'a', 'b', 'a']);
});

test('unloaded bytes stay bounded while an organization sends as fast as it can', async () => {
  const store = given({ unloadedBytes: 4 * megabyte, burstBytes: 4 * megabyte });
  const uploads = Array.from({ length: 8 }, () => store.upload('a', megabyte));
  await settled();
  expect(store.stored.length).toBeLessThanOrEqual(4);
  const before = store.stored.length;
  store.lag.loadedPosition = before;
  store.moved();
  await settled();
  expect(store.stored.length).toBeGreaterThan(before);
  expect(store.stored.length).toBeLessThanOrEqual(2 * before);
  await store.clock.advance(5_000);
  await Promise.all(uploads);
});

test('while no query is running, uploads do not wait for loading, as long as unsealed bytes are within their bound', async () => {
  const store = given();
  store.lag.isAsked = false;
  for (let n = 0; n < 40; n++) {
    for (let i = 0; i < 9; i++) await store.upload('a', megabyte);
    await store.clock.advance(1_000);
  }
  expect(store.stored).toHaveLength(360);
  expect(store.backpressure.slowed()).toBeUndefined();
  store.lag.isAsked = true;
  const upload = store.upload('a', megabyte);
  await settled();
  expect(store.backpressure.slowed()).toMatchObject({ uploads: 1, reason: expect.stringMatching(/loaded/) });
  await store.clock.advance(5_000);
  await upload;
});

test('a burst of readings does not wait for loading, a flood does', async () => {
  const store = given();
  const { clock, lag, stored } = store;
  for (let n = 0; n < 60; n++) await store.upload('a', megabyte);
  await clock.advance(5_001);
  const flood = store.upload('a', megabyte);
  await settled();
  await clock.advance(1);
  const next = store.upload('a', megabyte);
  await settled();
  expect(stored).toHaveLength(61);
  expect(store.backpressure.slowed()).toMatchObject({ uploads: 1, reason: expect.stringMatching(/loaded/) });
  lag.loadedPosition = 61;
  store.moved();
  await Promise.all([flood, next]);
  // Too soon for another burst.
  await clock.advance(20_000);
  for (let n = 0; n < 18; n++) await store.upload('a', megabyte);
  const more = [store.upload('a', megabyte), store.upload('a', 5 * megabyte)];
  await settled();
  expect(stored.length).toBeLessThan(63 + 18 + 1);
  lag.loadedPosition = 63 + 18;
  store.moved();
  await clock.advance(5_000);
  await Promise.all(more);
  lag.loadedPosition = stored.length;
  store.moved();
  await clock.advance(31_000);
  for (let n = 0; n < 60; n++) await store.upload('a', megabyte);
});

test('the log reports once that uploads are slowed down, and once that they no longer are', async () => {
  const store = given();
  const wait = async (): Promise<void> => {
    store.lag.unsealedBytes = 600 * megabyte;
    const upload = store.upload('a', megabyte);
    await settled();
    await store.clock.advance(5_000);
    await upload;
  };
  const sinceMs = store.clock.now();
  for (let n = 0; n < 10; n++) await wait();
  expect(store.backpressure.slowed()).toMatchObject({ sinceMs, uploads: 10, refused: 0 });
  await store.clock.advance(50_000);
  expect(store.backpressure.slowed()).toMatchObject({ uploads: 10 });
  await store.clock.advance(20_000);
  expect(store.backpressure.slowed()).toBeUndefined();
  expect(store.lines).toHaveLength(2);
  await wait();
  expect(store.lines).toHaveLength(3);
});

test('when too many uploads wait, the organization with the most waiting loses its newest upload, not the one with less', async () => {
  const store = given({ waitingBytes: 4 * megabyte });
  store.lag.unsealedBytes = 600 * megabyte;
  const outcomes: string[] = [];
  const send = (name: string): void =>
    void store.upload(name, 0.9 * megabyte).then(
      () => outcomes.push(`${name} stored`),
      ({ code }) => outcomes.push(`${name} ${code}`),
    );
  for (const name of ['a', 'a', 'a', 'a', 'a', 'b', 'b']) send(name);
  await settled();
  expect(outcomes).toEqual(['a resource_exhausted', 'a resource_exhausted', 'a resource_exhausted']);
  await store.clock.advance(5_000);
  expect(outcomes.slice(3).toSorted()).toEqual(['a stored', 'a stored', 'b stored', 'b stored']);
  expect(store.backpressure.slowed()).toMatchObject({ uploads: 7, refused: 3 });
});
