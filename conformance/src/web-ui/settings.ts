/** Settings: members and their roles, keys, branding, push, limits, the test inbox and the audit trail, by role and name. */

import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { shotPath } from '../open-browser.ts';
import { lookEverywhere } from './look-everywhere.ts';
import { openAsStranger, openSharedDashboard } from './share-dashboard.ts';
import { accessibilityFaults, patiently, type RunningUi } from './start-ui.ts';

/** The machine of the demo. */
const machine = hostname() || 'this-computer';

/** Ends on the keys, in the page of the owner. @param dashboard link to one of the organization */
export async function useSettings(ui: RunningUi, dashboard: string): Promise<void> {
  const { page } = ui;
  await page.getByRole('link', { name: 'Settings' }).click();
  const views = page.getByRole('group', { name: 'Settings' });
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByRole('button', { name: 'Invite' }).click();
  const link = (await page.getByText('/invitations/accept').textContent()) ?? '';
  expect(await accessibilityFaults(page)).toEqual([]);
  const hers = await joinAndLook(ui, link);
  await openSharedDashboard(hers, dashboard);
  await lookEverywhere(hers, machine);
  await changeRoles(page);
  // Now she operates one machine, and nothing else of the organization.
  await hers.goto(ui.cloud.url);
  await lookEverywhere(hers, machine);
  await removeByKeyboard(page);
  await openAsStranger(hers, dashboard);
  await hers.context().close();

  await views.getByRole('button', { name: 'Organization' }).click();
  await page.getByLabel('Name of the organization').fill('<b>Mill</b>');
  await page.getByLabel('Time zone of mails').fill('europe/berlin');
  await page.getByRole('button', { name: 'Save' }).click();
  await page
    .getByLabel('Organization', { exact: true })
    .getByRole('option', { name: '<b>Mill</b>' })
    .waitFor({ state: 'attached' });
  await expect.poll(() => page.getByLabel('Time zone of mails').inputValue(), patiently).toBe('Europe/Berlin');
  await page.getByLabel('Id of the app').fill('com.example.mill');
  await page.getByLabel(/^Service account/).fill('{"type": "none"}');
  await page.getByRole('button', { name: 'Set credentials' }).click();
  await page.getByRole('alert').getByText('The cloud did not accept this').waitFor();
  expect(await page.getByLabel('Id of the app').inputValue()).toBe('com.example.mill');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('web-settings-organization.png'), fullPage: true });
  await views.getByRole('button', { name: 'Webhooks' }).click();
  await replaceWebhookSecret(page);
  await views.getByRole('button', { name: 'Limits' }).click();
  await page.getByRole('row', { name: /scan in a UTC month 100 TB [\d.]+ \w?B, 0%/ }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await views.getByRole('button', { name: 'Test inbox' }).click();
  await page.getByRole('group', { name: 'Kinds of messages' }).getByRole('button', { name: 'Webhooks' }).click();
  await page
    .getByRole('row', { name: /webhook uptime-rises/ })
    .first()
    .waitFor();
  await page
    .getByRole('button', { name: /^Details of message/ })
    .first()
    .click();
  await page.getByText(/webhook-signature/i).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('web-settings-inbox.png') });
  await views.getByRole('button', { name: 'Audit' }).click();
  await page
    .getByRole('row', { name: /update organization/ })
    .first()
    .waitFor();
  await page.getByLabel('Filter changes').fill('no such change');
  await page.getByText(/^No change matches, among the newest/).waitFor();
  await page.getByLabel('Filter changes').fill('update organization');
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download all as CSV' }).click();
  expect(await readFile(await (await saved).path(), 'utf8')).toMatch(
    /^at,actor_kind[\s\S]*AppService\.UpdateOrganization/,
  );
  expect(await accessibilityFaults(page)).toEqual([]);
  await views.getByRole('button', { name: 'API keys' }).click();
  await createKey(page);
}

/** She sees what members see, and one message about what she may not do. */
async function joinAndLook({ browser }: RunningUi, link: string): Promise<Page> {
  const hers = await joinByLink(browser, link);
  // The owner has a second organization, which bills this one.
  expect(await hers.getByLabel('Organization').getByRole('option').count()).toBe(1);
  await hers.getByRole('link', { name: 'Settings' }).click();
  await hers.getByText('You can view but not change').waitFor();
  await hers.getByRole('row', { name: /ada@example.com/ }).waitFor();
  expect(await hers.getByRole('alert').count()).toBe(0);
  expect(await hers.getByRole('button', { name: /Create key|Invite|Roles|Remove|API keys|Audit/ }).count()).toBe(0);
  expect(await accessibilityFaults(hers)).toEqual([]);
  await hers.screenshot({ path: shotPath('web-settings-operator.png') });
  await hers.getByRole('button', { name: 'Limits' }).click();
  await hers.getByRole('row', { name: /scan in a UTC month/ }).waitFor();
  await hers.getByRole('link', { name: 'Billing' }).click();
  await hers.getByRole('heading', { name: 'Billing' }).waitFor();
  await hers.getByText('Only owners of the organization see its usage and invoices.').waitFor();
  expect(await hers.getByRole('button', { name: 'Charge organization' }).count()).toBe(0);
  expect(await accessibilityFaults(hers)).toEqual([]);
  await hers.screenshot({ path: shotPath('web-billing-operator.png'), fullPage: true });
  return hers;
}

/** From operator to owner of the organization, and back to one machine. */
async function changeRoles(page: Page): Promise<void> {
  // Until then the table has her invitation.
  await page.getByRole('button', { name: 'Remove ada@example.com' }).waitFor();
  await page.getByRole('button', { name: 'Roles of ada@example.com' }).click();
  const roles = page.getByRole('dialog', { name: 'Roles of ada@example.com' });
  await roles.getByLabel('Role on the organization').selectOption('Owner');
  await roles.getByLabel(/^On/).selectOption('a machine');
  await roles.getByLabel('Machine of the role').fill(machine);
  await roles.getByRole('button', { name: 'Add role' }).click();
  await roles.getByLabel(`Role on ${machine}`).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('web-settings-roles.png') });
  await roles.getByRole('button', { name: 'Remove role owner', exact: true }).click();
  await roles.getByLabel('Role on the organization').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await roles.waitFor({ state: 'detached' });
  expect(
    await page
      .getByRole('button', { name: 'Roles of ada@example.com' })
      .evaluate((at) => at === at.ownerDocument.activeElement),
  ).toBe(true);
  await page.getByRole('row', { name: new RegExp(`ada@example.com operator of ${machine} `) }).waitFor();
}

/** First tries Escape, which leaves her a member, and the focus where it was. */
async function removeByKeyboard(page: Page): Promise<void> {
  const remove = page.getByRole('button', { name: 'Remove ada@example.com' });
  const question = page.getByRole('dialog', { name: 'Remove ada@example.com from the organization?' });
  await remove.focus();
  await page.keyboard.press('Enter');
  await question.waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  expect(await remove.evaluate((at) => at === at.ownerDocument.activeElement)).toBe(true);
  await page.keyboard.press('Enter');
  await question.getByRole('button', { name: 'Remove member' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('ada@example.com is no longer a member.').waitFor();
}

/** The new secret is shown; the old one still signs for a while. */
async function replaceWebhookSecret(page: Page): Promise<void> {
  const table = page.getByRole('region', { name: 'Table of webhook secrets' });
  await table.getByText(/^whsec_.{3}…$/).waitFor();
  await table.getByRole('button', { name: 'Show the current secret' }).click();
  const former = await table.getByText(/^whsec_[\w+/=]{20,}$/).textContent();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByLabel('Also sign with the old secret for').selectOption('1 day');
  await page.getByRole('button', { name: 'Replace secret' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Replace it' }).click();
  await page.getByText('The secret is replaced.').waitFor();
  await table.getByText(/^old, until/).waitFor();
  expect(await table.getByText(/^whsec_[\w+/=]{20,}$/).textContent()).not.toBe(former);
  await page.screenshot({ path: shotPath('web-settings-webhooks.png') });
}

/** The code that is shown for the key works. */
async function createKey(page: Page): Promise<void> {
  await page.getByLabel('Name').fill('nightly report');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('Copy the key now').waitFor();
  await page.getByRole('button', { name: 'JavaScript' }).click();
  const code = (await page.getByText('await fetch').textContent()) ?? '';
  const ran = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { encoding: 'utf8' });
  expect(ran.stdout).toMatch(/readings: [1-9]/);
  await page.getByRole('row', { name: /nightly report .* operator/ }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('web-settings-keys.png') });
  await page.getByRole('button', { name: 'Rotate nightly report' }).click();
  await page.getByText('old secret valid until').waitFor();
  await page.getByRole('button', { name: 'I have copied it' }).click();
}

/**
 * An invited person joins in her own browser. @param link of the invitation @returns her page, which shows the machines of the organization
 */
async function joinByLink(browser: Browser, link: string): Promise<Page> {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(link);
  await page.getByLabel('Your name').fill('Ada');
  await page.getByLabel('Choose a password').fill('a password of ada');
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByRole('row', { name: /Online/ }).waitFor();
  return page;
}
