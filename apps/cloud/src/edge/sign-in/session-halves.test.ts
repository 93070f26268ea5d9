/** D49: the session of a browser is a cookie and a secret. Cookies know no ports, so whoever has one of them must get nowhere. */
import { expect, test } from 'vitest';
import type { Browser } from '../../identity/testing/browser.ts';
import { type People, startPeople } from '../../identity/testing/start-people.ts';

/** Answers 400 to a person, because the body names no session. Calls are in conformance/src/doors. */
const end = '/api/sessions/end';

async function signedIn(people: People): Promise<Browser> {
  const browser = people.browser();
  await browser.open(await people.ownerLink());
  await browser.submit('/sign-in');
  return browser;
}

/** Asks with these headers; for POST with an empty JSON object. */
async function ask(people: People, path: string, headers: Record<string, string>, method = 'GET'): Promise<Response> {
  return fetch(people.url + path, {
    ...{ method, redirect: 'manual' as const },
    headers: { accept: 'text/html', ...(method === 'POST' && { 'content-type': 'application/json' }), ...headers },
    ...(method === 'POST' && { body: '{}' }),
  });
}

test('D49 a program that received the cookie, as on another port of this host, gets nowhere with it', async () => {
  const people = await startPeople();
  const browser = await signedIn(people);
  const [cookie, half] = [browser.jar, browser.cookie ?? ''];
  const own = { cookie, origin: people.url };
  for (const value of [half, `pt1.${half}.`, `pt1.${half}.${half}`])
    expect((await ask(people, '/api/whoami', { authorization: `Bearer ${value}` })).status).toBe(401);
  for (const secret of [{}, { 'platform-session': 'none' }, { 'platform-session': half }]) {
    expect((await ask(people, '/api/whoami', { ...own, ...secret })).status).toBe(401);
    expect((await ask(people, '/api/sessions', { ...own, ...secret })).status).toBe(401);
    expect((await ask(people, '/api/status', { ...own, ...secret })).status).toBe(401);
    expect((await ask(people, end, { ...own, ...secret }, 'POST')).status).toBe(401);
    const page = await ask(people, '/account', { cookie, ...secret });
    expect(await page.text()).not.toMatch(/Sessions|name="current"|127\.0\.0\.1/);
  }
  // No page that the cookie opens contains the other half.
  for (const path of ['/', '/status', '/account', '/sign-in', '/sign-in/done'])
    expect(await (await ask(people, path, { cookie })).text()).not.toContain(browser.secret);
  for (const path of [
    '/account/email',
    '/account/time-zone',
    '/account/sessions/end',
    '/account/sign-out-everywhere',
    '/sign-out',
  ])
    for (const session of ['', half, 'x'])
      await fetch(people.url + path, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ session, email: 'eve@example.com' }),
        headers: own,
      });
  expect(await people.json('/api/whoami', browser.token)).toMatchObject({ status: 200, body: { email: '' } });
});

test('D49 both halves count only for pages of this cloud; a GET may name none', async () => {
  const people = await startPeople();
  const browser = await signedIn(people);
  const both = { cookie: browser.jar, 'platform-session': browser.secret };
  const statusOf = async (headers: Record<string, string>, method = 'GET', path = '/api/whoami'): Promise<number> =>
    (await ask(people, path, { ...both, ...headers }, method)).status;
  const own = { origin: people.url };
  const neighbour = { origin: `http://127.0.0.1:${Number(new URL(people.url).port) + 1}` };
  expect([await statusOf({}), await statusOf(own), await statusOf({ 'sec-fetch-site': 'same-origin' })]).toEqual([
    200, 200, 200,
  ]);
  expect([await statusOf(own, 'POST', end), await statusOf({}, 'POST', end)]).toEqual([400, 401]);
  expect(await statusOf({ ...own, 'sec-fetch-site': 'same-origin' }, 'POST', end)).toBe(400);
  for (const foreign of [
    neighbour,
    { origin: 'null' },
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site' },
    { ...own, 'sec-fetch-site': 'same-site' },
  ]) {
    expect([foreign, await statusOf(foreign)]).toEqual([foreign, 401]);
    expect([foreign, await statusOf(foreign, 'POST', end)]).toEqual([foreign, 401]);
  }
  // A bearer token says enough: SDKs in browsers call from pages of any origin.
  const bearer = { authorization: `Bearer ${browser.token}`, ...neighbour };
  expect((await ask(people, '/api/whoami', bearer)).status).toBe(200);
});

test('D49 the secret is handed over once, to the browser in which the sign-in began; another link or port cannot plant it', async () => {
  const people = await startPeople();
  const eve = people.browser();
  eve.stopAt = (url) => url.pathname === '/sign-in/done';
  await eve.open(await people.ownerLink());
  await eve.submit('/sign-in', { begun: 'the browser of Eve' });
  const planted = eve.page.url;
  expect(planted.hash).toMatch(/session=[\w-]{43}&begun=the\+browser\+of\+Eve$/);
  const ada = people.browser();
  await ada.open(planted.pathname + planted.search + planted.hash);
  expect([ada.secret, ada.page.body]).toEqual(['', expect.stringContaining('You are not signed in')]);
});

test('D49 whoever lost the secret signs in again, and ends nothing by that', async () => {
  const people = await startPeople();
  const browser = await signedIn(people);
  browser.forgetSecret();
  expect((await browser.open('/account')).url.pathname).toBe('/sign-in');
  await browser.open('/sign-in');
  expect(browser.page.body).toContain('name="password"');
});

test('D49 signing out everywhere ends all sessions of the person; the answer clears the cache, and never cookies', async () => {
  const people = await startPeople();
  const password = 'correct horse battery';
  await people.personWith('ada@example.com', password);
  const [here, there] = [people.browser(), people.browser()];
  for (const browser of [here, there]) {
    await browser.open('/sign-in?next=/account');
    await browser.submit('/sign-in', { email: 'ada@example.com', password });
  }
  await here.open('/account');
  const tokens = [here.token, there.token];
  here.stopAt = () => true;
  await here.submit('/account/sign-out-everywhere');
  expect(here.page.headers.get('clear-site-data')).toBe('"cache"');
  expect(here.cookie).toBeUndefined();
  for (const token of tokens) expect((await people.json('/api/whoami', token)).status).toBe(401);
  const actions = await people.db.selectFrom('audit_entries').select('action').orderBy('id').execute();
  expect(actions.at(-1)?.action).toBe('EndAllSessions');
});

test('D49 signing out clears the cache, and never cookies: by the form, and by a page with scripts', async () => {
  const people = await startPeople();
  const [form, script] = [await signedIn(people), await signedIn(people)];
  await form.open('/account');
  form.stopAt = () => true;
  await form.submit('/sign-out');
  expect(form.page.headers.get('clear-site-data')).toBe('"cache"');
  const both = { cookie: script.jar, 'platform-session': script.secret, origin: people.url };
  const answer = await ask(people, '/sign-out', both, 'POST');
  expect([answer.status, answer.headers.get('clear-site-data')]).toEqual([200, '"cache"']);
  for (const { token } of [form, script]) expect((await people.json('/api/whoami', token)).status).toBe(401);
});

test.each([{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }, { origin: 'null' }])(
  'D49 guesses that pages of other origins make are counted apart, and make nobody else wait: %o',
  async (foreign) => {
    const people = await startPeople();
    const guess = (headers: Record<string, string>): Promise<Response> =>
      ask(people, '/sign-in/reset?token=wrong', headers);
    for (let at = 0; at < 60; at++) await guess(foreign);
    expect((await guess(foreign)).status).toBe(429);
    for (const own of [{}, { origin: people.url }]) expect((await guess(own)).status).toBe(401);
  },
);
