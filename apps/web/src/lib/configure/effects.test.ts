import { expect, test } from 'vitest';
import { effectsOf } from './effects.ts';

const sensor = (name: string, more: object = {}): object => ({
  name,
  api: 'rdk:component:sensor',
  model: 'fake',
  ...more,
});

test('new resources start, changed ones restart with all that depend on them, removed or disabled ones stop', () => {
  const before = {
    components: [
      sensor('a'),
      sensor('b', { depends_on: ['a'] }),
      sensor('c', { depends_on: ['core:component:sensor/b'] }),
      sensor('d'),
      sensor('e'),
    ],
    log: [],
  };
  const after = {
    components: [
      sensor('a', { attributes: { wave: true } }),
      sensor('b', { depends_on: ['a'] }),
      sensor('c', { depends_on: ['core:component:sensor/b'] }),
      sensor('d', { disabled: true }),
      sensor('e'),
      sensor('f'),
    ],
    debug: true,
    log: [],
  };
  expect(effectsOf(before as never, after as never)).toEqual({
    starts: ['f'],
    restarts: ['a'],
    restartsWith: ['b', 'c'],
    stops: ['d'],
    changes: ['debug'],
  });
});

test('changing the capture of a component also restarts the data manager', () => {
  const manager = { name: 'data', api: 'core:service:data_manager' };
  const capture = { service_configs: [{ type: 'data_manager', attributes: { capture_methods: [] } }] };
  const before = { components: [sensor('a')], services: [manager] };
  const after = { components: [sensor('a', capture)], services: [manager] };
  expect(effectsOf(before as never, after as never).restarts).toEqual(['a', 'data']);
  expect(effectsOf(after as never, after as never).restarts).toEqual([]);
});
