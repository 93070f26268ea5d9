/** Signs in with a real browser: with the link from the first start, then with e-mail and password, in light and dark mode. */
import { createServer } from 'node:http';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { startOpenIdProvider } from '@platform/testkit';
import { expect, test } from 'vitest';
import { CloudUnderFire, linkOfOwner } from './crash/cloud-under-load.ts';
import { openBrowser, shotPath, signInByLink } from './open-browser.ts';

test('D30 D49 the first owner sets e-mail and password after the link, and signs in with them after a restart', async () => {
  await using cloud = await CloudUnderFire.start();
  await using opened = await openBrowser();
  const { page, faults } = opened;

  await signInByLink(page, cloud.signInLink);
  await page.getByRole('link', { name: 'your account' }).click();
  await page.getByLabel('E-mail').fill('Ada@Example.com');
  await page.getByRole('button', { name: 'Set e-mail' }).click();
  await page.getByLabel('New password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByText('Done.').waitFor();
  await page.screenshot({ path: shotPath('account.png'), fullPage: true });

  await cloud.firstStartOver();
  await cloud.kill();
  await cloud.start();
  expect(cloud.signInLink).toBe(`${cloud.url}/sign-in`);
  await page.goto(`${cloud.url}/account`);
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByLabel('Password').waitFor();
  expect(faults).toEqual([]);

  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByLabel('Password').fill('not this one');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  await page.emulateMedia({ colorScheme: 'light' });
  await page.screenshot({ path: shotPath('sign-in-light.png') });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.screenshot({ path: shotPath('sign-in-dark.png') });
  await page.getByLabel('Password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('uploads accepted').waitFor();
});

test('D49 a person signs in with OpenID Connect, and sees pages that need both halves of the session', async () => {
  await using provider = await startOpenIdProvider();
  await using cloud = await CloudUnderFire.start({
    PLATFORM_OIDC_ISSUER: provider.issuer,
    PLATFORM_OIDC_CLIENT_ID: provider.clientId,
    PLATFORM_OIDC_CLIENT_SECRET: provider.clientSecret,
  });
  await using owner = linkOfOwner(cloud);
  const { organizationId } = cloud.demo;
  await owner.client(AppService).createOrganizationInvite({ organizationId, email: 'grace@example.com' });
  provider.signInAs({ subject: 'g-1', email: 'grace@example.com', emailVerified: true, name: 'Grace' });
  await using opened = await openBrowser();
  const { page, faults } = opened;
  await page.goto(`${cloud.url}/account`);
  await page.getByRole('link', { name: 'Continue with OpenID Connect' }).click();
  await page.getByText('grace@example.com').waitFor();
  expect(new URL(page.url()).pathname).toBe('/account');
  await page
    .locator('td time', { hasText: /\d{4}.* \d\d:\d\d:\d\d (UTC|GMT\S*|[A-Z]{3,4})$/ })
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByRole('link', { name: 'Continue with OpenID Connect' }).waitFor();
  expect(faults).toEqual([]);
});

test('the browser passes the code to the port where the command line listens', async () => {
  await using cloud = await CloudUnderFire.start();
  await using opened = await openBrowser();
  const { page } = opened;
  await signInByLink(page, cloud.signInLink);
  const { promise: code, resolve } = Promise.withResolvers<string | null>();
  const listener = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://here');
    if (searchParams.has('code')) resolve(searchParams.get('code'));
    response.end('done');
  });
  await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening));
  const address = listener.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await page.goto(`${cloud.url}/sign-in/cli?port=${port}&state=s&challenge=${'A'.repeat(43)}`);
  await page.getByRole('button', { name: 'Allow' }).click();
  expect(await code).toMatch(/^[\w-]{43}$/);
  await page.getByText('done').waitFor();
  listener.closeAllConnections();
  listener.close();
});
