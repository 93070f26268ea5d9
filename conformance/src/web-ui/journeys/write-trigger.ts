/** A trigger in the form: its event, conditions, timing and target, also after a reload. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { accessibilityFaults } from '../start-ui.ts';

export async function writeTrigger(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'New trigger' }).click();
  await page.getByLabel('Event').selectOption('capture_stopped');
  const duration = page.getByRole('spinbutton', { name: /^for s while the machine is online/ });
  await duration.fill('0');
  await duration.press('Tab');
  await page.getByText('expected a number above 0').waitFor();
  expect(await page.getByText('triggers[0].name').count()).toBe(0);
  await page.getByLabel('Event').selectOption('conditional_data_ingested');
  await page.getByLabel('Name').fill('uptime-rises');
  await page.getByLabel('Captured method').fill('sensor:host:Readings');
  await page.getByLabel('Field').fill('uptime_seconds');
  await page.getByLabel('Value').fill('0');
  await page.getByRole('button', { name: 'Add condition' }).click();
  const second = page.getByRole('group', { name: 'Condition 2' });
  await second.getByLabel('Field').fill('cpu_percent');
  await second.getByLabel('Value').fill('900');
  await page.getByLabel('Conditions that must hold').selectOption('any');
  await page.getByLabel('When it fires').selectOption('times');
  await page.getByLabel('When it is over').selectOption('clear');
  await page
    .getByText('in 3 readings of sensor:host:Readings within 600 s, and again when uptime_seconds is below 0.')
    .waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByLabel('When it is over').selectOption('opposite');
  await page.getByLabel('When it fires').selectOption('each');
  await page.getByText('each time that uptime_seconds is above 0 or cpu_percent is above 900').waitFor();
  await page.getByLabel('Channel').selectOption('webhook');
  await page.getByRole('button', { name: 'Use the test inbox' }).click();
  const json = page.getByRole('textbox', { name: 'Trigger in JSON' });
  await json.getByText('/test-inbox/webhooks/uptime-rises').waitFor();
  await page.reload();
  await page.getByText('This is your earlier draft').waitFor();
  await json.getByText('/test-inbox/webhooks/uptime-rises').waitFor();
}
