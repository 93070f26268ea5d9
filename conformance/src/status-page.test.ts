/** The status page in a real browser: the one-time link signs in, the page shows arriving readings, strangers see nothing. */
import { fileURLToPath } from 'node:url';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { spawnChild, startSmtpSink } from '@platform/testkit';
import { expect, test } from 'vitest';
import { CloudUnderFire, linkOfOwner, uploadUntil } from './crash/cloud-under-load.ts';
import { openBrowser, shotPath, signInByLink } from './open-browser.ts';

const adminMain = fileURLToPath(new URL('../../apps/cloud/src/admin-main.ts', import.meta.url));
const nodeFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];

test('D9 the page shows which part holds a configuration back and why, above everything else after a day; it counts what was given up, and its times name their zone', async () => {
  await using cloud = await CloudUnderFire.start();
  const { partId } = cloud.demo;
  await using owner = linkOfOwner(cloud);
  await owner.client(FleetService).reportPartStatus({ partId, heldRevision: 'r2', heldReason: 'the gate is open' });

  await using opened = await openBrowser();
  const { page, faults } = opened;
  await signInByLink(page, cloud.signInLink);
  await page.getByText(/^waits since .*: the gate is open$/).waitFor();
  expect(await page.locator('#held').isVisible()).toBe(false);
  await page.locator('#failed', { hasText: /^0$/ }).waitFor();
  await page.getByText(/^waits since .* (UTC|GMT\S*|[A-Z]{3,4}): /).waitFor();

  await page.route('**/api/status', async (route) => {
    const status = await (await route.fetch()).json();
    status.parts[0].held.isLong = true;
    status.parts[0].lastSeenMs = Date.UTC(2026, 0, 2);
    status.installation.failed = 3;
    await route.fulfill({ json: status });
  });
  await page.locator('#held').waitFor();
  expect(await page.locator('#held').textContent()).toMatch(
    /held a new configuration back for more than a day, .*part force/,
  );
  await page.locator('#failed', { hasText: /^3$/ }).waitFor();
  await page
    .locator('#parts')
    .getByText(/2026.* (UTC|GMT\S*|[A-Z]{3,4})$/)
    .first()
    .waitFor();
  expect(faults).toEqual([]);
  // The page polls every second: a request in progress when the browser closes is not an error.
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

test('the page shows arriving readings to a user of the link, and to no one else', async () => {
  await using cloud = await CloudUnderFire.start();
  let uploads = 0;
  await uploadUntil(cloud, 'press', () => uploads++ > 3);

  await using opened = await openBrowser();
  const { browser, page, faults } = opened;

  await signInByLink(page, cloud.signInLink);
  await page.getByText('press · Readings').first().waitFor();
  // Readings are accepted first, and queryable a moment later: the page refreshes by itself.
  await page.locator('#uploads', { hasText: /^4$/ }).waitFor();
  await page.locator('#rows', { hasText: /^40$/ }).waitFor();
  expect(faults).toEqual([]);
  await page.screenshot({ path: shotPath('status.png'), fullPage: true });

  const stranger = await (await browser.newContext()).newPage();
  expect((await stranger.goto(cloud.url))?.status()).toBe(401);
  expect(await stranger.textContent('body')).toContain('sign-in link');
  expect(await stranger.textContent('body')).not.toContain('press');
  await stranger.goto(cloud.signInLink);
  await stranger.getByRole('button', { name: 'Sign in' }).click();
  await stranger.getByText('has not been used').waitFor();
});

test('a mail that cannot be delivered is shown with its attempts and without its link, and counted in platform admin status', async () => {
  await using server = await startSmtpSink();
  server.refuseWith(550);
  const mail = { PLATFORM_SMTP_URL: server.url, PLATFORM_MAIL_FROM: 'cloud@example.com' };
  await using cloud = await CloudUnderFire.start(mail);
  await using owner = linkOfOwner(cloud);
  const { organizationId } = cloud.demo;
  await owner.client(AppService).createOrganizationInvite({ organizationId, email: 'ada@example.com' });

  await using opened = await openBrowser();
  const { page, faults } = opened;
  await signInByLink(page, cloud.signInLink);
  const row = page.locator('#undelivered tr', { hasText: 'ada@example.com' });
  await row.waitFor();
  expect(await row.textContent()).toMatch(/invitation.*ada@example\.com1rejected: .*550/);
  expect(await page.content()).not.toContain('token=');
  expect(faults).toEqual([]);

  const asked = JSON.stringify({ command: 'status', dataDirectory: cloud.directory });
  await using admin = spawnChild(process.execPath, [...nodeFlags, adminMain, asked]);
  await admin.exited;
  expect(admin.lines[0]).toMatchObject({ result: { undeliveredMails: 1, undeliveredWebhooks: 0 } });
});
