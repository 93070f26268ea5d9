/** D31: the cloud over TLS with its own authority or given files, reached by clients that share no code with ours. */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, connect as tlsConnect } from 'node:tls';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { Client, credentials } from '@grpc/grpc-js';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { connect, pinnedAuthority } from '@platform/rpc/client';
import { type ChildProcess, spawnChild } from '@platform/testkit';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { program } from '../../tools/bundles/program.ts';
import { openCommandLine } from './cli/command-line.ts';
import { Peer } from './clients/grpc-peer.ts';

const main = program('cloud');
const machineMain = program('machine-server');
const nodeFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];

interface Ready {
  readonly url: string;
  readonly caFingerprint: string;
  readonly keyId: string;
  readonly key: string;
  readonly partId: string;
}

function temporary(): string {
  return mkdtempSync(join(tmpdir(), 'tls-'));
}

function start(data: string, ...args: string[]): ChildProcess {
  const all = [...nodeFlags, main, '--data', data, '--port', '0', ...args];
  return spawnChild(process.execPath, all, { env: { PLATFORM_LOG_LEVEL: 'error' } });
}

const readyOf = async (cloud: ChildProcess) =>
  (await cloud.waitForLine((line) => line['event'] === 'ready')) as unknown as Ready;

const data = temporary();
let cloud: ChildProcess;
let ready: Ready;
let ca: string;

beforeAll(async () => {
  // The cloud advertises the first name; the certificate always includes localhost.
  cloud = start(data, '--tls-name', 'localhost');
  ready = await readyOf(cloud);
  ca = await pinnedAuthority(ready.url, ready.caFingerprint);
});
afterAll(async () => {
  await cloud.kill('SIGTERM');
  rmSync(data, { recursive: true, force: true });
});

/** Status and body of a GET over HTTP/1.1. */
function get(path: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    httpsRequest(`${ready.url}${path}`, { ca, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (part) => {
        body += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    })
      .on('error', reject)
      .end();
  });
}

/** The gRPC code of the answer. */
const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 0,
    (caught: { code?: number }) => caught.code,
  );

const keyOf = ({ keyId, key }: Ready) => ({ entity: keyId, type: 'api-key', payload: key });

test('D31 the printed fingerprint leads to an authority under which our link and pages work', async () => {
  expect(ready.url).toMatch(/^https:\/\/localhost:/);
  expect(new X509Certificate(ca)).toMatchObject({ ca: true, fingerprint256: ready.caFingerprint });
  await using link = connect({ baseUrl: ready.url, credentials: keyOf(ready), ca });
  expect((await link.client(AppService).listOrganizations({})).organizations).toHaveLength(1);
  expect(await get('/healthz')).toEqual({ status: 200, body: expect.stringContaining('true') });
});

test('D31 grpc-js reaches the cloud with the authority, and not without it', async () => {
  const call = (trusted: boolean): Promise<string> =>
    new Promise((resolve) => {
      const target = new URL(ready.url).host;
      const client = new Client(target, credentials.createSsl(trusted ? Buffer.from(ca) : null));
      const bytes = (value: Buffer): Buffer => value;
      const deadline = { deadline: new Date(Date.now() + 240_000) };
      client.makeUnaryRequest(
        '/viam.app.v1.AppService/ListOrganizations',
        bytes,
        bytes,
        Buffer.alloc(0),
        deadline as never,
        (error) => {
          client.close();
          resolve(error?.message ?? 'answered');
        },
      );
    });
  expect(await call(true)).toMatch(/^16 UNAUTHENTICATED/);
  expect(await call(false)).toMatch(/^14 UNAVAILABLE/);
});

test('D31 another fingerprint is refused, and a client without the authority sends nothing', async () => {
  const other = Array(32).fill('00').join(':');
  await expect(pinnedAuthority(ready.url, other)).rejects.toMatchObject({ code: 'failed_precondition' });
  await using link = connect({ baseUrl: ready.url, credentials: keyOf(ready) });
  await expect(link.client(AppService).listOrganizations({})).rejects.toThrow(/certificate/);
});

test('D31 D32 the downloaded configuration has the authority, and a machine-server started with it fetches its own', async () => {
  const { status, body } = await get(`/api/json1/config?id=${ready.partId}`, { key_id: ready.keyId, key: ready.key });
  expect(status).toBe(200);
  const document = JSON.parse(body);
  expect(document.cloud.app_address).toBe(ready.url);
  expect(document.cloud.ca.trim()).toBe(ca.trim());

  const home = temporary();
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const file = join(home, 'machine.json');
  writeFileSync(file, JSON.stringify({ cloud: document.cloud }));
  await using machine = spawnChild(process.execPath, [...nodeFlags, machineMain, '-config', file], {
    env: { PLATFORM_HOME: home },
  });
  // It has no cache: the configuration that it applies was fetched over TLS, with the part's secret.
  await machine.waitForLine((line) => line['msg'] === 'configuration applied');
});

test('D31 a machine of a cloud with TLS must serve TLS, and gets a certificate that is valid for both its names', async () => {
  const { body } = await get(`/api/json1/config?id=${ready.partId}`, { key_id: ready.keyId, key: ready.key });
  const target = new URL(ready.url).host;
  using machine = new Peer(target, 'viam', ca);
  await machine.signIn(ready.partId, 'robot-secret', JSON.parse(body).cloud.secret);
  const { config } = await machine.call('platform.app.v1.RobotService', 'Config', { id: ready.partId });
  const { cloud: told } = config as { cloud: Record<string, unknown> };
  expect(told).toMatchObject({ signaling_insecure: false, signaling_address: target });

  const pair = await machine.call('platform.app.v1.RobotService', 'Certificate', { id: ready.partId });
  const server = createServer({ cert: String(pair['tls_certificate']), key: String(pair['tls_private_key']) });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  for (const name of [told['fqdn'], told['local_fqdn']]) {
    const socket = tlsConnect({ host: '127.0.0.1', port, ca, servername: String(name) });
    await once(socket, 'secureConnect');
    expect(socket.authorized).toBe(true);
    socket.destroy();
  }
});

test('D16 a machine-server reachable from other computers serves TLS under its cloud’s authority, and accepts API keys and location secrets', async () => {
  const { body } = await get(`/api/json1/config?id=${ready.partId}`, { key_id: ready.keyId, key: ready.key });
  const document = JSON.parse(body);
  using part = new Peer(new URL(ready.url).host, 'viam', ca);
  await part.signIn(ready.partId, 'robot-secret', document.cloud.secret);
  const { config } = await part.call('platform.app.v1.RobotService', 'Config', { id: ready.partId });
  const { cloud: told } = config as { cloud: Record<string, string> & { location_secrets: { secret: string }[] } };
  const { fqdn = '', machine_id: machineId = '', primary_org_id: organizationId = '' } = told;
  // A machine takes keys of its own and of its location (ADR-0042).
  await using link = connect({ baseUrl: ready.url, credentials: keyOf(ready), ca });
  const role = { authorizationType: 'role', authorizationId: 'robot_operator', identityType: 'api-key' };
  const place = { resourceType: 'robot', resourceId: machineId, organizationId };
  const key = await link.client(AppService).createKey({ name: 'caller', authorizations: [{ ...role, ...place }] });

  const home = temporary();
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const file = join(home, 'machine.json');
  writeFileSync(file, JSON.stringify({ cloud: { ...document.cloud, refresh_interval: '500ms' } }));
  await using machine = spawnChild(process.execPath, [...nodeFlags, machineMain, '-config', file], {
    env: { PLATFORM_HOME: home, PLATFORM_BIND_ADDRESS: '0.0.0.0:0' },
  });
  const { address, tls } = await machine.waitForLine((line) => line['msg'] === 'serving');
  expect(tls).toBe(true);
  const port = Number(String(address).split(':').at(-1));

  const socket = tlsConnect({ host: '127.0.0.1', port, ca, servername: fqdn });
  await once(socket, 'secureConnect');
  expect(socket.authorized).toBe(true);
  socket.destroy();

  using client = new Peer(`localhost:${port}`, 'viam', ca, fqdn);
  const robot = 'platform.robot.v1.RobotService';
  await expect(client.call(robot, 'GetVersion', {})).rejects.toMatchObject({ code: 16 });
  await expect(client.signIn(key.id, 'api-key', 'wrong')).rejects.toMatchObject({ code: 16 });
  await client.signIn('any', 'robot-location-secret', told.location_secrets[0]?.secret ?? '');
  expect(await client.call(robot, 'GetCloudMetadata', {})).toMatchObject({ machine_part_id: ready.partId });
  // The cloud caches the keys for some seconds.
  using operator = new Peer(`localhost:${port}`, 'viam', ca, fqdn);
  const signedIn = (): Promise<boolean> =>
    operator.signIn(key.id, 'api-key', key.key).then(
      () => true,
      () => false,
    );
  await expect.poll(signedIn).toBe(true);
  expect(await operator.call(robot, 'GetVersion', {})).toMatchObject({ platform: 'machine-server' });
});

test('D39 a client that speaks like the Python SDK reaches a machine through the cloud by its name, over TLS and without WebRTC', async () => {
  const { body } = await get(`/api/json1/config?id=${ready.partId}`, { key_id: ready.keyId, key: ready.key });
  const home = temporary();
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const file = join(home, 'machine.json');
  writeFileSync(file, JSON.stringify({ cloud: JSON.parse(body).cloud }));
  await using machine = spawnChild(process.execPath, [...nodeFlags, machineMain, '-config', file, '-webrtc=false'], {
    env: { PLATFORM_HOME: home, PLATFORM_BIND_ADDRESS: '127.0.0.1:0' },
  });
  await machine.waitForLine((line) => line['msg'] === 'configuration applied');
  await using link = connect({ baseUrl: ready.url, credentials: keyOf(ready), ca });
  const { part } = await link.client(AppService).getRobotPart({ id: ready.partId });
  const fqdn = part?.fqdn ?? '';
  expect(fqdn).toBe(`${ready.partId}.machines.internal`);

  // The client dials the name; everything goes to that address, with the name and the port in rpc-host.
  const { port } = new URL(ready.url);
  const named = { 'rpc-host': `${fqdn}:${port}` };
  using client = new Peer(`localhost:${port}`, 'viam', ca, fqdn);
  await client.signIn(ready.keyId, 'api-key', ready.key);
  const signaling = 'proto.rpc.webrtc.v1.SignalingService';
  await expect.poll(() => codeOf(client.call(signaling, 'OptionalWebRTCConfig', {}, named))).toBe(12);
  const robot = 'platform.robot.v1.RobotService';
  const asked = (headers: Record<string, string> = {}) => client.call(robot, 'GetCloudMetadata', {}, headers);
  // The machine opens its link shortly after its start.
  await expect.poll(() => codeOf(asked(named))).toBe(0);
  expect(await asked(named)).toMatchObject({ machine_part_id: ready.partId });
  // The address alone is enough, and the cloud's own name leads to the only machine of a key.
  expect(await asked()).toMatchObject({ machine_part_id: ready.partId });
  using direct = await new Peer(`localhost:${port}`, 'viam', ca).signIn(ready.keyId, 'api-key', ready.key);
  expect(await direct.call(robot, 'GetCloudMetadata', {})).toMatchObject({ machine_part_id: ready.partId });
  const gone = { 'rpc-host': fqdn.replace(/^[^.]+/, 'gone') };
  expect(await codeOf(direct.call(robot, 'GetCloudMetadata', {}, gone))).toBe(5);
  expect(await codeOf(client.call(signaling, 'ReportConnectionMetadata', { duration_ms: 7 }, named))).toBe(0);

  await machine.kill('SIGTERM');
});

test('D31 the credentials file has the line that makes the public Go server trust the cloud, and its file on request', async () => {
  await using cli = await openCommandLine();
  const signIn = ['login', 'api-key', '--key-id', ready.keyId, '--key-file', '-'];
  await cli.ok([...signIn, '--url', ready.url, '--fingerprint', ready.caFingerprint], { input: ready.key });
  const plain = await cli.ok(['machines', 'part', 'config-file', ready.partId], { reveals: true });
  expect(plain.stderr).toContain('--ca-file ca.pem');
  const file = join(cli.directory, 'ca.pem');
  const asked = ['machines', 'part', 'config-file', ready.partId, '--ca-file', 'ca.pem'];
  const written = await cli.ok(asked, { reveals: true });
  expect(written.stderr.split('\n')).toContain(`SSL_CERT_FILE=${file}`);
  expect(new X509Certificate(readFileSync(file)).fingerprint256).toBe(ready.caFingerprint);
  expect(written.json()).toEqual(plain.json());
});

test('D31 the demo’s webhook arrives at the cloud’s own test inbox, whose certificate only its own authority signs', async () => {
  await using link = connect({ baseUrl: ready.url, credentials: keyOf(ready), ca });
  const now = timestampNow();
  await link.client(DataSyncService).dataCaptureUpload({
    metadata: {
      partId: ready.partId,
      componentType: 'core:component:sensor',
      componentName: 'host',
      methodName: 'Readings',
      type: DataType.TABULAR_SENSOR,
    },
    sensorContents: [
      {
        metadata: { timeRequested: now, timeReceived: now },
        data: { case: 'struct', value: { readings: { uptime_seconds: 5 } } },
      },
    ],
  });
  const { entity, type, payload } = keyOf(ready);
  await using stranger = connect({ baseUrl: ready.url, ca });
  const signedIn = await stranger.client(AuthService).authenticate({ entity, credentials: { type, payload } });
  await expect
    .poll(async () => (await get('/test-inbox/requests', { authorization: `Bearer ${signedIn.accessToken}` })).body)
    .toContain('"/test-inbox/webhooks/demo"');
});

test('D31 the authority stays the same after restarts, so that pinned fingerprints stay valid', async () => {
  await cloud.kill('SIGTERM');
  cloud = start(data, '--tls-name', 'localhost');
  const again = await readyOf(cloud);
  expect(again.caFingerprint).toBe(ready.caFingerprint);
  ready = { ...again, key: ready.key };
  await using link = connect({ baseUrl: ready.url, credentials: keyOf(ready), ca });
  expect((await link.client(AppService).listOrganizations({})).organizations).toHaveLength(1);
});
