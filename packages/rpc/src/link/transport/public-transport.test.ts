import { createServer } from 'node:net';
import { silentLog } from '@platform/base';
import { ServerReflection } from '@platform/proto/grpc/reflection/v1/reflection';
import { DataSyncService } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { ModuleService } from '@platform/proto/platform/module/v1/module';
import { temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { serve } from '../../core/binding.ts';
import { createRpcServer } from '../../listener/rpc-server.ts';
import { connect } from '../connect.ts';

async function startServer() {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const directory = stack.use(await temporaryDirectory());
  const seen: string[] = [];
  const server = createRpcServer({
    services: [
      serve<typeof ModuleService>(ModuleService, {
        removeResource({ name }, { method, vocabulary }) {
          seen.push(method, vocabulary, name);
          return {};
        },
        validateConfig: ({ config }) => ({ dependencies: [`${config?.api}/x`] }),
      }),
    ],
    authenticate: async () => 'anyone',
    open: [],
    fallback: (_request, response) => void response.end(),
    log: silentLog,
  });
  stack.use(server);
  const socketPath = directory.file('s.sock');
  const link = stack.use(
    connect({ baseUrl: 'http://module', socketPath, peerName: 'the module "m"', vocabulary: 'rdk' }),
  );
  return { server, seen, socketPath, link };
}

test('a link over a Unix socket calls a public peer by its names, and reads its answers in ours', async () => {
  const { server, seen, socketPath, link } = await startServer();
  const module = link.client(ModuleService);
  await expect(module.removeResource({ name: 'x' })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('the module "m" cannot be reached'),
  });
  await server.listenOnSocket(socketPath);
  await module.removeResource({ name: 'core:component:sensor/door' });
  // The server translates back, so it shows that the public names were sent.
  expect(seen).toEqual(['/platform.module.v1.ModuleService/RemoveResource', 'rdk', 'core:component:sensor/door']);
  const { dependencies } = await module.validateConfig({ config: { api: 'core:component:motor' } });
  expect(dependencies).toEqual(['core:component:motor/x']);
  const { server: other } = await startServer();
  await expect(other.listenOnSocket(socketPath)).rejects.toThrow(`cannot listen on the socket ${socketPath}: `);
});

test('services can be added to a running server, which serves and describes them, and later be replaced by others', async () => {
  const { server, socketPath, link } = await startServer();
  await server.listenOnSocket(socketPath);
  const call = () => link.client(DataSyncService).dataCaptureUpload({});
  const listed = async (): Promise<readonly string[]> => {
    async function* ask() {
      yield { messageRequest: { case: 'listServices', value: '' } as const };
    }
    for await (const { messageResponse } of link.client(ServerReflection).serverReflectionInfo(ask()))
      if (messageResponse.case === 'listServicesResponse') return messageResponse.value.service.map(({ name }) => name);
    return [];
  };
  await expect(call()).rejects.toMatchObject({ code: 'unimplemented' });
  expect(await listed()).not.toContain('platform.app.datasync.v1.DataSyncService');
  server.setAdded([serve<typeof DataSyncService>(DataSyncService, { dataCaptureUpload: () => ({ fileId: 'f' }) })]);
  expect(await call()).toMatchObject({ fileId: 'f' });
  expect(await listed()).toContain('platform.app.datasync.v1.DataSyncService');
  server.setAdded([]);
  await expect(call()).rejects.toMatchObject({ code: 'unimplemented' });
});

test('a peer that answers with anything but HTTP/2 fails the call, not the process', async () => {
  await using directory = await temporaryDirectory();
  const socketPath = directory.file('junk.sock');
  const junk = createServer((socket) => socket.on('error', () => {}).end('HELLO\r\n'.repeat(2_000)));
  onTestFinished(() => void junk.close());
  await new Promise<void>((resolve) => junk.listen({ path: socketPath }, resolve));
  await using link = connect({ baseUrl: 'http://junk', socketPath });
  for (let attempt = 0; attempt < 20; attempt++)
    await expect(link.client(ModuleService).ready({})).rejects.toHaveProperty('code');
});
