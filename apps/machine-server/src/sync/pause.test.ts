import { expect, test } from 'vitest';
import { Pause } from './pause.ts';

test('D15 an unreachable cloud is retried after increasing delays, one upload at a time; uploads that fail together count once', () => {
  const pause = new Pause(() => 0.5);
  pause.failed(0, undefined);
  pause.failed(10, undefined);
  expect([pause.isPaused(199), pause.isPaused(200), pause.isProbing]).toEqual([true, false, true]);
  pause.failed(200, undefined);
  expect([pause.isPaused(599), pause.isPaused(600)]).toEqual([true, false]);
  pause.succeeded();
  expect([pause.isPaused(601), pause.isProbing, pause.until]).toEqual([false, false, undefined]);
});

test('D15 a wait requested with RESOURCE_EXHAUSTED is kept, and machines do not all return at once', () => {
  const waits = [0, 1].map((drawn) => {
    const pause = new Pause(() => drawn);
    pause.failed(0, 30_000);
    return pause.until;
  });
  expect(waits).toEqual([30_000, 36_000]);
});

test('D15 a pause of at most 12 s ends when the cloud can be reached again; one that the cloud asked for does not', () => {
  const pause = new Pause(() => 1);
  for (let now = 0; now < 600_000; now += 60_000) pause.failed(now, undefined);
  expect(pause.until).toBe(540_000 + 12_000);
  pause.retry(541_000);
  expect([pause.isPaused(541_000), pause.isProbing]).toEqual([false, true]);
  pause.failed(542_000, 30_000);
  pause.retry(543_000);
  expect(pause.isPaused(570_000)).toBe(true);
});
