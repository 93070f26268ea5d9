/** People in the browser: link, password, sessions, forms. Uses a real port and database. */
import { expect, test } from 'vitest';
import { findPerson } from '../../identity/people.ts';
import { startPeople } from '../../identity/testing/start-people.ts';

const password = 'correct horse battery';

test('D30 the link of the first start signs in the owner once; they set e-mail and password, and sign in with them', async () => {
  const people = await startPeople();
  const browser = people.browser();
  const link = await people.ownerLink();
  await browser.open(link);
  await browser.submit('/sign-in');
  expect(browser.page).toMatchObject({ status: 200, url: { pathname: '/' } });
  const late = people.browser();
  await late.open(link);
  expect((await late.submit('/sign-in')).status).toBe(401);
  expect(late.page.body).toContain('until the first owner has a password, it prints one at each start');
  expect(late.page.body).toContain('node tools/run.js admin organizations create-owner-link');
  expect(late.page.body).toContain('<a href="/sign-in">Sign in with e-mail and password</a>');

  await browser.open('/account');
  await browser.submit('/account/email', { email: ' Ada@Example.com ' });
  expect(browser.page.body).toContain('ada@example.com');
  expect(browser.page.body).toContain('Set a password, so that you can sign in without the link');
  await browser.submit('/account/password', { password });
  expect(browser.page.body).toContain('Done.');
  expect(browser.page.body).not.toContain('without the link');
  expect(await people.identity.deps.db.selectFrom('passwords').select('hash').execute()).toHaveLength(1);

  const other = people.browser();
  await other.open('/sign-in?next=/account');
  await other.submit('/sign-in', { email: 'ADA@example.com', password });
  expect(other.page.url.pathname).toBe('/account');
  // The owner can sign in with a password now: later starts print no link.
  expect(await people.ownerLink()).toContain('token=undefined');
});

test('a person chooses the time zone of mails on the account page; a name that is none is refused and changes nothing', async () => {
  const people = await startPeople();
  const personId = await people.personWith('ada@example.com', password);
  const browser = people.browser();
  await browser.open('/sign-in?next=/account');
  await browser.submit('/sign-in', { email: 'ada@example.com', password });
  const stored = async (): Promise<string | undefined> => (await findPerson(people.db, { id: personId }))?.timeZone;
  await browser.submit('/account/time-zone', { zone: 'europe/berlin' });
  expect(browser.page.body).toContain('value="Europe/Berlin"');
  await browser.submit('/account/time-zone', { zone: 'Mars/Olympus' });
  expect(browser.page.body).toContain('expected a name of the IANA time zone database');
  expect(await stored()).toBe('Europe/Berlin');
  await browser.open('/account');
  await browser.submit('/account/time-zone', { zone: '' });
  expect(await stored()).toBe('');
});

test('D30 D49 opening a link, as previews and other pages do, does not use it up', async () => {
  const people = await startPeople();
  const link = await people.ownerLink();
  for (const method of ['HEAD', 'GET']) await fetch(people.url + link, { method });
  const browser = people.browser();
  await browser.open(link);
  expect((await browser.submit('/sign-in')).url.pathname).toBe('/');
});

test('a wrong password and an unknown address get the same answer, and the password is not logged', async () => {
  const people = await startPeople();
  await people.personWith('ada@example.com', password);
  const shown: string[] = [];
  for (const email of ['ada@example.com', 'nobody@example.com']) {
    const browser = people.browser();
    await browser.open('/sign-in');
    await browser.submit('/sign-in', { email, password: 'wrong password' });
    expect(browser.page.status).toBe(401);
    expect(browser.cookie).toBeUndefined();
    shown.push(browser.page.body.replaceAll(email, ''));
  }
  expect(shown[0]).toBe(shown[1]);
  expect(people.logged.join()).not.toContain('wrong password');
});

test('from the sixth password guess there is a wait, even for the right password; the answer states how long', async () => {
  const people = await startPeople();
  await people.personWith('ada@example.com', password);
  const browser = people.browser();
  await browser.open('/sign-in');
  for (let at = 0; at < 5; at++) {
    await browser.submit('/sign-in', { email: 'ada@example.com', password: `wrong password ${at}` });
    expect(browser.page.status).toBe(401);
  }
  await browser.submit('/sign-in', { email: 'ada@example.com', password });
  expect(browser.page.status).toBe(429);
  expect(browser.page.headers.get('retry-after')).toBe('1');
  await people.clock.advance(1_000);
  await browser.submit('/sign-in', { email: 'ada@example.com', password });
  expect(browser.page.status).toBe(200);
});

test('a session works as bearer token of RPCs, survives a restart, and ends 12 h after its last use', async () => {
  const people = await startPeople();
  const browser = people.browser();
  await browser.open(await people.ownerLink());
  await browser.submit('/sign-in');
  const token = browser.token ?? '';
  const { organizationId } = people;
  const { members } = await people.app(token).listOrganizationMembers({ organizationId });
  expect(members).toHaveLength(1);
  const stored = JSON.stringify(await people.db.selectFrom('sessions').selectAll().execute());
  const [, claims = ''] = token.split('.');
  const [, secret] = JSON.parse(Buffer.from(claims, 'base64url').toString());
  expect(stored).not.toContain(secret);

  const restarted = await startPeople({ first: people });
  expect((await restarted.json('/api/whoami', token)).status).toBe(200);

  await people.clock.leap(11 * 3_600_000);
  expect((await people.json('/api/whoami', token)).status).toBe(200);
  await people.clock.leap(11 * 3_600_000);
  expect((await people.json('/api/whoami', token)).status).toBe(200);
  await people.clock.leap(12 * 3_600_000 + 60_000);
  expect(await people.json('/api/whoami', token)).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
});

test('R16 a person lists their sessions and ends one, which stops at once; no one else can end it', async () => {
  const people = await startPeople();
  const { organizationId } = people;
  const owner = { role: 'owner', organizationId, locationId: null, robotId: null } as const;
  await people.personWith('ada@example.com', password, owner);
  await people.personWith('eve@example.com', password, owner);
  const tokenOf = async (email: string): Promise<string> => {
    const browser = people.browser();
    await browser.open('/sign-in');
    await browser.submit('/sign-in', { email, password });
    return browser.token ?? '';
  };
  const [here, there, eve] = [
    await tokenOf('ada@example.com'),
    await tokenOf('ada@example.com'),
    await tokenOf('eve@example.com'),
  ];
  const listed = await people.json('/api/sessions', here);
  const { sessions } = listed.body as { sessions: { id: string; current: boolean; kind: string }[] };
  expect(sessions).toHaveLength(2);
  const other = sessions.find((one) => !one.current)?.id;
  expect((await people.json('/api/sessions/end', eve, { id: other })).status).toBe(404);
  expect((await people.json('/api/whoami', there)).status).toBe(200);
  expect((await people.json('/api/sessions/end', here, { id: other })).status).toBe(200);
  expect((await people.json('/api/whoami', there)).status).toBe(401);
  expect((await people.json('/sign-out', here, {})).status).toBe(200);
  expect((await people.json('/api/whoami', here)).status).toBe(401);
  const actions = await people.db.selectFrom('audit_entries').select('action').orderBy('id').execute();
  expect(actions.map(({ action }) => action)).toEqual(['SignIn', 'SignIn', 'SignIn', 'EndSession', 'EndSession']);
});

test('a new password ends all other sessions', async () => {
  const people = await startPeople();
  await people.personWith('ada@example.com', password);
  const [here, there] = [people.browser(), people.browser()];
  for (const browser of [here, there]) {
    await browser.open('/sign-in');
    await browser.submit('/sign-in', { email: 'ada@example.com', password });
  }
  await here.open('/account');
  await here.submit('/account/password', { current: 'not this one', password: 'another horse battery' });
  expect(here.page.status).toBe(401);
  await here.submit('/account/password', { current: password, password: 'another horse battery' });
  expect(here.page.body).toContain('Done.');
  expect((await there.open('/account')).url.pathname).toBe('/sign-in');
});

test('D49 a form from a page of another origin is refused, and so is a body of another type or over 16 KiB', async () => {
  const people = await startPeople();
  await people.personWith('ada@example.com', password);
  const from = async (headers: Record<string, string>): Promise<number> => {
    const body = new URLSearchParams({ email: 'ada@example.com', password });
    return (await fetch(`${people.url}/sign-in`, { method: 'POST', redirect: 'manual', body, headers })).status;
  };
  const [own, other] = [people.url, `http://127.0.0.1:${Number(new URL(people.url).port) + 1}`];
  expect(await from({ origin: own })).toBe(303);
  expect(await from({ origin: own, 'sec-fetch-site': 'same-origin' })).toBe(303);
  expect(await from({})).toBe(403);
  for (const origin of ['null', 'https://evil.example', other, own.replace('http:', 'https:')])
    expect([origin, await from({ origin })]).toEqual([origin, 403]);
  expect(await from({ origin: own, 'sec-fetch-site': 'same-site' })).toBe(403);
  const mine = people.browser();
  await mine.open('/sign-in');
  await mine.submit('/sign-in', { email: 'ada@example.com', password: 'x'.repeat(20_000) });
  expect(mine.page.status).toBe(413);
  expect((await people.json('/sign-in', undefined, {})).status).toBe(400);
  expect((await people.json('/sign-in/cli/token', undefined, [1])).status).toBe(400);
});

test('D49 behind a proxy that ends TLS, without PLATFORM_PUBLIC_URL, the person at the browser and the log are told what to set', async () => {
  const people = await startPeople();
  const shown = async (headers: Record<string, string>): Promise<string> => {
    const body = new URLSearchParams({ email: 'ada@example.com', password });
    return (
      await fetch(`${people.url}/sign-in`, { method: 'POST', body, headers: { accept: 'text/html', ...headers } })
    ).text();
  };
  const behind = (origin: string): string =>
    `if ${origin} is the address of this cloud, behind a proxy, start the cloud with PLATFORM_PUBLIC_URL=${origin} (it is not set)`;
  const told = (): number => people.logged.filter((line) => line.includes('PLATFORM_PUBLIC_URL')).length;
  // It passes the host on, or not; then only the browser tells.
  const own = people.url.replace('http:', 'https:');
  expect(await shown({ origin: own })).toContain(behind(own));
  const origin = 'https://cloud.example';
  expect(await shown({ origin, 'sec-fetch-site': 'same-origin' })).toContain(behind(origin));
  expect(told()).toBe(2);
  for (const site of ['cross-site', 'same-site', ''])
    expect(await shown({ origin, ...(site && { 'sec-fetch-site': site }) })).toContain(
      `open the page again at ${people.url}`,
    );
  expect(told()).toBe(2);
});

test('after sign-in the browser stays on this cloud, whatever the address requested', async () => {
  const people = await startPeople();
  await people.personWith('ada@example.com', password);
  for (const next of ['//elsewhere.example/', 'https://elsewhere.example/', '/\\elsewhere.example', 'account']) {
    const browser = people.browser();
    await browser.open(`/sign-in?next=${encodeURIComponent(next)}`);
    await browser.submit('/sign-in', { email: 'ada@example.com', password });
    expect(browser.page.url.href).toBe(`${people.url}/`);
  }
});

test('D49 pages run one script only, are not cached, name themselves to this cloud only, and escape what they show', async () => {
  const people = await startPeople();
  const browser = people.browser();
  await browser.open('/sign-in');
  await browser.submit('/sign-in', { email: '"><script>alert(1)</script>', password: 'wrong password' });
  expect(browser.page.body.match(/<script>/g)).toHaveLength(1);
  expect(browser.page.body).toContain('&lt;script&gt;');
  const { headers } = await browser.open('/sign-in');
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; connect-src 'self'; /,
  );
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('referrer-policy')).toBe('same-origin');
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.getSetCookie()).toEqual([]);
});

test('D31 D49 over TLS cookies are sent over TLS and to this host only', async () => {
  const people = await startPeople({ scheme: 'https' });
  const [, token = ''] = (await people.ownerLink()).split('token=');
  const answer = await fetch(`${people.url}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ token }),
    headers: { origin: people.url.replace('http:', 'https:') },
  });
  const cookies = answer.headers.getSetCookie();
  expect(cookies).toHaveLength(1);
  expect(cookies[0]).toMatch(
    /^__Host-platform_[\w-]{8}_session=[^;]+; HttpOnly; SameSite=Lax; Path=\/; Max-Age=\d+; Secure$/,
  );
});
