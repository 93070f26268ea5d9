/**
 * The programs that `platform machines part snippet` prints, saved in an empty folder and run as their first lines say: in Node, a browser
 * and with curl, against a cloud in plaintext on loopback and one with its own authority. Instead of `npm install`, which needs the
 * internet, `node_modules` of the folder is a link to that of the checkout.
 */
import { spawn } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@platform/base';
import { temporaryDirectory } from '@platform/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CommandLine, openCommandLine } from '../cli/command-line.ts';
import { type OpenBrowser, openBrowser } from '../open-browser.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { startMachine } from './start-machine.ts';

const packages = fileURLToPath(new URL('../../../node_modules', import.meta.url));

const components = [
  { name: 'left', api: 'core:component:motor', model: 'core:builtin:fake' },
  {
    ...{ name: 'temp', api: 'core:component:sensor', model: 'core:builtin:fake' },
    attributes: { readings: { celsius: 21.5 } },
  },
];

let browser: OpenBrowser;
beforeAll(async () => {
  // It has no authorities to which that of a cloud could be added.
  browser = await openBrowser([...['--ignore-certificate-errors', '--host-resolver-rules=MAP cloud.test 127.0.0.1']]);
});
afterAll(() => browser?.[Symbol.asyncDispose]());

interface Snippet {
  readonly language: string;
  readonly file: string;
  readonly code: string;
}

/** Logs in, and starts the machine of the cloud. @param ca file of the cloud's own authority */
async function startMachineOf(cloud: CloudProcess, cli: CommandLine, ca?: string) {
  const fingerprint = ca === undefined ? [] : ['--fingerprint', cloud.caFingerprint];
  const signIn = ['login', 'api-key', '--key-id', cloud.keyId, '--key-file', '-', '--url', cloud.url];
  await cli.ok([...signIn, ...fingerprint], { input: cloud.key });
  await cli.ok(['config', 'set', cloud.partId, '-', '--yes'], { input: JSON.stringify({ components }) });
  if (ca !== undefined)
    await cli.ok(['machines', 'part', 'config-file', cloud.partId, '--ca-file', ca], { reveals: true });
  const machine = await startMachine(cloud, cloud.url, ca && readFileSync(ca, 'utf8'));
  const isReady = async (): Promise<boolean> =>
    (await cli.run(['machines', 'part', 'run', cloud.partId, 'sensor.GetReadings'])).code === 0;
  while (!(await isReady())) await systemClock.sleep(100);
  return machine;
}

/** Creates a key and saves the programs with it as the files that they name. */
async function saveSnippets(cli: CommandLine, partId: string, into: string, more: readonly string[]) {
  const args = ['machines', 'part', 'snippet', partId, '--create-key', '--json', ...more];
  const snippets = (await cli.ok(args, { reveals: true, asProcess: true })).json<readonly Snippet[]>();
  for (const { file, code } of snippets) writeFileSync(join(into, file), code);
  symlinkSync(packages, join(into, 'node_modules'));
  return new Map(snippets.map(({ language, code }) => [language, code.split('\n')]));
}

/** Runs a line as a person does, in the folder. @returns what it printed */
function runLine(line: string, cwd: string): Promise<string> {
  const child = spawn('sh', ['-c', line], {
    cwd,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  return new Promise((resolve) => child.once('close', () => resolve(said)));
}

/** Serves a folder, as the page's first lines say, and opens the page. @returns what it shows once it has ended */
async function openPage({ page }: OpenBrowser, folder: string, file: string): Promise<string> {
  const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' };
  const server = createServer(({ url = '' }, response) => {
    const path = new URL(url, 'http://localhost').pathname;
    const type = types[extname(path)];
    if (type === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': type }).end(readFileSync(join(folder, path)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/${file}`);
    const out = page.locator('#out', { hasNotText: 'Connecting' });
    await out.waitFor();
    return (await out.textContent()) ?? '';
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Runs the programs. */
async function expectReadings(cloud: CloudProcess, cli: CommandLine, more: readonly string[] = []): Promise<void> {
  await using folder = await temporaryDirectory('snippets-');
  const lines = await saveSnippets(cli, cloud.partId, folder.path, more);
  const [, node = ''] = lines.get('typescript-node') ?? [];
  const said = {
    node: await runLine(node.replace('// ', ''), folder.path),
    curl: await runLine('sh machine.sh', folder.path),
    browser: await openPage(browser, folder.path, 'machine.html'),
  };
  for (const text of Object.values(said)) {
    expect(text).toContain('left');
    expect(text).toMatch(/"?celsius"?: ?21\.5/);
  }
}

test('on a cloud in plaintext on loopback, the printed programs read the sensor', async () => {
  await using cloud = await startCloud();
  await using cli = await openCommandLine();
  await using _machine = await startMachineOf(cloud, cli);
  await expectReadings(cloud, cli);
});

test('on a cloud with its own authority, the printed programs trust only its file; under its name, the page reaches the machine over WebRTC', async () => {
  await using cloud = await startCloud({}, ['--tls-name', 'localhost', '--tls-name', 'cloud.test']);
  await using cli = await openCommandLine();
  await using folder = await temporaryDirectory('authority-');
  const ca = join(folder.path, 'ca.pem');
  await using machine = await startMachineOf(cloud, cli, ca);
  await expectReadings(cloud, cli, ['--ca-file', ca]);
  expect(machine.logged()).not.toContain('over WebRTC');
  await using named = await temporaryDirectory('named-');
  const address = cloud.url.replace('localhost', 'cloud.test');
  await saveSnippets(cli, cloud.partId, named.path, ['--address', address]);
  expect(await openPage(browser, named.path, 'machine.html')).toContain('"celsius": 21.5');
  expect(machine.logged()).toContain('a caller is connected over WebRTC');
});
