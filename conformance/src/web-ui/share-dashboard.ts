/** A dashboard: its link contains its time range and refresh. Members open it; strangers are told that they are not members. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { accessibilityFaults, type RunningUi } from './start-ui.ts';

/** Starts on the dashboard with the panel `Processor`. @returns its link, as it is copied */
export async function shareDashboard({ page }: RunningUi): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByLabel('Time range').selectOption('Last 24 hours');
  await page.waitForURL(/range=86400000/);
  await page.getByLabel('Refresh').selectOption('paused');
  // In addition to the range, which stays.
  await page.waitForURL(/range=86400000&refresh=0/);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.getByText('The link is copied.').waitFor();
  const link = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(link).toBe(page.url());
  // It refreshes by itself.
  const asked = page.waitForRequest(/\/api\/query$/);
  await page.getByLabel('Refresh').selectOption('every 5 seconds');
  await asked;
  await page.waitForRequest(/\/api\/query$/);
  await showOldPanel(page);
  // Absolute times begin with those of the range before.
  await page.getByLabel('Time range').selectOption('From … until …');
  await page.waitForURL(/range=20[^&]*Z%2F20[^&]*Z&/);
  await page.getByLabel('Until', { exact: true }).waitFor();
  await page
    .getByRole('region', { name: 'Processor' })
    .getByRole('img', { name: /Line chart of cpu_percent/ })
    .waitFor();
  return link;
}

/** After an error, a panel keeps its chart, which is marked as old until the cloud answers. */
async function showOldPanel(page: Page): Promise<void> {
  const panel = page.getByRole('region', { name: 'Processor' });
  await page.route('**/api/query', (route) => route.fulfill({ status: 504, body: '' }));
  await panel.getByText(/^Old: these rows are as of /).waitFor();
  await panel.getByText(/^old, as of .*\d\d:\d\d:\d\d \S/).waitFor();
  await panel.getByRole('img', { name: /Line chart of cpu_percent/ }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.unroute('**/api/query');
  await panel.getByText(/^Old: /).waitFor({ state: 'detached' });
}

/** In the browser of a member who owns nothing. */
export async function openSharedDashboard(hers: Page, link: string): Promise<void> {
  await hers.goto(link);
  await hers
    .getByRole('region', { name: 'Processor' })
    .getByRole('img', { name: /Line chart of cpu_percent/ })
    .waitFor();
  expect(await hers.getByLabel('Time range').inputValue()).toBe('86400000');
  expect(await hers.getByLabel('Refresh').inputValue()).toBe('0');
  expect(await hers.getByRole('button', { name: 'Edit' }).count()).toBe(0);
  // Values that are not among the choices are ignored.
  await hers.goto(link.replace('range=86400000', 'range=soon').replace('refresh=0', 'refresh=-1'));
  await hers.getByRole('region', { name: 'Processor' }).getByRole('img').waitFor();
  expect(await hers.getByLabel('Refresh').inputValue()).toBe('5000');
}

/** In the browser of a person who is not a member. */
export async function openAsStranger(theirs: Page, link: string): Promise<void> {
  await theirs.goto(link);
  await theirs.getByRole('heading', { name: 'You are not a member of this organization' }).waitFor();
  expect(await theirs.getByRole('alert').count()).toBe(0);
  expect(await accessibilityFaults(theirs)).toEqual([]);
}
