/** TLS of the machine's port: certificates from the cloud and from files, renewed without a restart. */
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { type Clock, silentLog, systemClock } from '@platform/base';
import { RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { connect } from '@platform/rpc/client';
import { selfSigned } from '@platform/testkit';
import { expect, test } from 'vitest';
import { ownHostName } from '../mdns/feature.ts';
import { startFakeCloud } from '../testing/fake-cloud.ts';
import { createTestHome, patientClock, startTestServer, until } from '../testing/start-test-server.ts';
import { isDue } from './certificate-pair.ts';
import { openCertificate } from './feature.ts';

const credentials = { entity: 'id', type: 'api-key', payload: 'key' };
const auth = { handlers: [{ type: 'api-key', config: { id: 'key', keys: ['id'] } }] };
/** Reachable from other computers, and therefore with TLS. */
const open = { components: [], auth, network: { bind_address: '0.0.0.0:0' } };

/** Makes the hourly check of the certificate, the waits after a failure and the checks of files immediate. */
const hurried: Clock = {
  ...patientClock,
  after: (ms, run) => patientClock.after(ms >= 500 ? 20 : ms, run),
  every: (ms, run) => patientClock.every(ms === 10_000 ? 20 : ms, run),
};

/** The platform name that the server at an address returns, or the error. */
async function ask(baseUrl: string, ca?: string): Promise<string> {
  await using link = connect({ baseUrl, credentials, ...(ca !== undefined && { ca }) });
  return (await link.client(RobotService).getVersion({})).platform;
}

test('beyond loopback the port has TLS with the certificate that the cloud issues, and plaintext on this computer', async () => {
  const first = await selfSigned(60);
  await using cloud = await startFakeCloud(open);
  cloud.certificate = () => first;
  await using home = await createTestHome(cloud.url);
  await using server = await startTestServer(home);
  const { port } = server.serving;
  expect(await ask(`https://localhost:${port}`, first.cert)).toBe('machine-server');
  expect(await ask(`http://127.0.0.1:${port}`)).toBe('machine-server');
  expect((await fetch(`http://127.0.0.1:${port}/restart_status`)).status).toBe(200);
  await expect(ask(`https://localhost:${port}`)).rejects.toThrow('certificate');
  // From an address other than loopback, plaintext is refused; a computer without a network has no such address.
  const [outside] = Object.values(networkInterfaces()).flatMap(
    (all) => all?.filter((each) => !each.internal && each.family === 'IPv4') ?? [],
  );
  if (outside !== undefined) expect((await fetch(`http://${outside.address}:${port}/restart_status`)).status).toBe(400);
  const kept = join(home.path, 'certificate_11111111-2222-4333-8444-555555555555.json');
  expect((await stat(kept)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(kept, 'utf8'))).toMatchObject(first);
});

test('D16 on loopback the port has TLS too, so that programs on this computer can send a key, and plaintext stays', async () => {
  const first = await selfSigned(60);
  await using cloud = await startFakeCloud({ components: [], auth, network: { bind_address: '127.0.0.1:0' } });
  cloud.certificate = () => first;
  await using home = await createTestHome(cloud.url);
  await using server = await startTestServer(home, hurried);
  const { port } = server.serving;
  await until('TLS', () =>
    ask(`https://localhost:${port}`, first.cert).then(
      () => true,
      () => false,
    ),
  );
  expect(await ask(`http://127.0.0.1:${port}`)).toBe('machine-server');
  const kept = join(home.path, 'certificate_11111111-2222-4333-8444-555555555555.json');
  // It is written after it is used.
  await until('the kept file', () =>
    stat(kept).then(
      () => true,
      () => false,
    ),
  );
  const { names } = JSON.parse(await readFile(kept, 'utf8'));
  expect(names).toEqual(expect.arrayContaining(['localhost', '127.0.0.1', '::1', `${ownHostName()}.local`]));
});

test('a certificate is renewed long before it expires without a restart, and is used at a start without the cloud', async () => {
  const [ending, fresh] = [await selfSigned(0.1), await selfSigned(60)];
  const cloud = await startFakeCloud(open);
  cloud.certificate = () => ending;
  await using home = await createTestHome(cloud.url);
  {
    await using server = await startTestServer(home, hurried);
    const url = `https://localhost:${server.serving.port}`;
    await until('another request', () => cloud.certificateRequests > 1);
    expect(await ask(url, ending.cert)).toBe('machine-server');
    cloud.certificate = () => fresh;
    await until('the fresh one', () =>
      ask(url, fresh.cert).then(
        () => true,
        () => false,
      ),
    );
  }
  await cloud.stop();
  await using again = await startTestServer(home);
  expect(await ask(`https://localhost:${again.serving.port}`, fresh.cert)).toBe('machine-server');
});

test('without a certificate from the cloud, this computer is served; TLS works as soon as there is one', async () => {
  const fresh = await selfSigned(60);
  await using cloud = await startFakeCloud(open);
  await using home = await createTestHome(cloud.url);
  await using server = await startTestServer(home, hurried);
  const { port } = server.serving;
  expect(await ask(`http://127.0.0.1:${port}`)).toBe('machine-server');
  await expect(ask(`https://localhost:${port}`, fresh.cert)).rejects.toThrow();
  cloud.certificate = () => fresh;
  await until('TLS', () =>
    ask(`https://localhost:${port}`, fresh.cert).then(
      () => true,
      () => false,
    ),
  );
  const warning = 'the cloud issued no certificate; trying again, and until then other computers cannot connect';
  await until('the warning', () => cloud.logs.some((line) => line.startsWith(warning)));
});

test('certificate files of the configuration are used and read again when they change; invalid ones end the start', async () => {
  const [first, second] = [await selfSigned(60), await selfSigned(60)];
  await using home = await createTestHome('http://127.0.0.1:1');
  const [certFile, keyFile] = [join(home.path, 'cert.pem'), join(home.path, 'key.pem')];
  const write = async ({ cert, key }: typeof first): Promise<void> => {
    for (const [file, text] of [
      [certFile, cert],
      [keyFile, key],
    ] as const) {
      await writeFile(`${file}.new`, text);
      await rename(`${file}.new`, file);
    }
  };
  await write(first);
  const network = { bind_address: '127.0.0.1:0', tls_cert_file: certFile, tls_key_file: keyFile };
  await writeFile(home.configFile, JSON.stringify({ components: [], auth, network }));
  {
    await using server = await startTestServer(home, hurried);
    const url = `https://localhost:${server.serving.port}`;
    expect(await ask(url, first.cert)).toBe('machine-server');
    await write(second);
    await until('the other certificate', () =>
      ask(url, second.cert).then(
        () => true,
        () => false,
      ),
    );
  }
  await writeFile(keyFile, first.key);
  await expect(startTestServer(home)).rejects.toThrow(
    /network.tls_cert_file .*cert.pem and network.tls_key_file .*key.pem: expected a PEM certificate chain and its private key/,
  );
});

test('a port that other computers can reach needs a certificate or -no-tls', async () => {
  const deps = {
    ...{
      link: undefined,
      partId: '',
      home: '',
      names: () => [],
      hostName: 'press',
      timeoutMs: 1,
      clock: systemClock,
      log: silentLog,
    },
    ...{ noTls: false, config: create(RobotConfigSchema), isPublic: true },
  };
  const { signal } = new AbortController();
  await expect(openCertificate(deps, signal)).rejects.toThrow(
    'set network.tls_cert_file and network.tls_key_file, or start with -no-tls',
  );
  expect(await openCertificate({ ...deps, noTls: true }, signal)).toBeUndefined();
  const config = create(RobotConfigSchema, { network: { noTls: true } });
  expect(await openCertificate({ ...deps, config }, signal)).toBeUndefined();
  expect(await openCertificate({ ...deps, isPublic: false }, signal)).toBeUndefined();
});

test('a certificate must be renewed in the last third of its life, and when the machine gets another name', async () => {
  const certificate = { ...(await selfSigned(60)), names: ['part.local'] };
  const dayMs = 86_400_000;
  const at = (days: number): boolean => isDue(certificate, ['part.local'], Date.now() + days * dayMs);
  expect([at(0), at(39), at(42), at(100)]).toEqual([false, false, true, true]);
  expect(isDue(certificate, ['other.local'], Date.now())).toBe(true);
});
