/** The address in the credentials file of a part must reach the cloud from the machine. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

const publicUrl = 'https://cloud.example:8443';
let local: CloudProcess;
let reachable: CloudProcess;
let cli: CommandLine;
beforeAll(async () => {
  [local, reachable, cli] = await Promise.all([
    startCloud(),
    startCloud({ PLATFORM_PUBLIC_URL: publicUrl }),
    openCommandLine(),
  ]);
});
afterAll(async () => {
  await cli[Symbol.asyncDispose]();
  await local[Symbol.asyncDispose]();
  await reachable[Symbol.asyncDispose]();
});

const ask = ({ url, keyId, key, partId }: CloudProcess, ...options: string[]) =>
  cli.run(['machines', 'part', 'config-file', partId, ...options], {
    env: { PLATFORM_URL: url, PLATFORM_API_KEY_ID: keyId, PLATFORM_API_KEY: key },
    reveals: true,
  });

test('if only the cloud’s computer can reach it, the file is for that computer, and a warning says what to do', async () => {
  const { stderr, json } = await ask(local);
  expect(json()).toMatchObject({ cloud: { app_address: local.url } });
  expect(stderr).toMatch(/listens on loopback only .*--host 0\.0\.0\.0 .*--address/);
});

test('a login on the computer of the cloud writes the public address', async () => {
  const { stderr, json } = await ask(reachable);
  expect(json()).toMatchObject({ cloud: { app_address: publicUrl } });
  expect(stderr).toBe('');
});

test('--address takes precedence; plaintext addresses and invalid ones are reported', async () => {
  const [given, plain, wrong] = await Promise.all([
    ask(reachable, '--address', 'https://proxy.example/'),
    ask(local, '--address', 'http://10.0.0.2:8080'),
    ask(local, '--address', 'proxy.example'),
  ]);
  expect(given.json()).toMatchObject({ cloud: { app_address: 'https://proxy.example' } });
  expect(given.stderr).toBe('');
  expect(plain.json()).toMatchObject({ cloud: { app_address: 'http://10.0.0.2:8080' } });
  expect(plain.stderr).toContain('-allow-insecure-creds');
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
  expect(wrong.stderr).toContain('expected a URL such as https://cloud.example:8080, found "proxy.example"');
});
