import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { ServerReflection } from '@platform/proto/grpc/reflection/v1alpha/reflection';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { type CommandResource, commandType } from '@platform/resources';
import { expect, onTestFinished, test } from 'vitest';
import { type DrivenModule, driveModule, startTestParent } from './testing/test-parent.ts';

const entry = join(import.meta.dirname, 'testing', 'example-module.ts');
const sensorApi = 'rdk:component:sensor';

async function start(): Promise<DrivenModule> {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const parent = stack.use(await startTestParent());
  const module = stack.use(driveModule(parent, entry));
  await module.ready();
  return module;
}

test('a custom type is called by DoCommand and GetStatus, and described by reflection', async () => {
  const module = await start();
  await module.add('acme:component:greenhouse', 'acme:examples:glass', 'north');
  const { service } = commandType('acme:component:greenhouse');
  const client = module.client(service) as unknown as {
    doCommand(request: object): ReturnType<CommandResource['doCommand']>;
    getStatus(request: object): Promise<object>;
  };
  expect(await client.doCommand({ name: 'north', command: { open: true } })).toMatchObject({ result: { open: true } });
  expect(await client.getStatus({ name: 'north' })).toMatchObject({ result: { open: true } });
  await expect(client.doCommand({ name: 'north', command: {} })).rejects.toMatchObject({ code: 'invalid_argument' });

  async function* question() {
    yield { messageRequest: { case: 'fileContainingSymbol' as const, value: service.typeName } };
  }
  const files = new Map<string, string[]>();
  for await (const { messageResponse } of module.client(ServerReflection).serverReflectionInfo(question()))
    if (messageResponse.case === 'fileDescriptorResponse')
      for (const bytes of messageResponse.value.fileDescriptorProto) {
        const file = fromBinary(FileDescriptorProtoSchema, bytes);
        files.set(
          file.name,
          file.service.flatMap(({ method }) => method.map(({ name }) => name)),
        );
      }
  expect(files.get('acme/component/greenhouse/v1/GreenhouseService.proto')).toEqual(['DoCommand', 'GetStatus']);
});

test('a resource of a built-in type is called through its service; a call ends when its caller does', async () => {
  const module = await start();
  await module.add('rdk:component:motor', 'acme:examples:fan', 'fan');
  const client = module.client(MotorService);
  await client.setPower({ name: 'fan', powerPct: 0.5 });
  expect(await client.isPowered({ name: 'fan' })).toMatchObject({ isOn: true, powerPct: 0.5 });
  await expect(client.goTo({ name: 'fan' })).rejects.toMatchObject({ code: 'unimplemented' });
  await expect(client.doCommand({ name: 'fan', command: {} })).rejects.toThrow('this model has no commands');
  const caller = new AbortController();
  const turning = client.goFor({ name: 'fan' }, { signal: caller.signal });
  caller.abort();
  await expect(turning).rejects.toMatchObject({ code: 'canceled' });
});

test('errors of the author’s code reach the machine with their message, from building and from calls', async () => {
  const module = await start();
  await expect(module.add(sensorApi, 'acme:examples:counter', 'steps', { step: 13 })).rejects.toMatchObject({
    ...{ code: 'failed_precondition', message: '13 brings bad luck' },
  });
  await expect(module.add('rdk:component:motor', 'acme:examples:broken', 'b')).rejects.toThrow(
    'build: expected an object with the methods of core:component:motor, found one without setPower',
  );
  await expect(module.add(sensorApi, 'acme:examples:unknown', 'steps')).rejects.toThrow(
    'expected a model of this module (acme:examples:counter (core:component:sensor)',
  );
  await module.add(sensorApi, 'acme:examples:counter', 'steps', { step: -1 });
  await expect(module.client(SensorService).getReadings({ name: 'steps' })).rejects.toMatchObject({
    ...{ code: 'failed_precondition', message: 'it counts backwards' },
  });
});

test('a configuration that cannot be built leaves the running resource as it is', async () => {
  const module = await start();
  const config = { api: sensorApi, model: 'acme:examples:doubled', name: 'twice', attributes: { of: 'water' } };
  await module.protocol.addResource({ config, dependencies: ['rdk:component:sensor/water'] });
  const wrong = { ...config, attributes: { of: 'wine' } };
  await expect(
    module.protocol.reconfigureResource({ config: wrong, dependencies: ['rdk:component:sensor/water'] }),
  ).rejects.toThrow('expected a core:component:sensor "wine"');
  const { readings } = await module.client(SensorService).getReadings({ name: 'twice' });
  expect(readings).toMatchObject({ value: { kind: { value: 42 } } });
});
