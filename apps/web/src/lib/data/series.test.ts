import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { SeriesSchema } from '@platform/proto/platform/series/v1/series';
import { expect, test } from 'vitest';
import { keyOf, oldestOf, partMs, pastOf, sampledOf, sampledPipeline, seriesOf, seriesStage } from './series.ts';
import { queryAddress } from './series-query.ts';

const id = {
  location: 'l',
  machine: 'm',
  part: 'p',
  type: 'core:component:sensor',
  component: 'oven',
  method: 'Readings',
};
const listed = {
  ...{ locationId: 'l', machineId: 'm', partId: 'p', componentType: 'core:component:sensor' },
  ...{ componentName: 'oven', methodName: 'Readings', readings: 7n },
};

test('a listed series has the values of its newest reading, or none if they are not listed', () => {
  const newest = new Date('2026-01-01T00:00:00.000Z');
  const full = { ...listed, newest: timestampFromDate(newest), data: { readings: { heat: { upper: 180 } } } };
  expect(seriesOf(create(SeriesSchema, full))).toEqual({
    ...{ ...id, readings: 7, newest },
    values: [{ name: 'heat.upper', path: ['readings', 'heat', 'upper'], value: 180 }],
  });
  expect(seriesOf(create(SeriesSchema, listed))).toEqual({ ...id, readings: 7, newest: undefined, values: undefined });
});

test('the last readings of a series become numbers over time by value; a text leaves a gap', () => {
  const [key, past] = pastOf({
    _id: id,
    data: [{ readings: { heat: 1, mode: 'on' } }, { readings: { heat: 'broken' } }, { readings: { heat: 3 } }],
    times: ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z'],
  });
  expect(key).toBe(keyOf(id));
  expect(past.x.map((at) => at - (past.x[0] ?? 0))).toEqual([0, 1, 2]);
  expect(past.fields).toEqual([{ name: 'heat', path: ['readings', 'heat'], numbers: [1, null, 3] }]);
  expect(oldestOf({ _id: id, day: '2026-01-01T00:00:00.000Z' })).toEqual([keyOf(id), '2026-01-01']);
});

test('a long time is shown by the last reading of each of its parts', () => {
  const rows = [1, 2, 3].map((heat, at) => ({
    ...{ _id: { ...id, part_of_time: at }, data: { readings: { heat } }, readings: at === 1 ? 7 : 1 },
    time: `2026-01-0${at + 1}T00:00:00Z`,
  }));
  const past = sampledOf(rows).get(keyOf(id));
  expect(past?.fields).toEqual([{ name: 'heat', path: ['readings', 'heat'], numbers: [1, 2, 3] }]);
  expect(past?.x.map((at) => at - (past.x[0] ?? 0))).toEqual([0, 86_400, 172_800]);
  expect(past?.isSampled).toBe(true);
  expect(sampledOf(rows.slice(0, 1)).get(keyOf(id))?.isSampled).toBe(false);
  expect(sampledOf([]).size).toBe(0);
  // In whole seconds, also if the time is short or ends before it begins.
  expect([partMs(0, 400_000), partMs(0, 400_001), partMs(0, 5), partMs(5, 0)]).toEqual([1_000, 2_000, 1_000, 1_000]);
  expect(JSON.stringify(sampledPipeline(0, 800_000))).toContain('{"$date":"1970-01-01T00:00:00.000Z"}]},2000]');
});

test('the past of the series of a page is asked for, and of no other part', () => {
  const other = { ...id, component: 'pump', readings: 1, newest: undefined, values: [] };
  expect(seriesStage([other, { ...other, component: 'oven' }, other])).toEqual({
    $match: { part_id: { $in: ['p'] }, component_name: { $in: ['pump', 'oven'] }, method_name: { $in: ['Readings'] } },
  });
});

test('a value opens as a query over time, of this series only', () => {
  const url = new URL(
    queryAddress({ base: '/o/acme', series: id, value: ['readings', 'heat', 'upper'], range: 60_000 }),
    'http://cloud',
  );
  const stages: unknown[] = JSON.parse(url.searchParams.get('query') ?? '');
  expect(stages[0]).toEqual({
    $match: { location_id: 'l', robot_id: 'm', component_name: 'oven', method_name: 'Readings' },
  });
  expect(stages.at(-1)).toMatchObject({ $project: { value: '$data.readings.heat.upper' } });
  expect(url.searchParams.get('range')).toBe('60000');
});
