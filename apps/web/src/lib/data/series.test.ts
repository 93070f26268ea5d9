import { expect, test } from 'vitest';
import { oldestOf, pastOf, seriesOf } from './series.ts';
import { queryAddress } from './series-query.ts';

const id = {
  location: 'l',
  machine: 'm',
  part: 'p',
  type: 'core:component:sensor',
  component: 'oven',
  method: 'Readings',
};

test('a row becomes a series with the fields of its newest reading', () => {
  const newest = '2026-01-01T00:00:00.000Z';
  const row = { _id: id, readings: 7, newest, data: { readings: { heat: { upper: 180 } } } };
  expect(seriesOf(row)).toEqual({ ...id, readings: 7, newest: new Date(newest), values: { 'heat.upper': 180 } });
});

test('the last readings of a series become numbers over time by field; a text leaves a gap', () => {
  const [key, past] = pastOf({
    _id: id,
    data: [{ readings: { heat: 1, mode: 'on' } }, { readings: { heat: 'broken' } }, { readings: { heat: 3 } }],
    times: ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z'],
  });
  expect(key).toBe('p/oven/Readings');
  expect(past.x.map((at) => at - (past.x[0] ?? 0))).toEqual([0, 1, 2]);
  expect([...past.fields]).toEqual([['heat', [1, null, 3]]]);
  expect(oldestOf({ _id: id, day: '2026-01-01T00:00:00.000Z' })).toEqual(['p/oven/Readings', '2026-01-01']);
});

test('a value opens as a query over time, of this machine only', () => {
  const url = new URL(
    queryAddress({ base: '/o/acme', path: id, field: 'heat.upper', rangeMs: 60_000 }),
    'http://cloud',
  );
  const stages: unknown[] = JSON.parse(url.searchParams.get('query') ?? '');
  expect(stages[0]).toEqual({
    $match: { location_id: 'l', robot_id: 'm', component_name: 'oven', method_name: 'Readings' },
  });
  expect(stages.at(-1)).toMatchObject({ $project: { value: '$data.readings.heat.upper' } });
  expect(url.searchParams.get('range')).toBe('60000');
});
