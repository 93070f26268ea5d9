/** A delivery is found by trigger and time; failed ones are counted before they are sent again; its target is paused and resumed. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { shotPath } from '../../open-browser.ts';
import { accessibilityFaults } from '../start-ui.ts';

export async function followDeliveries(page: Page): Promise<void> {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Deliveries' }).click();
  await page
    .getByRole('row', { name: /Delivered .* uptime-rises/ })
    .first()
    .waitFor();
  // Times are in the zone that was chosen, and in UTC in the address.
  await page.getByLabel('From', { exact: true }).fill('2020-01-01T00:00');
  await page.waitForURL(/from=2020-01-01T00%3A00%3A00\.000Z/);
  await page.getByLabel('Until', { exact: true }).fill('2020-01-02T00:00');
  await page.getByText('Nothing matches.').waitFor();
  await page.getByLabel('Until', { exact: true }).fill('');
  await page
    .getByRole('row', { name: /Delivered .* uptime-rises/ })
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Resend failed deliveries' }).click();
  const replaying = page.getByRole('dialog', { name: 'Resend failed deliveries' });
  await replaying.getByLabel('Include delivered ones').check();
  await replaying.getByRole('button', { name: 'Count' }).click();
  await replaying.getByText(/^[1-9]\d* deliveries would be sent again/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await replaying.getByRole('button', { name: 'Cancel' }).click();
  await page
    .getByRole('row', { name: /webhook .*uptime-rises/ })
    .first()
    .getByRole('button', { name: /^Details of/ })
    .click();
  await page.getByText('Attempts').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Pause this target' }).click();
  const paused = page.getByRole('region', { name: 'Paused targets' });
  await paused.getByText('/test-inbox/webhooks/uptime-rises').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('web-paused-targets.png'), fullPage: true });
  await paused.getByRole('button', { name: /^Resume/ }).click();
  await paused.waitFor({ state: 'detached' });
}
