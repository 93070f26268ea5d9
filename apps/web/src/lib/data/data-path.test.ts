import { expect, test } from 'vitest';
import { choicesOn, isWithin, nameIn, pathStage, withLevel } from './data-path.ts';

const all = { location: '', machine: '', component: '', method: '' };
const oven = { location: 'plant', machine: 'm1', component: 'oven', method: 'Readings' };
const camera = { location: 'plant', machine: 'm1', component: 'gate', method: 'GetImages' };
const other = { location: 'yard', machine: 'm2', component: 'oven', method: 'Readings' };

test('a path selects the series within it, and becomes a stage of a query', () => {
  expect([oven, camera, other].filter((one) => isWithin(one, { ...all, component: 'oven' }))).toEqual([oven, other]);
  expect(pathStage(all)).toBeUndefined();
  expect(pathStage(oven)).toEqual({
    $match: { location_id: 'plant', robot_id: 'm1', component_name: 'oven', method_name: 'Readings' },
  });
});

test('each level offers the choices within the levels above it, and a choice resets the levels below', () => {
  const path = { ...all, machine: 'm1', component: 'oven' };
  expect(choicesOn('machine', path, [oven, camera, other])).toEqual(['m1', 'm2']);
  expect(choicesOn('component', path, [oven, camera, other])).toEqual(['oven', 'gate']);
  expect(withLevel(oven, 'machine', 'm2')).toEqual({ ...all, location: 'plant', machine: 'm2' });
});

test('a machine is shown as deleted once the loaded names lack it, not while they load', () => {
  expect(nameIn(undefined, 'm1', 'deleted machine')).toBe('m1');
  expect(nameIn(new Map([['m1', 'press-7']]), 'm1', 'deleted machine')).toBe('press-7');
  expect(nameIn(new Map(), 'm1', 'deleted machine')).toBe('deleted machine');
});
