import { create, fromJson, type JsonObject, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { anyPack, StructSchema, timestampFromMs, timestampMs, ValueSchema } from '@bufbuild/protobuf/wkt';
import { maxReadingLevels } from '@platform/base';
import type {
  ExportTabularDataRequestSchema,
  ExportTabularDataResponse,
} from '@platform/proto/platform/app/data/v1/data';
import { expect, test } from 'vitest';
import { ManualClock } from '../../machines/testing/manual-clock.ts';
import { openTabular } from '../../tabular/testing/open-tabular.ts';
import { type ServedQueries, serveQueries } from '../testing/serve-queries.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);
const cpu = {
  partId: 'part-1',
  resourceName: 'cpu',
  resourceSubtype: 'core:component:sensor',
  methodName: 'Readings',
} as const;

type Asked = Partial<MessageInitShape<typeof ExportTabularDataRequestSchema>>;

async function exported(
  { client }: ServedQueries,
  asked: Asked = {},
  who = 'operator',
): Promise<ExportTabularDataResponse[]> {
  const stream = client.exportTabularData({ ...cpu, ...asked } as never, { headers: { 'x-who': who } });
  const rows: ExportTabularDataResponse[] = [];
  for await (const row of stream) rows.push(row);
  return rows;
}

const numbers = (rows: readonly ExportTabularDataResponse[]): unknown[] => rows.map(({ payload }) => payload?.['i']);
const times = (rows: readonly ExportTabularDataResponse[]): (number | undefined)[] =>
  rows.map(({ timeCaptured }) => timeCaptured && timestampMs(timeCaptured));

test('ExportTabularData: every reading once, oldest first, on any day, hot and sealed, even without times', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  const minuteMs = 60_000;
  const expected: { i: number; ms: number }[] = [];
  // Bursts, gaps of days, many readings in one millisecond, and readings without times.
  for (let i = 0; i < 4_000; i += 500) {
    const startMs = noonMs + (i % 2_000) * 97 * minuteMs;
    const readings = Array.from({ length: 500 }, (_, n) => {
      const receivedMs = i === 2_500 ? startMs : startMs + n * (i + 1);
      expected.push({ i: i + n, ms: receivedMs });
      return { data: { i: i + n }, receivedMs };
    });
    store.append({ readings, syncedMs: noonMs + i });
    if (i % 1_500 === 0) await store.tabular.seal();
  }
  store.append({ readings: [{ data: { i: 9_000 }, receivedMs: null, requestedMs: noonMs + 7 }], syncedMs: noonMs });
  store.append({ readings: [{ data: { i: 9_001 }, receivedMs: null, requestedMs: null }], syncedMs: noonMs + 9 });
  expected.push({ i: 9_000, ms: noonMs + 7 }, { i: 9_001, ms: noonMs + 9 });
  store.append({ metadata: { componentName: 'disk' }, readings: [{ data: { i: -1 }, receivedMs: noonMs }] });
  const rows = await exported(queries);
  expect(rows).toHaveLength(expected.length);
  expect(times(rows)).toEqual(times(rows).toSorted((a, b) => Number(a) - Number(b)));
  const found = rows.map(
    ({ payload, timeCaptured }) => `${payload?.['i']} ${timeCaptured && timestampMs(timeCaptured)}`,
  );
  expect(found.toSorted()).toEqual(expected.map(({ i, ms }) => `${i} ${ms}`).toSorted());
});

test('ExportTabularData: the most deeply nested document that can be stored is returned', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  const nested = (levels: number): JsonObject => (levels === 1 ? { i: 7 } : { a: nested(levels - 1) });
  const data = nested(maxReadingLevels);
  store.append({ readings: [{ data }] });
  await store.count();
  expect((await exported(queries)).map(({ payload }) => payload)).toEqual([data]);
});

test('ExportTabularData can be continued from the last time after an interruption, without gaps or duplicates', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  for (let i = 0; i < 60; i++)
    store.append({
      readings: [
        { data: { i }, receivedMs: i % 10 === 0 ? null : noonMs + Math.floor(i / 5), requestedMs: noonMs + i },
      ],
      syncedMs: noonMs + i,
    });
  const whole = numbers(await exported(queries));
  for (const cut of [1, 7, 23, 44, 59]) {
    const begun: ExportTabularDataResponse[] = [];
    for await (const row of queries.client.exportTabularData(cpu)) if (begun.push(row) === cut) break;
    const start = begun.at(-1)?.timeCaptured;
    const kept = begun.filter(
      ({ timeCaptured }) => timeCaptured && start && timestampMs(timeCaptured) < timestampMs(start),
    );
    const rest = await exported(queries, { interval: { start } } as Asked);
    expect(numbers([...kept, ...rest])).toEqual(whole);
  }
});

test('ExportTabularData: an interval includes its start but not its end; parameters filter; all fields are returned', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  const value = (json: object) => anyPack(ValueSchema, fromJson(ValueSchema, json as never));
  const append = (i: number, methodParameters = {}, tags: string[] = []): number =>
    store.append({
      metadata: { methodParameters, tags },
      readings: [{ data: { i }, receivedMs: noonMs + i }],
      syncedMs: noonMs + 50,
    });
  append(0);
  append(1, { pin: value({ b: 1, a: [{ y: 1, x: 2 }] }), 'x.y': value({ $z: 1 }) }, ['t']);
  append(2, { pin: value({ b: 2 }) });
  append(3);
  const found = async (asked: object): Promise<unknown[]> => numbers(await exported(queries, asked as Asked));
  expect(await found({ interval: { start: timestampFromMs(noonMs + 1), end: timestampFromMs(noonMs + 3) } })).toEqual([
    1, 2,
  ]);
  expect(await found({ interval: { end: timestampFromMs(noonMs + 1) } })).toEqual([0]);
  expect(await found({ additionalParameters: { pin: { a: [{ x: 2, y: 1 }], b: 1 } } })).toEqual([1]);
  expect(await found({ additionalParameters: { 'x.y': { $z: 1 } } })).toEqual([1]);
  expect(await found({ additionalParameters: { pin: { b: 2 } } })).toEqual([2]);
  expect(await found({ additionalParameters: { pin: { b: 1 } } })).toEqual([]);
  expect(await found({ additionalParameters: {} })).toEqual([0, 1, 2, 3]);
  expect(await found({ resourceSubtype: 'sensor' })).toEqual([0, 1, 2, 3]);
  expect(await found({ resourceSubtype: 'motor' })).toEqual([]);
  const { client } = queries;
  const newest = await client.getLatestTabularData(
    { ...cpu, resourceSubtype: 'sensor' },
    { headers: { 'x-who': 'operator' } },
  );
  expect(newest.payload).toEqual({ i: 3 });
  const [first, second] = await exported(queries);
  expect(first).toMatchObject({ methodParameters: {}, payload: { i: 0 }, timeCaptured: timestampFromMs(noonMs) });
  expect(second).toMatchObject({
    ...cpu,
    organizationId: 'org-1',
    locationId: 'loc-1',
    robotId: 'robot-1',
    robotName: 'machine 1',
    partName: 'part 1',
    methodParameters: { pin: { a: [{ x: 2, y: 1 }], b: 1 }, 'x.y': { $z: 1 } },
    tags: ['t'],
    payload: { i: 1 },
    timeSynced: timestampFromMs(noonMs + 50),
  });
  await expect(exported(queries, { resourceName: '' })).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('resource_name'),
  });
});

test('ExportTabularData: readings too large for one answer of the store are requested in smaller pieces', async () => {
  await using store = await openTabular({ maxResultBytes: 100_000 });
  await using queries = await serveQueries(store);
  for (let i = 0; i < 20; i++)
    store.append({ readings: [{ data: { i, text: 'z'.repeat(i === 7 ? 90_000 : 30_000) }, receivedMs: noonMs + i }] });
  expect(numbers(await exported(queries))).toEqual(Array.from({ length: 20 }, (_, i) => i));
});

test('D7 NaN and the infinities are returned as numbers, but as strings in JSON and to public TypeScript clients', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  const fields = {
    i: create(ValueSchema, { kind: { case: 'numberValue', value: Number.NaN } }),
    deep: create(ValueSchema, listOf(Number.NEGATIVE_INFINITY)),
  };
  const struct = create(StructSchema, { fields });
  store.append({ readings: [{ data: toBinary(StructSchema, struct), receivedMs: noonMs }] });
  const latest = async (headers: Record<string, string>) =>
    (await queries.client.getLatestTabularData(cpu, { headers })).payload;
  expect(await latest({})).toEqual({ i: Number.NaN, deep: [Number.NEGATIVE_INFINITY] });
  const texts = { i: 'NaN', deep: ['-Infinity'] };
  expect(await latest({ viam_client: 'typescript;v0.61.1;v0.1.512' })).toEqual(texts);
  const response = await fetch(`${queries.baseUrl}/platform.app.data.v1.DataService/TabularDataByFilter`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  expect(await response.json()).toMatchObject({ data: [{ data: texts }] });
  expect((await exported(queries))[0]?.payload?.['i']).toBeNaN();
});

function listOf(value: number): MessageInitShape<typeof ValueSchema> {
  return { kind: { case: 'listValue', value: { values: [{ kind: { case: 'numberValue', value } }] } } };
}

test('D26 ExportTabularData and GetLatestTabularData are for operators of the part, and for the part itself', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  store.append({ readings: [{ data: { i: 1 }, receivedMs: noonMs }] });
  expect(numbers(await exported(queries, {}, 'operator loc-1'))).toEqual([1]);
  expect(numbers(await exported(queries, {}, 'part part-1'))).toEqual([1]);
  for (const who of ['operator loc-2', 'part part-2'])
    await expect(exported(queries, {}, who)).rejects.toMatchObject({ code: 'not_found' });
  // A part of another organization and a nonexistent one, even if the rest of the request is invalid.
  for (const partId of ['part-3', 'part-9'])
    for (const resourceName of ['cpu', ''])
      await expect(exported(queries, { partId, resourceName })).rejects.toMatchObject({
        code: 'not_found',
        message: `part: expected the id of one that you may see, found "${partId}"`,
      });
  const latest = queries.client.getLatestTabularData(cpu, { headers: { 'x-who': 'operator loc-2' } });
  await expect(latest).rejects.toMatchObject({ code: 'not_found' });
});

test('R16 an export ends when its caller loses the right to read', async () => {
  const clock = new ManualClock();
  let mayStill = true;
  await using store = await openTabular();
  await using queries = await serveQueries(store, { clock, mayStill: () => mayStill });
  store.append({
    readings: Array.from({ length: 6_000 }, (_, i) => ({
      data: { i, text: 'x'.repeat(2_000) },
      receivedMs: noonMs + i,
    })),
  });
  let rows = 0;
  const reading = (async () => {
    for await (const _row of queries.client.exportTabularData(cpu)) {
      if (++rows !== 10) continue;
      mayStill = false;
      clock.pass(2_500);
    }
  })();
  await expect(reading).rejects.toMatchObject({ code: 'not_found' });
  expect(rows).toBeLessThan(6_000);
});

test('GetLatestTabularData: the newest reading by its time, with its upload time; nothing if there is none', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  const latest = () => queries.client.getLatestTabularData(cpu);
  expect(await latest()).toEqual({ $typeName: 'platform.app.data.v1.GetLatestTabularDataResponse' });
  const append = (i: number, receivedMs: number | null, metadata = {}): number =>
    store.append({
      metadata,
      readings: [{ data: { i }, receivedMs, requestedMs: noonMs - i }],
      syncedMs: noonMs + 500,
    });
  append(1, null);
  append(2, null);
  expect(await latest()).toMatchObject({ payload: { i: 1 }, timeCaptured: timestampFromMs(noonMs - 1) });
  append(3, noonMs + 3);
  append(4, noonMs + 1);
  append(5, noonMs + 9, { componentName: 'disk' });
  const newest = {
    payload: { i: 3 },
    timeCaptured: timestampFromMs(noonMs + 3),
    timeSynced: timestampFromMs(noonMs + 500),
  };
  expect(await latest()).toMatchObject(newest);
  await store.tabular.seal();
  const headers: Headers[] = [];
  const answer = queries.client.getLatestTabularData(cpu, { onHeader: (given: Headers) => void headers.push(given) });
  expect(await answer).toMatchObject(newest);
  expect(Number(headers[0]?.get('platform-scanned-bytes'))).toBeGreaterThan(0);
});
