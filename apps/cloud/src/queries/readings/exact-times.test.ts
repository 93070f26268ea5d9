import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';
import {
  type ExportTabularDataRequestSchema,
  type ExportTabularDataResponse,
  Order,
} from '@platform/proto/platform/app/data/v1/data';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openTabular } from '../../tabular/testing/open-tabular.ts';
import { type ServedQueries, serveQueries } from '../testing/serve-queries.ts';
import { microsecondsOf, timestampOf } from './microseconds.ts';

const noon = BigInt(Date.UTC(2026, 4, 17, 12)) * 1_000n;
const cpu = {
  partId: 'part-1',
  resourceName: 'cpu',
  resourceSubtype: 'core:component:sensor',
  methodName: 'Readings',
} as const;

type Interval = NonNullable<MessageInitShape<typeof ExportTabularDataRequestSchema>['interval']>;

async function exported(
  { client }: ServedQueries,
  resourceName: string,
  interval: Interval = {},
): Promise<ExportTabularDataResponse[]> {
  const rows: ExportTabularDataResponse[] = [];
  for await (const row of client.exportTabularData({ ...cpu, resourceName, interval })) rows.push(row);
  return rows;
}

/** Number and exact time of each row. */
const seen = (rows: readonly ExportTabularDataResponse[]): string[] =>
  rows.map(({ payload, timeCaptured }) => `${payload?.['i']} ${timeCaptured && microsecondsOf(timeCaptured)}`);

/** Few distinct milliseconds, so that many readings share one, and few share a microsecond. */
const offset = fc.integer({ min: -1_500, max: 4_500 });
const reading = fc.record({ offset, has: fc.constantFrom('received', 'received', 'received', 'requested', 'none') });
const upload = fc.record({
  readings: fc.array(reading, { minLength: 1, maxLength: 12 }),
  start: fc.constantFrom(noon, noon + 1_000n, 0n),
  seals: fc.boolean(),
});
/** With nanoseconds, as clients may send them. */
const cut = fc.tuple(fc.constantFrom(noon, 0n), offset, fc.integer({ min: 0, max: 999 }));

const boundAt = ([start, at, nanos]: readonly [bigint, number, number]): Timestamp => {
  const whole = timestampOf(start + BigInt(at));
  return create(TimestampSchema, { seconds: whole.seconds, nanos: whole.nanos + nanos });
};

test('D35 exports of adjacent intervals contain each reading once, with its microseconds, hot and sealed alike', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  // Each run has a component of its own.
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(upload, { minLength: 1, maxLength: 6 }),
      fc.array(cut, { minLength: 1, maxLength: 5 }),
      async (uploads, cuts) => {
        const componentName = `cpu ${++runs}`;
        const expected: string[] = [];
        let i = 0;
        for (const { readings, start, seals } of uploads) {
          const syncedMs = Number(noon / 1_000n) + i;
          store.append({
            metadata: { componentName },
            readings: readings.map(({ offset: at, has }) => {
              const us = start + BigInt(at);
              const ms = Number(us) / 1_000;
              expected.push(`${i} ${has === 'none' ? syncedMs * 1_000 : us}`);
              return {
                data: { i: i++ },
                receivedMs: has === 'received' ? ms : null,
                requestedMs: has === 'none' ? null : ms,
              };
            }),
            syncedMs,
          });
          if (seals) await store.tabular.seal();
        }
        const whole = await exported(queries, componentName);
        expect(seen(whole).toSorted()).toEqual(expected.toSorted());
        const bounds = cuts.map(boundAt).toSorted((a, b) => Number(microsecondsOf(a) - microsecondsOf(b)));
        const pieces: string[] = [];
        let [counted, paged] = [0n, 0];
        for (const [at, end] of [...bounds, undefined].entries()) {
          const start = bounds[at - 1];
          const interval = { ...(start && { start }), ...(end && { end }) };
          const piece = seen(await exported(queries, componentName, interval));
          pieces.push(...piece);
          const asked = { filter: { componentName, interval }, limit: 7n, sortOrder: Order.ASCENDING };
          const answer = await queries.client.tabularDataByFilter({ dataRequest: asked, countOnly: true });
          expect(answer.count).toBe(BigInt(piece.length));
          counted += answer.count;
          for (let last = ''; ; ) {
            const page = await queries.client.tabularDataByFilter({ dataRequest: { ...asked, last } });
            if (page.data.length === 0) break;
            paged += page.data.length;
            last = page.last;
          }
        }
        expect(pieces).toEqual(seen(whole));
        expect([counted, paged]).toEqual([BigInt(whole.length), whole.length]);
      },
    ),
    { numRuns: 12 },
  );
});

test('D35 the newest reading has the latest microsecond, and its page has the times as they were sent', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  const at = (us: number): number => Number(noon) / 1_000 + us / 1_000;
  for (const [i, us] of [3, 999, 998, 7].entries())
    store.append({ readings: [{ data: { i }, receivedMs: at(us), requestedMs: at(us - 5) }] });
  const newest = { payload: { i: 1 }, timeCaptured: timestampOf(noon + 999n) };
  expect(await queries.client.getLatestTabularData(cpu)).toMatchObject(newest);
  await store.tabular.seal();
  expect(await queries.client.getLatestTabularData(cpu)).toMatchObject(newest);
  const page = await queries.client.tabularDataByFilter({});
  expect(page.data.map(({ data }) => data?.['i'])).toEqual([1, 2, 3, 0]);
  expect(page.data[0]).toMatchObject({
    timeReceived: timestampOf(noon + 999n),
    timeRequested: timestampOf(noon + 994n),
  });
});

test('D35 MQL sees and compares milliseconds, whether or not the condition is pushed', async () => {
  await using store = await openTabular();
  const at = (us: number): number => Number(noon) / 1_000 + us / 1_000;
  const append = (i: number, us: number): number => store.append({ readings: [{ data: { i }, receivedMs: at(us) }] });
  [0, 1, 999, 1_000, 1_001].forEach((us, i) => void append(i, us));
  await store.tabular.seal();
  [0, 999, 1_999].forEach((us, i) => void append(10 + i, us));
  const second = new Date(at(1_000));
  for (const pushDown of [true, false]) {
    const numbers = async (match: object): Promise<unknown[]> => {
      const rows = await store.mql([{ $match: { time_received: match } }], { pushDown });
      return rows.map(({ data }) => (data as { i: number }).i).toSorted((a, b) => a - b);
    };
    expect(await numbers({ $lt: second })).toEqual([0, 1, 2, 10, 11]);
    expect(await numbers({ $eq: second })).toEqual([3, 4, 12]);
    expect(await numbers({ $gt: second })).toEqual([]);
  }
});
