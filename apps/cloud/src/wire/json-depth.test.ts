import { create, fromBinary, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { GetRobotPartHistoryResponseSchema } from '@platform/proto/platform/app/v1/app';
import { expect, test } from 'vitest';
import { maxJsonDepth, requireJsonDepth } from './json-depth.ts';

const nested = (levels: number): JsonObject => (levels <= 1 ? { a: 1 } : { a: nested(levels - 1) });

test('JSON of the maximum depth can be read back by public clients in our most deeply nested answer', () => {
  const robotConfig = nested(maxJsonDepth);
  requireJsonDepth(robotConfig, 'configuration');
  const answer = create(GetRobotPartHistoryResponseSchema, { history: [{ old: { robotConfig } }] });
  const bytes = toBinary(GetRobotPartHistoryResponseSchema, answer);
  expect(fromBinary(GetRobotPartHistoryResponseSchema, bytes).history[0]?.old?.robotConfig).toEqual(robotConfig);
});

test('one level more is refused, and so is endless nesting, by a loop without recursion', () => {
  expect(() => requireJsonDepth(nested(maxJsonDepth + 1), 'configuration')).toThrow(
    /^configuration: \$(\.a){30}: expected .* 30 levels/,
  );
  const mixed = { components: [{ name: 'c' }, { attributes: nested(maxJsonDepth) }] };
  expect(() => requireJsonDepth(mixed, 'fragment')).toThrow(/^fragment: \$\.components\[1\]\.attributes(\.a){27}: /);
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  expect(() => requireJsonDepth(deep, 'data')).toThrow(/found more/);
});
