/** D50 for a machine with a cloud: the names that it has by that, what its local file adds, and the calls that the cloud passes on. */
import { once } from 'node:events';
import { type OutgoingHttpHeaders, request } from 'node:http';
import { type OpenLinkRequest, RelayService } from '@platform/proto/platform/relay/v1/relay';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { byteStreamOver, connect, connectOver, type Link } from '@platform/rpc/client';
import { serve } from '@platform/rpc/server';
import { expect, onTestFinished, test } from 'vitest';
import { type FakeCloud, startFakeCloud } from '../../testing/fake-cloud.ts';
import { states } from '../../testing/local-machine.ts';
import { createTestHome, patientClock, startTestServer, until } from '../../testing/start-test-server.ts';

const fake = (name: string) => ({ name, api: 'core:component:sensor', model: 'core:builtin:fake' });

async function start(cloud: FakeCloud, more: object, args: readonly string[], address: string) {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const home = stack.use(await createTestHome(cloud.url, more));
  const options = { args, env: { PLATFORM_BIND_ADDRESS: address } };
  return stack.use(await startTestServer(home, patientClock, undefined, options));
}

async function statusOf(port: number, headers: OutgoingHttpHeaders): Promise<number | undefined> {
  const asked = request({ host: '127.0.0.1', port, path: '/platform/api/v1/version', headers }).end();
  const [response] = await once(asked, 'response');
  response.resume();
  return response.statusCode;
}

test('D50 pages may call an open machine by the names that its cloud gave it, and by those of its local file beside the cloud', async () => {
  await using cloud = await startFakeCloud({
    components: [fake('a')],
    network: { allowed_hosts: ['cloud.lan'], allowed_origins: ['https://cloud.example'] },
  });
  cloud.names = { fqdn: 'press.site.example', localFqdn: 'press.site.local.example' };
  const network = { allowed_hosts: ['file.lan'], allowed_origins: ['https://file.example'] };
  const { serving } = await start(cloud, { network }, [], '127.0.0.1:0');
  const own = `127.0.0.1:${serving.port}`;
  for (const host of ['press.site.example', 'press.site.local.example:81', 'cloud.lan', 'file.lan'])
    expect([host, await statusOf(serving.port, { host })]).toEqual([host, 200]);
  for (const host of ['other.site.example', 'site.example'])
    expect([host, await statusOf(serving.port, { host })]).toEqual([host, 403]);
  for (const origin of [
    'https://press.site.example',
    'http://press.site.local.example:81',
    'https://cloud.example',
    'https://file.example',
  ])
    expect([origin, await statusOf(serving.port, { host: own, origin })]).toEqual([origin, 200]);
  for (const origin of ['https://other.site.example', 'http://file.example', 'http://file.lan'])
    expect([origin, await statusOf(serving.port, { host: own, origin })]).toEqual([origin, 403]);
});

async function* dataOf(messages: AsyncIterator<OpenLinkRequest>): AsyncGenerator<Uint8Array, void> {
  for (let next = await messages.next(); next.done !== true; next = await messages.next()) yield next.value.data;
}

test('D50 a machine whose edit left no keys answers the calls that its cloud passes on, and nobody at its port', async () => {
  const opened = Promise.withResolvers<Link>();
  const relay = serve<typeof RelayService, string>(RelayService, {
    async *openLink(requests) {
      const messages = requests[Symbol.asyncIterator]();
      await messages.next();
      const { duplex, outgoing } = byteStreamOver(dataOf(messages));
      yield { data: new Uint8Array() };
      await using link = connectOver({ stream: duplex, peerName: 'the machine', userAgent: 'test' });
      opened.resolve(link);
      for await (const data of outgoing) yield { data };
    },
  });
  const auth = { handlers: [{ type: 'api-key', config: { id: 'first' } }] };
  await using cloud = await startFakeCloud({ components: [fake('a')], auth }, 0, [relay]);
  const server = await start(cloud, {}, ['-no-tls'], '0.0.0.0:0');
  const { port } = server.serving;
  const relayed = (await opened.promise).client(RobotService);
  const headers = { 'platform-caller': 'person:ada' };
  expect((await relayed.getMachineStatus({}, { headers })).configError).toBe('');

  cloud.document = { components: [fake('b')] };
  await until('the edit', () => states(server) === 'b ready');
  const credentials = { entity: 'id', type: 'api-key', payload: 'first' };
  for (const options of [{ credentials }, {}]) {
    await using direct = connect({ baseUrl: `http://127.0.0.1:${port}`, ...options });
    await expect(direct.client(RobotService).getVersion({})).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(direct.client(RobotService).getVersion({}, { headers })).rejects.toMatchObject({
      code: 'unauthenticated',
    });
  }
  expect((await relayed.getMachineStatus({}, { headers })).configError).toContain('it answers only its cloud');
});
