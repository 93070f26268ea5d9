import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { runToEnd } from '@platform/base';
import { ConfigResponseSchema, RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import { expect, test } from 'vitest';
import { decodeConfig } from './decode-config.ts';

const encoded = (config: MessageInitShape<typeof RobotConfigSchema>): Uint8Array =>
  toBinary(ConfigResponseSchema, create(ConfigResponseSchema, { config }));

const whole = encoded({
  revision: 'one',
  debug: true,
  components: [{ name: 'a', attributes: { list: [1, { deep: null }] }, dependsOn: ['b'] }, { name: 'b' }],
  services: [{ name: 's', attributes: { text: 'é' } }],
  jobs: [{ name: 'nightly' }],
  cloud: { id: 'part', locationSecrets: [{ id: '1', secret: 'x' }] },
  log: [{ pattern: 'x', level: 'debug' }],
});

test('a configuration that is decoded in pieces is the one that is decoded at once, with its unknown fields', () => {
  const unknown = new BinaryWriter().tag(999, WireType.Varint).uint32(7).finish();
  const config = toBinary(
    RobotConfigSchema,
    fromBinary(ConfigResponseSchema, whole).config ?? create(RobotConfigSchema),
  );
  const more = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .bytes(Buffer.concat([config, unknown]))
    .tag(998, WireType.Varint)
    .uint32(1)
    .finish();
  // A second one continues the first.
  for (const bytes of [whole, more, Buffer.concat([whole, unknown, more]), encoded({})])
    expect(runToEnd(decodeConfig(bytes))).toEqual(fromBinary(ConfigResponseSchema, bytes).config);
  expect(runToEnd(decodeConfig(new Uint8Array()))).toBeUndefined();
});

test('a torn configuration, and one with more fields than a machine decodes, are refused', () => {
  for (let length = 1; length < whole.length; length++)
    expect(() => runToEnd(decodeConfig(whole.subarray(0, length)))).toThrow();
  const many = encoded({ components: [{ name: 'a', attributes: { list: Array.from({ length: 100_000 }, () => 1) } }] });
  expect(() => runToEnd(decodeConfig(many))).toThrow(/expected at most 200000 fields and elements/);
});

test('D48 each resource of a configuration is a step of its own', () => {
  let steps = 0;
  const decoding = decodeConfig(
    encoded({ components: Array.from({ length: 3_000 }, (_, at) => ({ name: `c${at}` })) }),
  );
  while (decoding.next().done !== true) steps++;
  expect(steps).toBeGreaterThanOrEqual(3_000);
});
