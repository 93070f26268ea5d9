import { expect, test } from 'vitest';
import { seriesOf } from './series.ts';
import { queryAddress } from './series-query.ts';

test('a row becomes a series with the fields of its newest reading', () => {
  expect(
    seriesOf({
      _id: { machine: 'm', component: 'oven', method: 'Readings' },
      readings: 7,
      newest: '2026-01-01T00:00:00.000Z',
      data: { readings: { heat: { upper: 180 } } },
    }),
  ).toEqual({
    machineId: 'm',
    component: 'oven',
    method: 'Readings',
    readings: 7,
    newest: new Date('2026-01-01T00:00:00Z'),
    values: { 'heat.upper': 180 },
  });
});

test('a value opens as a query over time', () => {
  const url = new URL(
    queryAddress({ base: '/o/acme', component: 'oven', method: 'Readings', field: 'heat.upper', rangeMs: 60_000 }),
    'http://cloud',
  );
  const stages: unknown[] = JSON.parse(url.searchParams.get('query') ?? '');
  expect(stages[0]).toEqual({ $match: { component_name: 'oven', method_name: 'Readings' } });
  expect(stages.at(-1)).toMatchObject({ $project: { value: '$data.readings.heat.upper' } });
  expect(url.searchParams.get('range')).toBe('60000');
});
