/** Every door of a machine-server, for everybody who may ask: docs/specs/doors.md. */
import { mkdir, writeFile } from 'node:fs/promises';
import type { OutgoingHttpHeaders } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readProcess } from '../../../apps/machine-server/src/modules/process/read-process.ts';
import { pagePaths } from '../../../apps/machine-server/src/serve/pages/http-pages.ts';
import { createLocalHome, startLocalServer } from '../../../apps/machine-server/src/testing/local-machine.ts';
import { ask, isPathOf, pathsIn, type Question, type Row, rowsOf } from './read-doors.ts';

const version = '/platform.robot.v1.RobotService/GetVersion';
const auth = { handlers: [{ type: 'api-key', config: { id: 'the key' } }] };
const network = { allowed_hosts: ['robot.lan'], allowed_origins: ['https://panel.example'] };

interface Doors {
  readonly port: number;
  /** The TCP port and the socket for a module. */
  readonly parent: number;
  readonly socket: string;
}

async function open(document: object): Promise<Doors> {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const home = stack.use(await createLocalHome({ ...document, network }));
  const shared = join(home.path, 'shared');
  await mkdir(shared);
  await writeFile(join(shared, 'index.html'), 'shared');
  const server = stack.use(await startLocalServer(home, { args: ['-webprofile', '-shareddir', shared] }));
  const socket = join(home.path, 'parent.sock');
  const parent = stack.use(await server.serving.openParent('acme', socket));
  // The test plays the module, too (D52).
  const self = (await readProcess(process.pid)) ?? { pid: process.pid, started: '' };
  return { port: server.serving.port, parent: Number((await parent.tcpAddress(self)).split(':')[1]), socket };
}

function headersOf(asker: string, port: number): OutgoingHttpHeaders {
  const host = `127.0.0.1:${port}`;
  const page = (origin: string, site: string, at = host) => ({ host: at, origin, 'sec-fetch-site': site });
  const all: Readonly<Record<string, OutgoingHttpHeaders>> = {
    program: { host },
    'own page': page(`http://${host}`, 'same-origin'),
    'page on this computer': page('http://localhost:5173', 'cross-site'),
    'permitted page': page('https://panel.example', 'cross-site'),
    'foreign page': page('https://evil.example', 'cross-site'),
    embedded: { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    '`null`': page('null', 'cross-site'),
    'rebound name': page(`http://evil.example:${port}`, 'same-origin', `evil.example:${port}`),
    'mDNS name': { host: `${hostname().split('.', 1)[0]}.local:${port}` },
    'Compose name': { host: `machine:${port}` },
    proxy: { host: 'robot.lan' },
  };
  const headers = all[asker];
  if (headers === undefined) throw new Error(`no one is called ${asker}`);
  return headers;
}

const segments: Readonly<Record<string, string>> = { file: 'index.html', page: 'vars' };

function questionOf({ door }: Row, { port, parent, socket }: Doors, headers: OutgoingHttpHeaders): Question {
  const [what = '', where = ''] = door.split(', ');
  const at = where.includes('TCP') ? parent : where.includes('socket') ? socket : port;
  const json = { 'content-type': 'application/json' };
  if (what === 'call') return { at, method: 'POST', path: version, headers: { ...json, ...headers }, body: '{}' };
  if (what === 'REST') return { at, method: 'GET', path: '/platform/api/v1/version', headers };
  if (what === 'preflight')
    return { at, method: 'OPTIONS', path: version, headers: { 'access-control-request-method': 'POST', ...headers } };
  const [method = '', path = ''] = what.split(' ');
  return { at, method, path: path.replace(/\{(\w+)\}/, (_, name: string) => segments[name] ?? ''), headers };
}

test('D50 every door of a machine-server, open and keyed, answers everybody as the table says', async () => {
  const [opened, keyed] = [await open({}), await open({ auth })];
  const signedIn = await fetch(`http://127.0.0.1:${keyed.port}/proto.rpc.v1.AuthService/Authenticate`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ entity: 'id', credentials: { type: 'api-key', payload: 'the key' } }),
  });
  const { accessToken } = (await signedIn.json()) as { accessToken: string };
  const basic = `Basic ${Buffer.from('id:the key').toString('base64')}`;
  const rows = rowsOf('Machine-server');
  for (const row of rows) {
    const doors = row.credentials === 'open' ? opened : keyed;
    const authorization = row.door.includes(' /') ? basic : `Bearer ${accessToken}`;
    const credentials = row.credentials === 'keyed: key' ? { authorization } : {};
    const found = new Map<string, string>();
    for (const [asker, cell] of row.cells) {
      const { at } = questionOf(row, doors, {});
      const headers = headersOf(asker, typeof at === 'number' ? at : doors.port);
      found.set(asker, cell === '–' ? cell : await ask(questionOf(row, doors, { ...headers, ...credentials })));
    }
    expect([row.door, row.credentials, ...found]).toEqual([row.door, row.credentials, ...row.cells]);
  }
  expect(rows.length).toBeGreaterThan(40);
  const paths = pathsIn(rows);
  expect(pagePaths.filter((page) => !paths.some((path) => isPathOf(page, path)))).toEqual([]);
});
