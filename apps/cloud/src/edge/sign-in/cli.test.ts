/** A command line gets a session through the browser. Uses a real port and database. */
import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Browser } from '../../identity/testing/browser.ts';
import { type People, startPeople } from '../../identity/testing/start-people.ts';

const verifier = randomBytes(32).toString('base64url');
const challenge = createHash('sha256').update(verifier).digest('base64url');

async function signedIn(people: People): Promise<Browser> {
  const browser = people.browser();
  await browser.open(await people.ownerLink());
  await browser.submit('/sign-in');
  return browser;
}

test('D49 the page shows what asks, with a code to compare; the browser takes a code to the loopback port; with its verifier the code becomes a session of 90 days', async () => {
  const people = await startPeople();
  const browser = await signedIn(people);
  browser.stopAt = (url) => url.port === '45678';
  await browser.open(`/sign-in/cli?port=45678&state=abc-1&challenge=${challenge}`);
  expect(browser.page.headers.get('content-security-policy')).toContain("form-action 'self' http://127.0.0.1:*");
  const hex = Buffer.from(challenge, 'base64url').toString('hex').toUpperCase();
  expect(browser.page.body).toContain(`<code id="compare">${hex.slice(0, 4)}-${hex.slice(4, 8)}</code>`);
  expect(browser.page.body).toContain('port 45678');
  await browser.submit('/sign-in/cli', { answer: 'allow' });
  expect(browser.page.url.origin).toBe('http://127.0.0.1:45678');
  expect(browser.page.url.searchParams.get('state')).toBe('abc-1');
  const code = browser.page.url.searchParams.get('code') ?? '';

  const got = await people.json('/sign-in/cli/token', undefined, { code, verifier });
  expect(got).toMatchObject({ status: 200, body: { expiresMs: people.clock.now() + 90 * 86_400_000 } });
  const { token } = got.body as { token: string };
  expect(await people.json('/api/whoami', token)).toMatchObject({
    body: { kind: 'person', name: 'owner', roles: [{ role: 'owner', organizationId: people.organizationId }] },
  });
  expect((await people.json('/sign-in/cli/token', undefined, { code, verifier })).status).toBe(401);
  people.clock.setWall(people.clock.now() + 89 * 86_400_000);
  expect((await people.json('/api/whoami', token)).status).toBe(200);
  people.clock.setWall(people.clock.now() + 86_400_000 - 60_000);
  await people.clock.advance(60_000);
  expect((await people.json('/api/whoami', token)).status).toBe(401);
  expect(people.logged.join()).not.toContain(code);
});

test('without a port the page shows the code for pasting; a wrong verifier gets nothing and uses the code up', async () => {
  const people = await startPeople();
  const browser = await signedIn(people);
  const show = async (): Promise<string> => {
    await browser.open(`/sign-in/cli?challenge=${challenge}`);
    await browser.submit('/sign-in/cli', { answer: 'allow' });
    return /<code id="code">([^<]+)</.exec(browser.page.body)?.[1] ?? '';
  };
  const stolen = await show();
  expect((await people.json('/sign-in/cli/token', undefined, { code: stolen, verifier: 'x'.repeat(43) })).status).toBe(
    401,
  );
  expect((await people.json('/sign-in/cli/token', undefined, { code: stolen, verifier })).status).toBe(401);
  expect((await people.json('/sign-in/cli/token', undefined, { code: await show(), verifier })).status).toBe(200);
  const late = await show();
  await people.clock.advance(300_000);
  expect((await people.json('/sign-in/cli/token', undefined, { code: late, verifier })).status).toBe(401);
});

test('a person who refuses grants nothing; a person who is not signed in signs in first and returns', async () => {
  const people = await startPeople();
  const browser = await signedIn(people);
  browser.stopAt = (url) => url.port === '45678';
  await browser.open(`/sign-in/cli?port=45678&state=s&challenge=${challenge}`);
  await browser.submit('/sign-in/cli', { answer: 'refuse' });
  expect(browser.page.url.search).toBe('?error=access_denied&state=s');

  await people.personWith('ada@example.com', 'correct horse battery');
  const other = people.browser();
  await other.open(`/sign-in/cli?challenge=${challenge}`);
  expect(other.page.url.pathname).toBe('/sign-in');
  await other.submit('/sign-in', { email: 'ada@example.com', password: 'correct horse battery' });
  expect(other.page.url.pathname).toBe('/sign-in/cli');
  expect(other.page.body).toContain('ada@example.com');
});

test.each([
  'challenge=short',
  'challenge=CHALLENGE&port=0',
  'challenge=CHALLENGE&port=80@evil.example',
  'challenge=CHALLENGE&state=%0d%0a',
])('%s is refused before anyone is asked', async (query) => {
  const people = await startPeople();
  const browser = await signedIn(people);
  expect((await browser.open(`/sign-in/cli?${query.replace('CHALLENGE', challenge)}`)).status).toBe(400);
  expect(browser.page.body).not.toContain('action="/sign-in/cli"');
});
