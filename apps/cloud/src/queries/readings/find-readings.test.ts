import { create, fromJson } from '@bufbuild/protobuf';
import { anyPack, anyUnpack, timestampFromMs, timestampMs, ValueSchema } from '@bufbuild/protobuf/wkt';
import {
  type Filter,
  FilterSchema,
  Order,
  type TabularDataByFilterResponse,
  TagsFilterType,
} from '@platform/proto/platform/app/data/v1/data';
import { expect, test } from 'vitest';
import { openTabular, testPlace } from '../../tabular/testing/open-tabular.ts';
import { type ServedQueries, serveQueries } from '../testing/serve-queries.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);
const place2 = { organizationId: 'org-1', locationId: 'loc-2', robotId: 'robot-2', partId: 'part-2' };
const place3 = { organizationId: 'org-2', locationId: 'loc-3', robotId: 'robot-3', partId: 'part-3' };

type FilterInit = Partial<Omit<Filter, '$typeName' | '$unknown'>>;

async function find(
  { client }: ServedQueries,
  filter: FilterInit,
  asked: { limit?: number; last?: string; order?: Order; countOnly?: boolean; who?: string } = {},
): Promise<TabularDataByFilterResponse> {
  const { limit = 0, last = '', order = Order.ASCENDING, countOnly = false, who = 'operator' } = asked;
  const dataRequest = { filter: create(FilterSchema, filter), limit: BigInt(limit), last, sortOrder: order };
  return await client.tabularDataByFilter({ dataRequest, countOnly }, { headers: { 'x-who': who } });
}

function numbers({ data }: TabularDataByFilterResponse): unknown[] {
  return data.map(({ data: value }) => value?.['i']);
}

test('TabularDataByFilter: all fields must match, and any of the given tags', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  const append = (i: number, metadata: object, place = testPlace): number =>
    store.append({ place, metadata, readings: [{ data: { i }, receivedMs: noonMs + i * 1_000 }], syncedMs: noonMs });
  append(1, { componentName: 'cpu', tags: ['a'] });
  append(2, { componentName: 'cpu', tags: ['b', 'c'] });
  append(3, { componentName: 'disk', methodName: 'Position' });
  append(4, { componentName: 'cpu', componentType: 'core:component:motor' }, place2);
  append(5, { componentName: 'cpu' }, place3);
  const found = async (filter: FilterInit): Promise<unknown[]> => numbers(await find(queries, filter));
  const tagged = (type: TagsFilterType, ...tags: string[]) => found({ tagsFilter: { type, tags } as never });
  expect(await found({})).toEqual([1, 2, 3, 4]);
  expect(await found({ componentName: 'cpu' })).toEqual([1, 2, 4]);
  expect(await found({ componentName: 'cpu', robotId: 'robot-1' })).toEqual([1, 2]);
  expect(await found({ method: 'Position' })).toEqual([3]);
  for (const componentType of ['core:component:motor', 'motor']) expect(await found({ componentType })).toEqual([4]);
  expect(await found({ partId: 'part-2' })).toEqual([4]);
  expect(await found({ locationIds: ['loc-2', 'loc-3'] })).toEqual([4]);
  expect(await found({ robotName: 'machine 2' })).toEqual([4]);
  expect(await found({ partName: 'part 1' })).toEqual([1, 2, 3]);
  expect(await found({ partName: 'part 1', partId: 'part-2' })).toEqual([]);
  expect(await found({ robotName: 'nobody' })).toEqual([]);
  expect(await tagged(TagsFilterType.MATCH_BY_OR, 'a', 'c')).toEqual([1, 2]);
  expect(await tagged(TagsFilterType.UNSPECIFIED, 'b')).toEqual([2]);
  expect(await tagged(TagsFilterType.MATCH_BY_OR)).toEqual([1, 2, 3, 4]);
  expect(await tagged(TagsFilterType.TAGGED)).toEqual([1, 2]);
  expect(await tagged(TagsFilterType.UNTAGGED)).toEqual([3, 4]);
  // Readings have neither a media type nor a dataset.
  expect(await found({ mimeType: ['image/png'] })).toEqual([]);
  expect(await found({ datasetId: 'some' })).toEqual([]);
  const interval = { start: timestampFromMs(noonMs + 2_000), end: timestampFromMs(noonMs + 4_000) };
  expect(await found({ interval: interval as never })).toEqual([2, 3]);
  const ever = { start: { seconds: -(2n ** 62n), nanos: 0 }, end: { seconds: 2n ** 62n, nanos: 0 } };
  expect(await found({ interval: ever as never })).toEqual([1, 2, 3, 4]);
  expect(await find(queries, {}, { countOnly: true })).toMatchObject({ count: 4n, data: [], totalSizeBytes: 4n * 16n });
  expect(await find(queries, { interval: interval as never }, { countOnly: true })).toMatchObject({ count: 2n });
});

test('D26 TabularDataByFilter finds readings that the caller operates, in every organization or in those named', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  for (const [i, place] of [testPlace, place2, place3].entries())
    store.append({ place, readings: [{ data: { i }, receivedMs: noonMs + i }] });
  const found = async (who: string, organizationIds: string[] = []): Promise<unknown[]> =>
    numbers(await find(queries, { organizationIds }, { who }));
  expect(await found('both')).toEqual([0, 1, 2]);
  expect(await found('both', ['org-2'])).toEqual([2]);
  expect(await found('operator')).toEqual([0, 1]);
  expect(await found('operator', ['org-2', 'org-9'])).toEqual([]);
  expect(await found('operator loc-2')).toEqual([1]);
  expect(await found('part part-1')).toEqual([]);
  expect(numbers(await find(queries, {}, { who: 'both', order: Order.UNSPECIFIED }))).toEqual([2, 1, 0]);
});

test('TabularDataByFilter: pages are complete and ordered, even if data arrives before or after them', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  const append = (from: number, to: number, ms: (i: number) => number | null): void => {
    for (let i = from; i < to; i++)
      store.append({ readings: [{ data: { i }, receivedMs: ms(i), requestedMs: noonMs - 5 }], syncedMs: noonMs + i });
  };
  // Several readings in each millisecond. Some have no time of receipt: their request time is used.
  append(0, 16, (i) => noonMs + Math.floor(i / 6));
  append(30, 32, () => null);
  const all = numbers(await find(queries, {}, { limit: 1_000 }));
  expect(all).toEqual([30, 31, ...Array.from({ length: 16 }, (_, i) => i)]);
  for (const order of [Order.ASCENDING, Order.DESCENDING]) {
    const pages: unknown[][] = [];
    let last = '';
    for (;;) {
      const page = await find(queries, { componentName: 'cpu' }, { limit: 4, last, order });
      if (page.data.length === 0) {
        expect(page.last).toBe(last);
        break;
      }
      expect(page.count).toBe(BigInt(page.data.length));
      pages.push(numbers(page));
      ({ last } = page);
      // Rows neither after the last page nor in a millisecond that was partly read.
      append(100, 101, (i) => (order === Order.ASCENDING ? noonMs - 1_000 : noonMs + 1_000 + i));
      if (pages.length === 2) await store.tabular.seal();
    }
    expect(pages.slice(0, -1).every((page) => page.length === 4)).toBe(true);
    const read = pages.flat().filter((i) => i !== 100);
    expect(read.toSorted((a, b) => Number(a) - Number(b))).toEqual(all.toSorted((a, b) => Number(a) - Number(b)));
    const millisecond = (i: unknown): number => (Number(i) >= 30 ? -1 : Math.floor(Number(i) / 6));
    const inOrder = read.map(millisecond).toSorted((a, b) => (order === Order.ASCENDING ? a - b : b - a));
    expect(read.map(millisecond)).toEqual(inOrder);
  }
});

test('TabularDataByFilter: shared metadata is sent once, with names and parameters as they were uploaded', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  const pin = anyPack(ValueSchema, fromJson(ValueSchema, { pins: [1, 'x'] }));
  const strange = {
    $typeName: 'google.protobuf.Any' as const,
    typeUrl: 'type.googleapis.com/acme.X',
    value: Uint8Array.of(7),
  };
  const metadata = { tags: ['a', 'b'], methodParameters: { pin, strange } };
  store.append({
    metadata,
    readings: [
      { data: { i: 1 }, receivedMs: noonMs },
      { data: { i: 2 }, receivedMs: noonMs + 1 },
    ],
  });
  store.append({
    readings: [{ data: { deep: [{ a: null, b: true }], 'x.y': 'z' }, receivedMs: noonMs + 2, requestedMs: noonMs }],
  });
  const { metadata: shared, data } = await find(queries, {});
  expect(data.map(({ metadataIndex }) => metadataIndex)).toEqual([0, 0, 1]);
  expect(shared).toHaveLength(2);
  expect(shared[0]).toMatchObject({
    organizationId: 'org-1',
    locationId: 'loc-1',
    robotId: 'robot-1',
    robotName: 'machine 1',
    partId: 'part-1',
    partName: 'part 1',
    componentType: 'core:component:sensor',
    componentName: 'cpu',
    methodName: 'Readings',
    tags: ['a', 'b'],
  });
  const parameters = shared[0]?.methodParameters ?? {};
  expect(anyUnpack(parameters['pin'] as typeof pin, ValueSchema)).toEqual(fromJson(ValueSchema, { pins: [1, 'x'] }));
  expect(parameters['strange']).toEqual(strange);
  expect(data[2]?.data).toEqual({ deep: [{ a: null, b: true }], 'x.y': 'z' });
  const times = [data[2]?.timeRequested, data[2]?.timeReceived].map((time) => time && timestampMs(time));
  expect(times).toEqual([noonMs, noonMs + 2]);
});

test('TabularDataByFilter: a page ends before it is too large for public clients, and the next one continues', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  const text = 'z'.repeat(1_000_000);
  for (let i = 0; i < 5; i++) store.append({ readings: [{ data: { i, text }, receivedMs: noonMs + i }] });
  const first = await find(queries, {}, { limit: 100 });
  expect(numbers(first)).toEqual([0, 1, 2]);
  expect(first.totalSizeBytes).toBeGreaterThan(3_000_000n);
  expect(numbers(await find(queries, {}, { limit: 100, last: first.last }))).toEqual([3, 4]);
});

test('TabularDataByFilter: an invalid `last`, an unknown order and an unknown kind of tags are INVALID_ARGUMENT', async () => {
  await using store = await openTabular();
  await using queries = await serveQueries(store);
  const refused = (field: string) => ({ code: 'invalid_argument', message: expect.stringContaining(field) });
  for (const last of ['x', '!!', 'a'.repeat(100_000), Buffer.from('1.x').toString('base64url')])
    await expect(find(queries, {}, { last })).rejects.toMatchObject(refused('last'));
  await expect(find(queries, {}, { order: 9 as Order })).rejects.toMatchObject(refused('sort_order'));
  await expect(find(queries, { tagsFilter: { type: 9, tags: [] } as never })).rejects.toMatchObject(
    refused('tags_filter'),
  );
});
