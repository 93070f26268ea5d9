import { expect, test } from 'vitest';
import { nameIn, pathStage, withLevel } from './data-path.ts';

const all = { location: '', machine: '', component: '', method: '' };
const oven = { location: 'plant', machine: 'm1', component: 'oven', method: 'Readings' };

test('a path becomes a stage of a query', () => {
  expect(pathStage(all)).toBeUndefined();
  expect(pathStage(oven)).toEqual({
    $match: { location_id: 'plant', robot_id: 'm1', component_name: 'oven', method_name: 'Readings' },
  });
});

test('a choice resets the levels below', () => {
  expect(withLevel(oven, 'machine', 'm2')).toEqual({ ...all, location: 'plant', machine: 'm2' });
});

test('a machine is shown as deleted once the loaded names lack it, not while they load', () => {
  expect(nameIn(undefined, 'm1', 'deleted machine')).toBe('m1');
  expect(nameIn(new Map([['m1', 'press-7']]), 'm1', 'deleted machine')).toBe('press-7');
  expect(nameIn(new Map(), 'm1', 'deleted machine')).toBe('deleted machine');
});
