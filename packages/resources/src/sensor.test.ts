import { create, fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf';
import { StructSchema, type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import { maxReadingLevels, silentLog } from '@platform/base';
import { DoCommandResponseSchema } from '@platform/proto/platform/common/v1/common';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { connect, type Link, maxAnswerElements, maxMessageDepth } from '@platform/rpc/client';
import { createRpcServer, type ServiceBinding, serve } from '@platform/rpc/server';
import { expect, test } from 'vitest';
import type { EncodedDocument } from './encoded-document.ts';
import { createProxy } from './proxy.ts';
import type { CaptureContext } from './resource-descriptor.ts';
import { sensor } from './sensor.ts';

test('a proxy of a sensor forwards readings and commands to its sensor', async () => {
  const binding = serve<typeof SensorService, string>(SensorService, {
    getReadings: ({ name, extra }) => ({
      readings: { name: fromJson(ValueSchema, name), extra: fromJson(ValueSchema, extra ?? null) },
    }),
    doCommand: ({ name, command }) => ({ result: { name, command: command ?? null } }),
  });
  await using stack = new AsyncDisposableStack();
  const link = await linkTo(binding, stack);
  const proxy = createProxy(sensor, link, 'far');
  expect(await proxy.readings({ a: [1, { b: null }] })).toEqual({ name: 'far', extra: { a: [1, { b: null }] } });
  expect(await proxy.doCommand({ set: { a: 2 } })).toEqual({ name: 'far', command: { set: { a: 2 } } });
  await proxy.close();
  expect(link.state).toBe('connected');
});

async function linkTo(binding: ServiceBinding<string>, stack: AsyncDisposableStack): Promise<Link> {
  const server = createRpcServer<string>({
    services: [binding],
    authenticate: async () => '',
    open: [],
    fallback: (_request, response) => void response.end(),
    log: silentLog,
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  stack.defer(() => server.close({ graceMs: 0 }));
  return stack.use(connect({ baseUrl: `http://127.0.0.1:${port}`, maxElements: maxAnswerElements }));
}

test('D48 a captured reading of another process may have any number of elements, and a long one stays encoded', async () => {
  let readings: Record<string, Value> = {};
  const binding = serve<typeof SensorService, string>(SensorService, { getReadings: () => ({ readings }) });
  await using stack = new AsyncDisposableStack();
  const proxy = createProxy(sensor, await linkTo(binding, stack), 'far');
  const context = {} as CaptureContext;
  const captured = async (): Promise<unknown> =>
    (await sensor.captures['Readings']?.read(proxy, {}, context)) as unknown;

  readings = { few: fromJson(ValueSchema, [1, { a: null }]) };
  expect(await captured()).toEqual({ readings: { few: [1, { a: null }] } });

  const values = Array.from({ length: maxAnswerElements }, (_, n) => n);
  readings = { many: fromJson(ValueSchema, values) };
  await expect(proxy.readings({})).rejects.toMatchObject({ code: 'resource_exhausted' });
  const { readings: long } = (await captured()) as { readings: EncodedDocument };
  expect(toJson(StructSchema, fromBinary(StructSchema, long.bytes))).toEqual({ many: values });

  const nested = (levels: number): JsonValue => (levels === 0 ? 'x'.repeat(100_000) : [nested(levels - 1)]);
  const deep = { recursionLimit: maxMessageDepth };
  // The reading, its document `readings`, and the lists in it.
  readings = { deep: fromJson(ValueSchema, nested(maxReadingLevels - 2), deep) };
  expect(await captured()).toMatchObject({ readings: { bytes: expect.anything() } });
  readings = { deep: fromJson(ValueSchema, nested(maxReadingLevels - 1), deep) };
  await expect(captured()).rejects.toMatchObject({ code: 'invalid_argument' });
});

test('D48 the answer to a captured command may have any number of elements, and a long one stays encoded', async () => {
  let answer = create(DoCommandResponseSchema, { result: { few: [1, { a: null }] } });
  const binding = serve<typeof SensorService, string>(SensorService, { doCommand: () => answer });
  await using stack = new AsyncDisposableStack();
  const proxy = createProxy(sensor, await linkTo(binding, stack), 'far');
  const captured = async (): Promise<unknown> =>
    (await sensor.captures['DoCommand']?.read(proxy, { docommand_input: {} }, {} as CaptureContext)) as unknown;
  expect(await captured()).toEqual({ few: [1, { a: null }] });
  answer = create(DoCommandResponseSchema);
  expect(await captured()).toEqual({});

  const many = Array.from({ length: maxAnswerElements }, (_, n) => n);
  answer = create(DoCommandResponseSchema, { result: { many } });
  await expect(proxy.doCommand({})).rejects.toMatchObject({ code: 'resource_exhausted' });
  const { bytes } = (await captured()) as EncodedDocument;
  expect(toJson(StructSchema, fromBinary(StructSchema, bytes))).toEqual({ many });

  // The field twice, and one that is not known: the decoder merges both.
  const more = toBinary(DoCommandResponseSchema, create(DoCommandResponseSchema, { result: { more: 1 } }));
  answer.$unknown = [
    { no: 1, wireType: 2, data: more.subarray(1) },
    { no: 77, wireType: 0, data: Uint8Array.of(1) },
  ];
  const { bytes: merged } = (await captured()) as EncodedDocument;
  expect(toJson(StructSchema, fromBinary(StructSchema, merged))).toEqual({ many, more: 1 });

  const nested = (levels: number): JsonValue => (levels === 0 ? 'x'.repeat(100_000) : [nested(levels - 1)]);
  answer = create(DoCommandResponseSchema, { result: { deep: nested(maxReadingLevels - 1) } });
  expect(await captured()).toMatchObject({ bytes: expect.anything() });
  answer = create(DoCommandResponseSchema, { result: { deep: nested(maxReadingLevels) } });
  await expect(captured()).rejects.toMatchObject({ code: 'invalid_argument' });
});
