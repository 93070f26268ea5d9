import { create, createFileRegistry, fromBinary } from '@bufbuild/protobuf';
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { silentLog } from '@platform/base';
import { Health, HealthCheckResponse_ServingStatus as Status } from '@platform/proto/grpc/health/v1/health';
import { ServerReflection } from '@platform/proto/grpc/reflection/v1/reflection';
import { ServerReflection as ServerReflectionAlpha } from '@platform/proto/grpc/reflection/v1alpha/reflection';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { expect, onTestFinished, test } from 'vitest';
import { connect, type Link } from '../client.ts';
import { serve } from '../core/binding.ts';
import { createRpcServer } from '../listener/rpc-server.ts';

async function startServer(): Promise<Link> {
  const server = createRpcServer({
    services: [serve(DataService, {})],
    authenticate: async () => {
      throw new Error('these services need no authentication');
    },
    open: [],
    fallback: (_request, response) => response.end(),
    log: silentLog,
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const link = connect({ baseUrl: `http://127.0.0.1:${port}` });
  onTestFinished(async () => {
    await link[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  return link;
}

type Asked = { case: 'listServices' | 'fileByFilename' | 'fileContainingSymbol'; value: string };

async function reflect(link: Link, service: typeof ServerReflection, ...asked: Asked[]) {
  async function* requests() {
    for (const messageRequest of asked) yield { messageRequest };
  }
  const responses = [];
  for await (const { messageResponse } of link.client(service).serverReflectionInfo(requests())) {
    responses.push(messageResponse);
  }
  return responses;
}

test.each([ServerReflection, ServerReflectionAlpha as unknown as typeof ServerReflection])(
  'D2 reflection lists the services under both names ($typeName)',
  async (service) => {
    const [response] = await reflect(await startServer(), service, { case: 'listServices', value: '' });
    if (response?.case !== 'listServicesResponse') throw new Error(`expected a list, found ${response?.case}`);
    expect(response.value.service.map(({ name }) => name)).toEqual([
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
      'platform.app.data.v1.DataService',
      'viam.app.data.v1.DataService',
    ]);
  },
);

test.each(['platform', 'viam'])(
  'D2 a client can build the methods of a %s service from its descriptors',
  async (root) => {
    const link = await startServer();
    const symbol = { case: 'fileContainingSymbol', value: `${root}.app.data.v1.DataService.TabularDataBySQL` } as const;
    const [response] = await reflect(link, ServerReflection, symbol);
    if (response?.case !== 'fileDescriptorResponse') throw new Error(`expected files, found ${response?.case}`);
    const file = response.value.fileDescriptorProto.map(
      (bytes): FileDescriptorProto => fromBinary(FileDescriptorProtoSchema, bytes),
    );
    expect(file.map(({ name }) => name)).toContain(`${root}/app/data/v1/data.proto`);
    const built = createFileRegistry(create(FileDescriptorSetSchema, { file: file.toReversed() }));
    const method = built.getService(`${root}.app.data.v1.DataService`)?.method['tabularDataBySQL'];
    expect(method?.input.typeName).toBe(`${root}.app.data.v1.TabularDataBySQLRequest`);
    expect(method?.output.fields.map(({ name }) => name)).toContain('raw_data');
  },
);

test('a stream sends shared files once, and reports unknown names', async () => {
  const link = await startServer();
  const responses = await reflect(
    link,
    ServerReflection,
    { case: 'fileByFilename', value: 'platform/app/data/v1/data.proto' },
    { case: 'fileContainingSymbol', value: 'platform.app.data.v1.Filter.component_name' },
    { case: 'fileContainingSymbol', value: 'no.such.Thing' },
    { case: 'fileByFilename', value: '' },
  );
  const [first, second, third, fourth] = responses;
  if (first?.case !== 'fileDescriptorResponse' || second?.case !== 'fileDescriptorResponse')
    throw new Error('expected files');
  expect(first.value.fileDescriptorProto.length).toBeGreaterThan(1);
  expect(second.value.fileDescriptorProto).toEqual([first.value.fileDescriptorProto[0]]);
  expect(third).toMatchObject({ case: 'errorResponse', value: { errorCode: 5 } });
  expect(fourth).toMatchObject({ case: 'errorResponse', value: { errorCode: 5 } });
});

test('health is serving for the server and its services, and not found for others', async () => {
  const link = await startServer();
  const health = link.client(Health);
  for (const service of ['', 'platform.app.data.v1.DataService', 'viam.app.data.v1.DataService'])
    expect(await health.check({ service })).toMatchObject({ status: Status.SERVING });
  await expect(health.check({ service: 'other.Service' })).rejects.toMatchObject({ code: 'not_found' });
  const stop = new AbortController();
  for await (const { status } of health.watch({ service: '' }, { signal: stop.signal })) {
    expect(status).toBe(Status.SERVING);
    break;
  }
});
