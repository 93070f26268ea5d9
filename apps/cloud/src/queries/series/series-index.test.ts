import { PlatformError, silentLog } from '@platform/base';
import { BsonDate, BsonDocument, DocumentBatch } from '@platform/query';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import type { AskBatch } from '../readings/ask-rows.ts';
import { fewestMachines, startPreparing } from './prepare-series.ts';
import { createSeriesIndex, fewSeries, namesAfterMs, type SeriesIndex } from './series-index.ts';

const org = 'org';
const idOfMachine = (n: number): BsonDocument =>
  BsonDocument.of({ machine: `m-${n}`, part: `p-${n}`, component: 'oven' });
const rowsOf = (count: number, values: Record<string, BsonDate | BsonDocument>): DocumentBatch =>
  new DocumentBatch(Array.from({ length: count }, (_, n) => BsonDocument.of({ _id: idOfMachine(n), ...values })));
const data = BsonDocument.of({ readings: BsonDocument.of({ Heat: 1 }) });

interface Asked {
  readonly index: SeriesIndex;
  readonly clock: FakeClock;
  /** How often the store was asked for series, and for their newest readings. */
  readonly asked: { series: number; newest: number };
}

/**
 * A store that takes 200 ms to list series, one more each time, and 800 ms to read their newest readings.
 * @param newest waits before the newest readings are answered
 */
function openIndex(count: number, newest: () => Promise<void> = async () => undefined): Asked {
  const clock = new FakeClock();
  const asked = { series: 0, newest: 0 };
  const ask: AskBatch = async (_scope, stages) => {
    if (stages[0] !== undefined && '$sort' in stages[0]) {
      asked.newest++;
      await newest();
      await clock.advance(800);
      return rowsOf(count + asked.series, { data });
    }
    asked.series++;
    await clock.advance(200);
    return rowsOf(count + asked.series, { newest: new BsonDate(5) });
  };
  return { index: createSeriesIndex(ask, clock), clock, asked };
}

test('a short list is made anew for each caller, without newest readings unless it is searched', async () => {
  const { index, asked } = openIndex(0);
  expect((await index.of(org, false)).series).toMatchObject([
    { machine: 'm-0', component: 'oven', newestMs: 5, text: 'oven\n\n', valueNames: '' },
  ]);
  expect(asked).toEqual({ series: 1, newest: 0 });
  const { series } = await index.of(org, true);
  expect(series).toHaveLength(2);
  expect(series[1]).toMatchObject({ machine: 'm-1', valueNames: 'readings\nheat' });
});

test('a long list is returned as it was, and made anew in the background at most a twentieth of the time', async () => {
  const { index, clock, asked } = openIndex(fewSeries);
  const first = await index.of(org, true);
  expect(first.series).toHaveLength(fewSeries + 1);
  await clock.advance(15_000);
  expect((await index.of(org, false)).series).toBe(first.series);
  expect(asked.series).toBe(1);
  await clock.advance(6_000);
  expect((await index.of(org, true)).series).toBe(first.series);
  expect(asked.series).toBe(2);
  const later = async (): Promise<number> => {
    await clock.advance(namesAfterMs / 4);
    return (await index.of(org, true)).series.length;
  };
  await expect.poll(later, { interval: 5 }).toBe(fewSeries + 2);
  // Too old to be returned.
  await clock.advance(11 * 60_000);
  expect((await index.of(org, true)).series).toHaveLength(fewSeries + 3);
});

test('who does not search does not wait for the newest readings of a long list; who searches does', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { index, asked } = openIndex(fewSeries, () => promise);
  const searched = index.of(org, true);
  // Two pages while the list is made: it is made once.
  expect((await index.of(org, false)).series).toHaveLength(fewSeries + 1);
  expect((await index.of(org, false)).series[0]?.valueNames).toBe('');
  resolve();
  expect((await searched).series[0]?.valueNames).toBe('readings\nheat');
  expect(asked).toEqual({ series: 1, newest: 1 });
});

test('a list that was prepared is there when somebody asks for it', async () => {
  const { index, clock, asked } = openIndex(fewSeries);
  const prepared = index.prepare(org);
  await clock.advance(200);
  expect(asked).toEqual({ series: 1, newest: 0 });
  await clock.advance(namesAfterMs);
  await prepared;
  expect((await index.of(org, true)).series[0]?.valueNames).toBe('readings\nheat');
  expect(asked).toEqual({ series: 1, newest: 1 });
});

test('after a start, lists of large organizations are prepared, one at a time, the largest first', async () => {
  const prepared: string[] = [];
  let running = 0;
  const { promise: all, resolve } = Promise.withResolvers<void>();
  const index = {
    async prepare(organizationId: string) {
      expect(++running).toBe(1);
      await new Promise((next) => setImmediate(next));
      running--;
      if (prepared.push(organizationId) === 2) resolve();
      // A failure does not end the others.
      throw new PlatformError('unavailable', 'the store stopped');
    },
  };
  const sizes = { small: fewestMachines - 1, large: fewestMachines, largest: fewestMachines + 1 };
  const fleetSizes = () => Object.entries(sizes).map(([organizationId, machines]) => ({ organizationId, machines }));
  await using _preparing = startPreparing({ index, fleetSizes, log: silentLog });
  await all;
  expect(prepared).toEqual(['largest', 'large']);
});

test('a list that was being made when readings were deleted is not kept', async () => {
  const { index, asked } = openIndex(fewSeries);
  const [old] = await Promise.all([index.of(org, true), Promise.resolve().then(() => index.forget(org))]);
  expect(old.series).toHaveLength(fewSeries + 1);
  expect((await index.of(org, true)).series).toHaveLength(fewSeries + 2);
  expect(asked.series).toBe(2);
});

test('newest readings that are too large for an answer are listed without the names of their values', async () => {
  const ask: AskBatch = async (_scope, stages) => {
    if (stages.length > 1) throw new PlatformError('resource_exhausted', 'the answer is larger than 64 MiB');
    return rowsOf(1, {});
  };
  const index = createSeriesIndex(ask, new FakeClock());
  expect(await index.of(org, true)).toMatchObject({ ignoresValueNames: true, series: [{ machine: 'm-0' }] });
  const failing = createSeriesIndex(async () => {
    throw new PlatformError('unavailable', 'the store stopped');
  }, new FakeClock());
  await expect(failing.of(org, false)).rejects.toMatchObject({ code: 'unavailable' });
  await expect(failing.of(org, true)).rejects.toMatchObject({ code: 'unavailable' });
});
