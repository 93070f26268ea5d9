/** Every door of a cloud, for everybody who may ask: docs/specs/doors.md. */
import { mkdir, writeFile } from 'node:fs/promises';
import type { OutgoingHttpHeaders } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { isServed, servedPaths } from '../../../apps/cloud/src/edge/served-paths.ts';
import { accountRoutes } from '../../../apps/cloud/src/edge/sign-in/account-routes.ts';
import { apiRoutes } from '../../../apps/cloud/src/edge/sign-in/api-routes.ts';
import { cliRoutes } from '../../../apps/cloud/src/edge/sign-in/cli-routes.ts';
import { invitationRoutes } from '../../../apps/cloud/src/edge/sign-in/invitation-routes.ts';
import { openIdRoutes } from '../../../apps/cloud/src/edge/sign-in/open-id-routes.ts';
import { signInRoutes } from '../../../apps/cloud/src/edge/sign-in/sign-in-routes.ts';
import { restRoutes } from '../../../packages/rpc/src/codecs/rest-routes.ts';
import { WebSession } from '../app-api/web-session.ts';
import { startCloud } from '../start-cloud.ts';
import { ask, isPathOf, pathsIn, type Question, rowsOf } from './read-doors.ts';

const publicHost = 'cloud.example';

function headersOf(asker: string, port: number): OutgoingHttpHeaders {
  const host = `127.0.0.1:${port}`;
  const page = (origin: string, site: string, at = host) => ({ host: at, origin, 'sec-fetch-site': site });
  const all: Readonly<Record<string, OutgoingHttpHeaders>> = {
    program: { host },
    'own page': page(`http://${host}`, 'same-origin'),
    'page on this computer': page('http://localhost:5173', 'cross-site'),
    neighbour: page(`http://127.0.0.1:${port === 65_535 ? port - 1 : port + 1}`, 'same-site'),
    'foreign page': page('https://evil.example', 'cross-site'),
    embedded: { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    '`null`': page('null', 'cross-site'),
    'rebound name': page(`http://evil.example:${port}`, 'same-origin', `evil.example:${port}`),
    'mDNS name': { host: `${hostname().split('.', 1)[0]}.local:${port}` },
    'Compose name': { host: `cloud:${port}` },
    proxy: page(`https://${publicHost}`, 'same-origin', publicHost),
  };
  const headers = all[asker];
  if (headers === undefined) throw new Error(`no one is called ${asker}`);
  return headers;
}

const called = '/platform.app.v1.AppService/ListOrganizations';
const json = 'application/json';
const form = 'application/x-www-form-urlencoded';

/** What is posted; other forms are empty. */
const bodies: Readonly<Record<string, readonly [type: string, body: string]>> = {
  'POST /account/email': [form, 'email=x'],
  'POST /api/invitations/link': [json, '{"organizationId":"none","email":"nobody@example.com"}'],
  'POST /api/query': [json, '{"sql":"SELECT 1"}'],
  'POST /api/sessions/end': [json, '{"id":"none"}'],
  'POST /sign-in': [form, 'email=nobody@example.com&password=wrong+password'],
  'POST /sign-in/cli': [form, `answer=refuse&challenge=${'A'.repeat(43)}`],
  // Not even a guess: too many of those would be answered with 429.
  'POST /sign-in/cli/token': [json, '{}'],
  'POST /test-inbox/webhooks/{name}': [json, '{}'],
  'POST /webhooks/stripe': [json, '{}'],
};
const queries: Readonly<Record<string, string>> = {
  '/sign-in/cli': `?challenge=${'A'.repeat(43)}`,
  '/uploads/{part}/{key}': '?offset=0',
};
const segments: Readonly<Record<string, string>> = { file: 'state', key: '0'.repeat(64), id: `msg_${'0'.repeat(40)}` };

/** @param invitation the query of the link of one: wrong ones would count as guesses */
function questionOf(door: string, at: number, secret: string, invitation: string): Question {
  if (door === 'call') return questionOf(`POST ${called}`, at, '', '');
  if (door === 'preflight') return questionOf(`OPTIONS ${called}`, at, '', '');
  const [method = '', path = ''] = door.split(' ');
  const asked = path
    .replace(/\{(\w+)\}/g, (_, name: string) => segments[name] ?? 'none')
    .replace('…', path.startsWith('/_app/') ? 'none.js' : 'none');
  const query = door === 'GET /invitations/accept' ? invitation : (queries[path] ?? '');
  const question = { at, method, path: asked + query };
  if (method === 'OPTIONS') return { ...question, headers: { 'access-control-request-method': 'POST' } };
  if (method === 'PUT') return { ...question, headers: { 'content-length': 1 }, body: 'x' };
  if (method !== 'POST') return { ...question, headers: {} };
  const [type, body] = bodies[door] ?? (path.includes('v1') ? [json, '{}'] : [form, '']);
  const sent = type === form ? `${body}&session=${secret}` : body;
  return { ...question, headers: { 'content-type': type, 'content-length': sent.length }, body: sent };
}

/** A signed-in person, whose session and token an answer may end. */
class Person {
  readonly #url: string;
  #session: WebSession;
  #token = '';

  constructor(url: string) {
    this.#url = url;
    this.#session = new WebSession(url);
  }

  static async signInFirst(url: string, link: string): Promise<Person> {
    const person = new Person(url);
    await person.#session.signIn(link);
    await person.#session.open('/account');
    await person.#session.submit('/account/email', { email: 'ada@example.com' });
    await person.#session.open('/account');
    await person.#session.submit('/account/password', { password: 'correct horse battery' });
    person.#token = await person.#session.commandLineToken();
    return person;
  }

  /** The query of the link of an invitation. */
  async invite(organizationId: string): Promise<string> {
    const post = async (path: string): Promise<unknown> => {
      const headers = { 'content-type': json, authorization: `Bearer ${this.#token}` };
      const body = JSON.stringify({ organizationId, email: 'grace@example.com' });
      return (await fetch(this.#url + path, { method: 'POST', headers, body })).json();
    };
    await post('/platform.app.v1.AppService/CreateOrganizationInvite');
    const { link } = (await post('/api/invitations/link')) as { link: string };
    return new URL(link).search;
  }

  /** Signs in again if the session or the token has ended. */
  async stand(): Promise<void> {
    const asked = [this.#session.headers, this.of('token')].map((headers) =>
      fetch(`${this.#url}/api/whoami`, { headers: headers as Record<string, string> }),
    );
    if ((await Promise.all(asked)).every(({ ok }) => ok)) return;
    this.#session = new WebSession(this.#url);
    await this.#session.open('/sign-in');
    await this.#session.submit('/sign-in', { email: 'ada@example.com', password: 'correct horse battery' });
    this.#token = await this.#session.commandLineToken();
  }

  get secret(): string {
    return this.#session.headers['platform-session'] ?? '';
  }

  of(credentials: string): OutgoingHttpHeaders {
    const { cookie = '' } = this.#session.headers;
    const all: Readonly<Record<string, OutgoingHttpHeaders>> = {
      none: {},
      'cookie alone': { cookie },
      session: { cookie, 'platform-session': this.secret },
      token: { authorization: `Bearer ${this.#token}` },
    };
    const headers = all[credentials];
    if (headers === undefined) throw new Error(`no credentials are called ${credentials}`);
    return headers;
  }
}

async function webUi(directory: string): Promise<string> {
  await mkdir(join(directory, '_app'), { recursive: true });
  await writeFile(join(directory, 'index.html'), '<!doctype html><p>the web UI</p>');
  await writeFile(join(directory, '_app', 'none.js'), '');
  return directory;
}

test('D49 every door of a cloud answers everybody, with each kind of credentials, as the table says', async () => {
  await using directory = await temporaryDirectory();
  const ui = await webUi(directory.path);
  await using cloud = await startCloud({ PLATFORM_PUBLIC_URL: `https://${publicHost}`, PLATFORM_WEB_UI: ui });
  const port = Number(new URL(cloud.url).port);
  const person = await Person.signInFirst(`http://127.0.0.1:${port}`, cloud.signInLink);
  const invitation = await person.invite(cloud.organizationId);
  const rows = rowsOf('Cloud');
  for (const { door, credentials, cells } of rows) {
    const found = new Map<string, string>();
    for (const [asker, cell] of cells) {
      const question = questionOf(door, port, credentials === 'session' ? person.secret : '', invitation);
      const given = person.of(credentials);
      const headers = { accept: 'text/html', ...question.headers, ...headersOf(asker, port), ...given };
      found.set(asker, cell === '–' ? cell : await ask({ ...question, headers }));
      if (door.includes('sign-out')) await person.stand();
    }
    expect([door, credentials, ...found]).toEqual([door, credentials, ...cells]);
  }
  expect(rows.length).toBeGreaterThan(100);
});

test('D49 every path that the cloud serves, every route of signing in and every REST route is a door of the table', () => {
  const doors = rowsOf('Cloud').map(({ door }) => door);
  const paths = pathsIn(rowsOf('Cloud'));
  const ofCalls = restRoutes.filter(({ method }) => !method.includes('.robot.') && !method.includes('.component.'));
  expect(servedPaths.filter((served) => !paths.some((path) => isPathOf(served, path)))).toEqual([]);
  expect(paths.filter((path) => !isServed(path) && !ofCalls.some((route) => route.path === path))).toEqual([]);
  expect(ofCalls.map(({ verb, path }) => `${verb} ${path}`).filter((route) => !doors.includes(route))).toEqual([]);
  const given = { identity: { deps: {} } } as never;
  const parts = [signInRoutes, openIdRoutes, cliRoutes, invitationRoutes, accountRoutes, apiRoutes];
  const routes = parts.flatMap((routesOf) => Object.keys(routesOf(given)));
  expect(routes.length).toBeGreaterThan(20);
  expect(routes.filter((route) => !doors.includes(route))).toEqual([]);
});
