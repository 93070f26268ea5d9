import { createFaultProxy } from '@platform/testkit';
import { test } from 'vitest';
import { startFakeCloud } from '../testing/fake-cloud.ts';
import { setAddress } from '../testing/set-address.ts';
import { createTestHome, startTestServer, until } from '../testing/start-test-server.ts';

test('when this computer has lost the address of its connection to the cloud, the machine-server opens another one at once', async () => {
  await using cloud = await startFakeCloud({});
  await using proxy = await createFaultProxy({ host: '127.0.0.1', port: Number(new URL(cloud.url).port) });
  await using home = await createTestHome(`http://127.0.0.1:${proxy.port}`);
  await using _server = await startTestServer(home);
  // Then both of its connections are open, and nothing but a change of the network replaces one.
  await until('the attempt at remote control', () => cloud.logs.includes('this cloud offers no remote control'));
  const before = proxy.connections;
  setAddress('fd00::2');
  await until('another connection', () => proxy.connections > before);
  const reports = cloud.reports?.length ?? 0;
  cloud.document = { components: [{ name: 's', api: 'core:component:sensor', model: 'acme:no:model' }] };
  await until('a report over it', () => (cloud.reports?.length ?? 0) > reports);
});
