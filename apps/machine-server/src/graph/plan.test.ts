import type { ResourceConfig } from '@platform/machine-config/schema';
import { formatResourceName } from '@platform/resources';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plan } from './plan.ts';

const config = (name: string, depends_on: string[] = [], value = 0): ResourceConfig => ({
  name,
  api: 'core:component:sensor',
  model: 'core:builtin:fake',
  attributes: { value },
  depends_on,
  service_configs: [],
});
const running = (...configs: ResourceConfig[]): Map<string, ResourceConfig> =>
  new Map(configs.map((each) => [formatResourceName(each), each]));
const names = (configs: readonly ResourceConfig[]): string[] => configs.map((each) => each.name);

test('an equal configuration causes no work; a change rebuilds the resource and its dependents', () => {
  const [a, b, c] = [config('a'), config('b', ['a']), config('c')];
  expect(plan(running(a, b, c), [a, b, c])).toEqual({ remove: [], build: [] });
  expect(names(plan(running(a, b, c), [c, b, config('a', [], 1)]).build)).toEqual(['a', 'b']);
});

test('removed resources are closed dependents first, new ones are built dependencies first', () => {
  const [a, b] = [config('a'), config('b', ['a'])];
  expect(plan(running(a, b), []).remove).toEqual(['core:component:sensor/b', 'core:component:sensor/a']);
  fc.assert(
    fc.property(fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7], { minLength: 1 }), (order) => {
      const wanted = order.map((n) =>
        config(
          `r${n}`,
          [0, 1, 2, 3, 4, 5, 6].filter((m) => m < n).map((m) => `r${m}`),
        ),
      );
      expect(names(plan(new Map(), wanted).build)).toEqual(order.toSorted((x, y) => x - y).map((n) => `r${n}`));
    }),
  );
});
