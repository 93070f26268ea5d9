import { createServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@platform/base';
import { readJson } from '@platform/machine-config/read-json';
import { freePort, selfSigned } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import type { CloudCredentials } from '../config/credentials.ts';
import { partId, startFakeCloud } from '../testing/fake-cloud.ts';
import { multicastCheck } from './multicast-check.ts';
import { checkNetwork } from './network-check.ts';
import { runChecks } from './run-checks.ts';

const usual = { allowInsecureCredentials: false, configReadTimeoutMs: 20_000, disableMdns: true };

async function check(appAddress: string, more: Partial<CloudCredentials> = {}, settings: Partial<typeof usual> = {}) {
  const credentials: CloudCredentials = {
    ...{ partId, appAddress, entity: partId, type: 'robot-secret', payload: 'secret' },
    ...{ refreshMs: 1_000, offlineLimitDays: 60, allowedHosts: [], allowedOrigins: [], ...more },
  };
  const lines: string[] = [];
  const file = { kind: 'cloud', credentials, local: { tcpModeTrusted: false, allowedSyncFolders: [] } } as const;
  const passed = await checkNetwork({ ...usual, ...settings }, file, systemClock, (line) => lines.push(line));
  const [outcomes, text] = [new Map<string, string>(), lines.join('')];
  for (const [, outcome = '', name = ''] of text.matchAll(/^(ok|failed|skipped) +(\S+)/gm)) outcomes.set(name, outcome);
  return { passed, outcomes: Object.fromEntries(outcomes), text };
}

async function serveTls(listener: RequestListener): Promise<{ url: string; cert: string }> {
  const { cert, key } = await selfSigned(1, ['localhost']);
  const server = createHttpsServer({ cert, key }, listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, cert };
}

test('D16 -network-check checks the connection to the cloud step by step; checks that depend on a failed step are skipped', async () => {
  await using cloud = await startFakeCloud({});
  const whole = await check(cloud.url.replace('127.0.0.1', 'localhost'));
  expect(whole.outcomes).toEqual({
    ...{ dns: 'ok', tcp: 'ok', tls: 'skipped', certificate: 'skipped', http: 'ok', clock: 'ok', 'sign-in': 'ok' },
    'multicast-dns': 'skipped',
  });
  expect([whole.passed, whole.text.trimEnd().split('\n').at(-1)]).toEqual([true, 'all checks passed']);
  expect(whole.text).toMatch(/^ok +tcp +\d+ ms {2}localhost:\d+ from /m);

  const wrong = await check(cloud.url, { payload: 'wrong' });
  expect(wrong).toMatchObject({ passed: false, outcomes: { dns: 'skipped', http: 'ok', 'sign-in': 'failed' } });
  expect(wrong.text).toMatch(/^failed +sign-in .*wrong secret.*get a new credentials file/m);

  const nothing = await check(`http://127.0.0.1:${await freePort()}`);
  expect(nothing.outcomes).toMatchObject({ tcp: 'failed', http: 'skipped', clock: 'skipped', 'sign-in': 'skipped' });
  expect(nothing.text).toMatch(/^failed +tcp .*ECONNREFUSED.*check that the cloud runs/m);
  expect(nothing.text).toContain('1 of 8 checks failed');

  const nowhere = await check('http://no-such-name.invalid:1', {}, { configReadTimeoutMs: 5_000 });
  expect(nowhere.text).toMatch(/^failed +dns .*check the name in cloud\.app_address/m);
});

test('D16 -network-check reports whether the certificate is trusted, and whether the clocks agree', async () => {
  const { url, cert } = await serveTls((_request, response) => {
    response.sendDate = false;
    response.setHeader('date', new Date(Date.now() - 3_600_000).toUTCString()).end('x');
  });
  const pinned = await check(url, { ca: cert });
  expect(pinned.outcomes).toMatchObject({ tls: 'ok', certificate: 'ok', http: 'ok', clock: 'failed' });
  expect(pinned.text).toMatch(/^failed +clock .* (?:3600|3599)\.\d s ahead of the cloud: synchronise it/m);
  const unknown = await check(url);
  expect(unknown.outcomes).toMatchObject({ tls: 'ok', certificate: 'failed', http: 'failed', clock: 'skipped' });
  expect(unknown.text).toMatch(/^failed +certificate .*needs cloud\.ca/m);

  const plain = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => plain.once('listening', resolve));
  onTestFinished(() => void plain.close());
  const noTls = await check(`https://127.0.0.1:${(plain.address() as AddressInfo).port}`);
  expect(noTls.outcomes).toMatchObject({ tcp: 'ok', tls: 'failed', certificate: 'skipped' });
});

test('D16 -network-check without a cloud checks only the local network, and a check that hangs ends in time', async () => {
  const lines: string[] = [];
  const file = {
    kind: 'local',
    text: readJson('{}'),
    local: { tcpModeTrusted: false, allowedSyncFolders: [] },
  } as const;
  expect(await checkNetwork(usual, file, systemClock, (line) => lines.push(line))).toBe(true);
  expect(lines[0]).toMatch(/^skipped +cloud +the configuration names none/);
  const hanging = { name: 'slow', run: () => new Promise<string>(() => {}) };
  expect(await runChecks([hanging], 50, systemClock, (line) => lines.push(line))).toBe(false);
  expect(lines.at(-2)).toMatch(/^failed +slow .*no answer within 50 ms/);
});

test('D16 a multicast question that comes back shows that machines can be found; a port in use is reported', async () => {
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  await runChecks([multicastCheck(false, await freePort())], 5_000, systemClock, say);
  // Not every computer that runs tests has a network for multicast.
  expect(lines[0]).toMatch(
    /^(ok +multicast-dns .*reaches this computer|failed +multicast-dns .*allow UDP \d+ in the firewall)/,
  );
});
