import type { JsonObject } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { ListSeriesResponse, Series } from '@platform/proto/platform/series/v1/series';
import { expect, test } from 'vitest';
import { type OpenTabular, openTabular } from '../../tabular/testing/open-tabular.ts';
import { serveQueries } from '../testing/serve-queries.ts';

const noonMs = Date.UTC(2026, 4, 17, 12);
const organizationId = 'org-1';

interface Stored {
  readonly part?: number;
  readonly component?: string;
  readonly method?: string;
  readonly data?: JsonObject;
  readonly receivedMs?: number;
  readonly organization?: string;
}

/** Part n is part of machine n at location n. */
function append(store: OpenTabular, given: Stored): void {
  const { part = 1, component = 'oven', method = 'Readings', data = { readings: { heat: 1 } } } = given;
  const partId = `part-${part}`;
  store.append({
    place: {
      ...{ organizationId: given.organization ?? organizationId, locationId: `loc-${part}` },
      ...{ robotId: `robot-${part}`, partId },
    },
    metadata: { partId, componentName: component, methodName: method },
    readings: [{ data, receivedMs: given.receivedMs ?? noonMs }],
    syncedMs: noonMs + 1,
  });
}

const namesOf = ({ series }: ListSeriesResponse): string[] =>
  series.map((one: Series) => `${one.machineId} ${one.componentName} ${one.methodName}`);

test('series are listed page by page with their newest readings, their number of readings and the total', async () => {
  await using store = await openTabular();
  for (let n = 0; n < 25; n++) append(store, { component: `sensor-${n}` });
  append(store, { component: 'sensor-7', data: { readings: { heat: 7, in: { deep: true } } }, receivedMs: noonMs + 5 });
  await using served = await serveQueries(store);
  const first = await served.series.listSeries({ organizationId, pageSize: 10 });
  expect(namesOf(first)).toEqual(Array.from({ length: 10 }, (_, n) => `robot-1 sensor-${n} Readings`));
  expect([first.total, first.totalReadable]).toEqual([25, 25]);
  expect(first.series[7]).toMatchObject({
    ...{ locationId: 'loc-1', partId: 'part-1', componentType: 'core:component:sensor', readings: 2n },
    ...{ newest: timestampFromMs(noonMs + 5), data: { readings: { heat: 7, in: { deep: true } } } },
  });
  const last = await served.series.listSeries({ organizationId, pageSize: 10, offset: 20 });
  expect(namesOf(last)).toEqual([20, 21, 22, 23, 24].map((n) => `robot-1 sensor-${n} Readings`));
  // Sealed rows give the same answer.
  await store.tabular.seal();
  expect((await served.series.listSeries({ organizationId, pageSize: 10 })).series).toEqual(first.series);
});

test('a search finds series by machine, component, type, method and names of values, in any case', async () => {
  await using store = await openTabular();
  append(store, { component: 'Oven', data: { readings: { chamber: { Temperature: 20 } } } });
  append(store, { part: 2, component: 'pump', method: 'Position' });
  append(store, { part: 2, component: 'حساس الحرارة' });
  const long = 'n'.repeat(10_000);
  append(store, { part: 2, component: long });
  await using served = await serveQueries(store);
  const find = async (search: string) => namesOf(await served.series.listSeries({ organizationId, search }));
  expect(await find('temperature')).toEqual(['robot-1 Oven Readings']);
  expect(await find('OVEN chamber')).toEqual(['robot-1 Oven Readings']);
  expect(await find('oven pump')).toEqual([]);
  expect(await find('position')).toEqual(['robot-2 pump Position']);
  expect(await find('machine  1')).toEqual(['robot-1 Oven Readings']);
  expect(await find('sensor')).toHaveLength(4);
  expect(await find('الحرارة')).toEqual(['robot-2 حساس الحرارة Readings']);
  expect(await find(long)).toEqual([`robot-2 ${long} Readings`]);
  const found = await served.series.listSeries({ organizationId, search: 'pump' });
  expect([found.total, found.totalReadable]).toEqual([1, 4]);
  await expect(find('x'.repeat(16_385))).rejects.toMatchObject({
    message: 'search: expected at most 16384 characters, found 16385',
  });
});

test('conditions select by place, component, type, method and the time of the newest reading', async () => {
  await using store = await openTabular();
  append(store, { receivedMs: noonMs - 60_000 });
  append(store, { method: 'Position' });
  append(store, { part: 2, component: 'pump' });
  await using served = await serveQueries(store);
  const list = async (conditions: Parameters<typeof served.series.listSeries>[0]) =>
    namesOf(await served.series.listSeries({ organizationId, ...conditions }));
  const [oven, position, pump] = ['robot-1 oven Readings', 'robot-1 oven Position', 'robot-2 pump Readings'];
  expect(await list({})).toEqual([position, oven, pump]);
  expect(await list({ locationId: 'loc-2' })).toEqual([pump]);
  expect(await list({ machineId: 'robot-1' })).toEqual([position, oven]);
  expect(await list({ componentName: 'oven', methodName: 'Readings' })).toEqual([oven]);
  expect(await list({ componentType: 'sensor' })).toHaveLength(3);
  expect(await list({ componentType: 'camera' })).toEqual([]);
  expect(await list({ newestSince: timestampFromMs(noonMs) })).toEqual([position, pump]);
  const choices = await served.series.listSeriesChoices({ organizationId, machineId: 'robot-1' });
  expect(choices).toMatchObject({
    ...{ locationIds: ['loc-1', 'loc-2'], machineIds: ['robot-1', 'robot-2'], leftOff: 0 },
    ...{ componentNames: ['oven'], methodNames: ['Position', 'Readings'] },
  });
});

test('D26 a caller gets the series and choices of exactly what it may read, and of no other organization', async () => {
  await using store = await openTabular();
  append(store, {});
  append(store, { part: 2, component: 'pump' });
  append(store, { part: 3, component: 'foreign', organization: 'org-2' });
  await using served = await serveQueries(store);
  // The list of the organization is in memory by now.
  expect((await served.series.listSeries({ organizationId })).totalReadable).toBe(2);
  const headers = { 'x-who': 'operator loc-2' };
  const seen = await served.series.listSeries({ organizationId }, { headers });
  expect(namesOf(seen)).toEqual(['robot-2 pump Readings']);
  expect([seen.total, seen.totalReadable]).toEqual([1, 1]);
  const hidden = await served.series.listSeries({ organizationId, machineId: 'robot-1' }, { headers });
  expect(namesOf(hidden)).toEqual([]);
  expect(await served.series.listSeriesChoices({ organizationId }, { headers })).toMatchObject({
    ...{ locationIds: ['loc-2'], machineIds: ['robot-2'], componentNames: ['pump'], methodNames: ['Readings'] },
  });
  const foreign = { code: 'not_found' };
  await expect(served.series.listSeries({ organizationId: 'org-2' })).rejects.toMatchObject(foreign);
  await expect(served.series.listSeriesChoices({ organizationId: 'org-2' })).rejects.toMatchObject(foreign);
});

test('a series ends with the deletion of its last reading, and new ones appear at once', async () => {
  await using store = await openTabular();
  append(store, {});
  append(store, { part: 2, component: 'pump' });
  await using served = await serveQueries(store);
  expect((await served.series.listSeries({ organizationId })).total).toBe(2);
  append(store, { part: 2, component: 'valve' });
  expect((await served.series.listSeries({ organizationId })).total).toBe(3);
  const filter = { organizationId, filter: { componentName: 'pump' }, deleteOlderThanDays: 0 };
  await served.client.deleteTabularData(filter, { headers: { 'x-who': 'owner' } });
  const left = await served.series.listSeries({ organizationId });
  expect(namesOf(left)).toEqual(['robot-1 oven Readings', 'robot-2 valve Readings']);
});

test('a large newest reading is listed without its values', async () => {
  await using store = await openTabular();
  append(store, { data: { readings: { text: 'x'.repeat(100_000) } } });
  await using served = await serveQueries(store);
  const { series } = await served.series.listSeries({ organizationId });
  expect(series).toMatchObject([{ readings: 1n, newest: timestampFromMs(noonMs) }]);
  expect(series[0]?.data).toBeUndefined();
});
