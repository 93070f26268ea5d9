/** Every door of a cloud, for everybody who may ask: docs/specs/doors.md. */
import type { OutgoingHttpHeaders } from 'node:http';
import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { WebSession } from '../app-api/web-session.ts';
import { startCloud } from '../start-cloud.ts';
import { ask, type Question, rowsOf } from './read-doors.ts';

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

const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

function questionOf(door: string, at: number, secret: string): Question {
  const plain = (method: string, path: string): Question => ({ at, method, path, headers: {} });
  const post = (path: string, headers: OutgoingHttpHeaders, body: string): Question => ({
    ...{ at, method: 'POST', path, headers, body },
  });
  const all: Readonly<Record<string, Question>> = {
    call: post('/platform.app.v1.AppService/ListOrganizations', json, '{}'),
    '`/api/whoami`': plain('GET', '/api/whoami'),
    'page `/account`': plain('GET', '/account'),
    'form of a sign-in': post('/sign-in', form, 'email=nobody@example.com&password=wrong+password'),
    'form of `/account`': post('/account/email', form, `email=x&session=${secret}`),
    download: plain('GET', '/binary-data/none'),
    'test inbox: post': post('/test-inbox/webhooks/hook', json, '{}'),
    'test inbox: read': plain('GET', '/test-inbox/requests'),
    '`/metrics`': plain('GET', '/metrics'),
  };
  const question = all[door];
  if (question === undefined) throw new Error(`no door is called ${door}`);
  return question;
}

test('D49 every door of a cloud answers everybody, with each kind of credentials, as the table says', async () => {
  await using cloud = await startCloud({ PLATFORM_PUBLIC_URL: `https://${publicHost}` });
  const port = Number(new URL(cloud.url).port);
  const person = new WebSession(`http://127.0.0.1:${port}`);
  await person.signIn(cloud.signInLink);
  const token = await person.commandLineToken();
  const { cookie = '', 'platform-session': secret = '' } = person.headers;
  const given: Readonly<Record<string, OutgoingHttpHeaders>> = {
    none: {},
    'cookie alone': { cookie },
    session: { cookie, 'platform-session': secret },
    token: { authorization: `Bearer ${token}` },
  };
  const rows = rowsOf('Cloud');
  for (const { door, credentials, cells } of rows) {
    const question = questionOf(door, port, credentials === 'session' ? secret : '');
    const found = new Map<string, string>();
    for (const [asker, cell] of cells) {
      const headers = { accept: 'text/html', ...question.headers, ...headersOf(asker, port), ...given[credentials] };
      found.set(asker, cell === '–' ? cell : await ask({ ...question, headers }));
    }
    expect([door, credentials, ...found]).toEqual([door, credentials, ...cells]);
  }
  expect(rows.length).toBeGreaterThan(20);
});
