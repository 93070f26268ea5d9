import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { program } from '../../../tools/bundles/program.ts';
import { countingDocument, until } from './testing/start-test-server.ts';

const main = program('machine-server');

/** A program that answers every connection in plaintext. */
function createTlsLess(): Server {
  return createServer((socket) => socket.on('error', () => {}).end('hello\r\n')).listen(0, '127.0.0.1');
}

/** Runs the server until it exits. */
function run(home: string, ...args: string[]): Promise<{ code: number; out: string; error: string }> {
  return runWith({ PLATFORM_CONFIG_READ_TIMEOUT: '60s' }, home, ...args);
}

async function runWith(
  env: Readonly<Record<string, string>>,
  home: string,
  ...args: string[]
): Promise<{ code: number; out: string; error: string }> {
  const child = spawn(process.execPath, ['--conditions=@platform/source', main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PLATFORM_HOME: home, ...env },
  });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: Number(code), out, error };
}

test('D16 --help prints the options to standard output and ends with 0; a misspelled option says where to find them', async () => {
  const home = await mkdtemp(join(tmpdir(), 'machine-main-'));
  const help = await run(home, '--help');
  expect(help).toMatchObject({ code: 0, error: '' });
  expect(help.out).toContain('Usage: machine-server -config <file>');
  const wrong = await run(home, '-confg', 'f');
  expect(wrong).toMatchObject({ code: 1, out: '' });
  expect(wrong.error).toContain('did you mean -config?');
  await rm(home, { recursive: true });
});

test('D16 -version prints the version; a missing or wrong -config exits with one sentence and a non-zero code', async () => {
  const home = await mkdtemp(join(tmpdir(), 'machine-main-'));
  const file = async (name: string, content: string): Promise<string> => {
    await writeFile(join(home, name), content);
    return join(home, name);
  };
  expect(await run(home, '-version')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^machine-server \d+\.\d+\.\d+\n$/),
  });
  const cases: [string[], RegExp][] = [
    [[], /expected -config <file>/],
    [['-config', join(home, 'none')], /none: expected a JSON file, found no such file$/m],
    [['-config', await file('text', '{')], /line 1, column 2: expected a key in quotes/],
    [['-config', await file('part', '{"cloud":{"secret":"s"}}')], /expected text at "cloud.id"/],
    [
      ['-config', await file('bare', '{"cloud":{"id":"p","secret":"s","app_address":"127.0.0.1:8080"}}')],
      /bare: expected an address such as https:.* at "cloud.app_address", found "127\.0\.0\.1:8080"/,
    ],
    [
      [
        '-config',
        await file(
          'often',
          '{"cloud":{"id":"p","secret":"s","app_address":"http://127.0.0.1:1","refresh_interval":"0s"}}',
        ),
      ],
      /often: expected a duration such as 15s, at least 100ms, at "cloud.refresh_interval", found "0s"/,
    ],
    [['-config', await file('local', '["components"]')], /local: expected a JSON object, found \["components"\]$/m],
    [
      ['-config', await file('far', '{"cloud":{"id":"p","secret":"s","app_address":"http://192.0.2.1:1"}}')],
      /plaintext/,
    ],
  ];
  for (const [args, message] of cases) {
    const { code, error } = await run(home, ...args);
    expect(code).toBe(1);
    expect(error).toMatch(message);
    expect(error.trim().split('\n')).toHaveLength(1);
  }
  await rm(home, { recursive: true });
});

test('D8 an unreachable cloud without a cache, and an unwritable home, end the start with one sentence', async () => {
  const home = await mkdtemp(join(tmpdir(), 'machine-main-'));
  const config = join(home, 'credentials.json');
  // Nothing listens at port 1; a port that was free a moment ago may be in use by now.
  await writeFile(config, '{"cloud":{"id":"p","secret":"s","app_address":"http://127.0.0.1:1"}}');
  const alone = await run(home, '-config', config);
  expect(alone).toMatchObject({
    code: 1,
    error: expect.stringMatching(
      /no configuration: (?!.*ECONNREFUSED.*ECONNREFUSED).*ECONNREFUSED.*; there is no cached configuration in/,
    ),
  });
  const silent = createTlsLess();
  await once(silent, 'listening');
  const address = `https://127.0.0.1:${(silent.address() as { port: number }).port}`;
  await writeFile(config, JSON.stringify({ cloud: { id: 'p', secret: 's', app_address: address } }));
  const plain = await run(home, '-config', config);
  expect(plain.error).toMatch(/no configuration: https:\S+ answers without TLS: .*; there is no cached .*\.json\n$/);
  silent.close();
  const homeless = await run(config, '-config', config);
  expect(homeless).toMatchObject({
    code: 1,
    error: expect.stringMatching(/can write to at .*credentials.json.*set PLATFORM_HOME/),
  });
  for (const { error } of [alone, plain, homeless]) expect(error.trim().split('\n')).toHaveLength(1);
  await rm(home, { recursive: true });
});

test('D8 the configuration read timeout covers the sign-in', async () => {
  const home = await mkdtemp(join(tmpdir(), 'machine-main-'));
  await using silent = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = `http://127.0.0.1:${(silent.address() as { port: number }).port}`;
  const config = join(home, 'credentials.json');
  await writeFile(config, JSON.stringify({ cloud: { id: 'p', secret: 's', app_address: address } }));
  expect(await runWith({ PLATFORM_CONFIG_READ_TIMEOUT: '200ms' }, home, '-config', config)).toMatchObject({
    code: 1,
    error: expect.stringContaining(`no configuration: signing in to ${address} took longer than the call may: 200 ms;`),
  });
  await rm(home, { recursive: true });
});

test('a variable with an invalid limit ends the start with one sentence', async () => {
  expect(await runWith({ PLATFORM_RESOURCE_REQUESTS_LIMIT: 'many' }, '/nowhere')).toEqual({
    code: 1,
    out: '',
    error:
      'machine-server: PLATFORM_RESOURCE_REQUESTS_LIMIT: expected a whole number from 1 to 1000000, found "many"\n',
  });
});

test('a signal ends a start that is still waiting for its cloud', async () => {
  const home = await mkdtemp(join(tmpdir(), 'machine-main-'));
  const asked = Promise.withResolvers<void>();
  const silent = createServer(() => asked.resolve()).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as { port: number };
  const config = join(home, 'credentials.json');
  await writeFile(config, `{"cloud":{"id":"p","secret":"s","app_address":"http://127.0.0.1:${port}"}}`);
  const child = spawn(process.execPath, ['--conditions=@platform/source', main, '-config', config], {
    stdio: 'ignore',
    env: { ...process.env, PLATFORM_HOME: home, PLATFORM_CONFIG_READ_TIMEOUT: '10m' },
  });
  await asked.promise;
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
  silent.close();
  await rm(home, { recursive: true });
});

test('a server whose parent has ended seals what it captured and exits', async () => {
  const home = await mkdtemp(join(tmpdir(), 'machine-main-'));
  const config = join(home, 'local.json');
  await writeFile(config, JSON.stringify({ ...countingDocument(100), network: { bind_address: '127.0.0.1:0' } }));
  const child = spawn(process.execPath, ['--conditions=@platform/source', main, '-config', config], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, PLATFORM_HOME: home },
  });
  const ended = once(child, 'exit');
  const files = async (): Promise<string[]> =>
    (await readdir(home, { recursive: true })).filter((name) => /\.(prog|capture)$/.test(name));
  await until('a capture file', async () => (await files()).length > 0);
  // As if the parent were killed: nothing reads the log, and the channel closes.
  child.stdout?.destroy();
  child.stderr?.destroy();
  child.disconnect();
  expect(await ended).toEqual([0, null]);
  expect((await files()).every((name) => name.endsWith('.capture'))).toBe(true);
  await rm(home, { recursive: true });
});
