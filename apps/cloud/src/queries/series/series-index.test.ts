import { PlatformError } from '@platform/base';
import { BsonDate, BsonDocument } from '@platform/query';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import type { AskRows } from '../readings/ask-rows.ts';
import { createSeriesIndex, fewSeries } from './series-index.ts';

const rowsOf = (count: number): BsonDocument[] =>
  Array.from({ length: count }, (_, n) =>
    BsonDocument.of({
      _id: BsonDocument.of({ machine: `m-${n}`, component: 'oven' }),
      newest: new BsonDate(5),
      data: BsonDocument.of({ readings: BsonDocument.of({ Heat: 1 }) }),
    }),
  );

/** A store that takes a second for each answer. */
function openIndex(count: number): { index: ReturnType<typeof createSeriesIndex>; clock: FakeClock; asked(): number } {
  const clock = new FakeClock();
  let asked = 0;
  const ask: AskRows = async () => {
    asked++;
    await clock.advance(1_000);
    return rowsOf(count + asked);
  };
  return { index: createSeriesIndex(ask, clock), clock, asked: () => asked };
}

test('a short list is made anew for each caller', async () => {
  const { index } = openIndex(0);
  expect((await index.of('org')).series).toMatchObject([
    { machine: 'm-0', component: 'oven', newestMs: 5, text: 'oven\n\n\nreadings\nheat' },
  ]);
  expect((await index.of('org')).series).toHaveLength(2);
});

test('a long list is returned as it was, and made anew in the background at most a twentieth of the time', async () => {
  const { index, clock, asked } = openIndex(fewSeries);
  const first = await index.of('org');
  expect(first.series).toHaveLength(fewSeries + 1);
  await clock.advance(15_000);
  expect(await index.of('org')).toBe(first);
  expect(asked()).toBe(1);
  await clock.advance(6_000);
  expect(await index.of('org')).toBe(first);
  expect(asked()).toBe(2);
  await expect.poll(async () => (await index.of('org')).series.length).toBe(fewSeries + 2);
  // Too old to be returned.
  await clock.advance(11 * 60_000);
  expect((await index.of('org')).series).toHaveLength(fewSeries + 3);
});

test('a list that was being made when readings were deleted is not kept', async () => {
  const { index, asked } = openIndex(fewSeries);
  const [old] = await Promise.all([index.of('org'), Promise.resolve().then(() => index.forget('org'))]);
  expect(old.series).toHaveLength(fewSeries + 1);
  expect((await index.of('org')).series).toHaveLength(fewSeries + 2);
  expect(asked()).toBe(2);
});

test('newest readings that are too large for an answer are listed without the names of their values', async () => {
  let asked = 0;
  const ask: AskRows = async () => {
    if (asked++ === 0) throw new PlatformError('resource_exhausted', 'the answer is larger than 64 MiB');
    return rowsOf(1);
  };
  const index = createSeriesIndex(ask, new FakeClock());
  expect(await index.of('org')).toMatchObject({ ignoresValueNames: true, series: [{ machine: 'm-0' }] });
  const failing = createSeriesIndex(async () => {
    throw new PlatformError('unavailable', 'the store stopped');
  }, new FakeClock());
  await expect(failing.of('org')).rejects.toMatchObject({ code: 'unavailable' });
});
