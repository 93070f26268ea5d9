/** Signing in through a real OpenID provider on this computer. */
import { type OpenIdProvider, startOpenIdProvider } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import type { Browser } from '../testing/browser.ts';
import { type People, startPeople } from '../testing/start-people.ts';

const grace = { subject: 'g-1', email: 'Grace@example.com', emailVerified: true, name: 'Grace <b>' };
const password = 'correct horse battery';

async function start(): Promise<{ provider: OpenIdProvider; people: People }> {
  const provider = await startOpenIdProvider();
  onTestFinished(() => provider[Symbol.asyncDispose]());
  return { provider, people: await startPeople({ openId: provider }) };
}

async function come(people: People, browser: Browser = people.browser()): Promise<Browser> {
  await browser.open('/sign-in/oidc?next=/account');
  return browser;
}

test('D30 a person invited by verified address joins by signing in; later the subject suffices, even with a new address', async () => {
  const { provider, people } = await start();
  const { organizationId } = people;
  const app = people.app(await people.keyWith({ role: 'owner', organizationId, locationId: null, robotId: null }));
  await app.createOrganizationInvite({ organizationId, email: 'grace@example.com' });
  provider.signInAs(grace);
  const browser = await come(people);
  expect(browser.page).toMatchObject({ status: 200, url: { pathname: '/account' } });
  expect((await app.listOrganizationMembers({ organizationId })).members.at(-1)?.emails).toEqual(['grace@example.com']);

  provider.signInAs({ ...grace, email: 'moved@example.com', emailVerified: false });
  const again = await come(people);
  expect(again.page.body).toContain('grace@example.com');
});

test.each([
  ['is not invited', grace],
  ['has an address that nobody verified', { ...grace, email: 'ada@example.com', emailVerified: false }],
])('no one signs in who %s', async (_what, person) => {
  const { provider, people } = await start();
  await people.personWith('ada@example.com', password);
  provider.signInAs(person);
  const browser = await come(people);
  expect(browser.page.status).toBe(403);
  expect(browser.cookie).toBeUndefined();
  expect(await people.db.selectFrom('people').select('id').execute()).toHaveLength(2);
});

test('the owner of an address takes over an account that someone else created with it: its password and sessions end', async () => {
  const { provider, people } = await start();
  await people.personWith('grace@example.com', password);
  const squatter = people.browser();
  await squatter.open('/sign-in');
  await squatter.submit('/sign-in', { email: 'grace@example.com', password });
  provider.signInAs(grace);
  expect((await come(people)).page.status).toBe(200);
  expect((await squatter.open('/account')).url.pathname).toBe('/sign-in');
  await squatter.submit('/sign-in', { email: 'grace@example.com', password });
  expect(squatter.page.status).toBe(401);
});

test('an answer that this browser did not request, or a refusal by the provider, signs no one in', async () => {
  const { provider, people } = await start();
  await people.personWith('grace@example.com', password);
  provider.signInAs(grace);
  const victim = people.browser();
  const attacker = people.browser();
  attacker.stopAt = (url) => url.pathname.endsWith('/callback');
  await come(people, attacker);
  const callback = attacker.page.url.pathname + attacker.page.url.search;
  expect((await victim.open(callback)).status).toBe(401);
  victim.stopAt = attacker.stopAt;
  await come(people, victim);
  victim.stopAt = () => false;
  expect((await victim.open(callback)).status).toBe(401);

  provider.signInAs(undefined);
  expect((await come(people)).page.status).toBe(401);
});

test('a provider that does not answer causes an error for this sign-in, and is contacted again at the next', async () => {
  const people = await startPeople({
    openId: { issuer: 'http://127.0.0.1:1', clientId: 'c', clientSecret: 's' },
  });
  const browser = await come(people);
  expect(browser.page.status).toBe(503);
  expect(browser.page.body).toContain('http://127.0.0.1:1');
});
