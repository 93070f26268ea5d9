/** Data: follows the path to one series, sees how long it is kept, and pins its chart to a dashboard, by role and name. */
import { hostname } from 'node:os';
import { expect } from 'vitest';
import { shotPath } from '../open-browser.ts';
import { accessibilityFaults, patiently, type RunningUi } from './start-ui.ts';

/** Ends on the Data page with the newest values of all machines. */
export async function browseData({ page }: RunningUi): Promise<void> {
  await page.getByRole('link', { name: 'Data' }).click();
  const path = page.getByRole('group', { name: 'Path' });
  await path.getByLabel('Machine').selectOption(hostname() || 'this-computer');
  await page.waitForURL(/machine=/);
  await page.getByText(/^host Readings: Kept until someone deletes them/).waitFor();
  await page.getByRole('img', { name: 'Recent values of cpu_percent' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'host Readings', exact: true }).click();
  await page
    .getByRole('region', { name: 'cpu_percent', exact: true })
    .getByRole('img', { name: /^Line chart of cpu_percent/ })
    .waitFor();
  await page.screenshot({ path: shotPath('web-data-series.png'), fullPage: true });
  await page.getByRole('button', { name: 'Pin cpu_percent to a dashboard' }).click();
  const pinning = page.getByRole('dialog', { name: 'Pin to a dashboard' });
  await pinning.getByRole('button', { name: 'Pin', exact: true }).click();
  await page.getByText('host cpu_percent is pinned.').waitFor();
  // The address has the whole path: a reload shows the same.
  await page.reload();
  await expect.poll(() => path.getByLabel('Method').inputValue(), patiently).toBe('Readings');
  await page.getByRole('link', { name: 'Dashboards' }).click();
  await page.getByRole('link', { name: /^Every morning/ }).click();
  await page
    .getByRole('region', { name: 'host cpu_percent' })
    .getByRole('img', { name: /^Line chart of value/ })
    .waitFor();
  await page.getByRole('link', { name: 'Data' }).click();
}
