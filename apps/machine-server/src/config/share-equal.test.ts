import { create, equals, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { isSame, runToEnd } from '@platform/base';
import { type RobotConfig, RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shareEqual } from './share-equal.ts';

const configOf = (init: MessageInitShape<typeof RobotConfigSchema>): RobotConfig =>
  fromBinary(RobotConfigSchema, toBinary(RobotConfigSchema, create(RobotConfigSchema, init)));
const api = 'core:component:sensor';

test('equal resources become the same objects, whatever their position; others stay unchanged', () => {
  const door = { name: 'door', api, attributes: { list: [1, { a: null }] }, frame: { parent: 'world' } };
  const before = configOf({ components: [door, { name: 'gone', api }, { name: 'lamp', api, dependsOn: ['door'] }] });
  const after = configOf({
    components: [
      { name: 'new', api },
      { name: 'lamp', api, dependsOn: ['door'] },
      { ...door, attributes: { list: [1, { a: 0 }] } },
      { name: 'gone', api: 'core:component:motor' },
    ],
  });
  const untouched = structuredClone(after);
  runToEnd(shareEqual(before, after));
  expect(after.components[1]).toBe(before.components[2]);
  expect([0, 2, 3].some((at) => before.components.includes(after.components[at] as never))).toBe(false);
  expect(structuredClone(after)).toEqual(untouched);
});

test('two configurations are the same exactly if they are equal messages', () => {
  const component = fc.record({
    name: fc.constantFrom('a', 'b'),
    attributes: fc.option(fc.dictionary(fc.constantFrom('x', 'y'), fc.jsonValue({ maxDepth: 2 })), { nil: undefined }),
    dependsOn: fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 }),
    logConfiguration: fc.option(fc.record({ level: fc.constantFrom('', 'debug') }), { nil: undefined }),
  });
  fc.assert(
    fc.property(component, component, (first, second) => {
      const [a, b] = [configOf({ components: [first] } as never), configOf({ components: [second] } as never)];
      expect(isSame(a, b)).toBe(equals(RobotConfigSchema, a, b));
      expect(isSame(a, configOf({ components: [first] } as never))).toBe(true);
    }),
  );
});
