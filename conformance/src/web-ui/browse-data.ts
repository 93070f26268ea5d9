/** Data: follows the path to one series, sees how long it is kept, and pins its chart to a dashboard, by role and name. */
import { hostname } from 'node:os';
import type { Locator, Page } from 'playwright-core';
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
  await zoomAllCharts(page);
  await chooseUtc(page);
  await keepPart(page);
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

/** A part of the time becomes the range of the page: in its address, as times that can be changed, until it is undone. */
async function keepPart(page: Page): Promise<void> {
  // The second part of a part has readings, too.
  await page.getByRole('img', { name: /^Line chart of cpu_percent, [2-6]\d points/ }).waitFor();
  const keep = page.getByRole('button', { name: 'Keep as time range' });
  await dragOver(page, keep);
  await keep.first().click();
  await page.waitForURL(/range=20[^&]*Z%2F20[^&]*Z(&|$)/);
  await page.getByText('UTC', { exact: true }).waitFor();
  const until = page.getByLabel('Until', { exact: true });
  const [from, text] = [await page.getByLabel('From', { exact: true }).inputValue(), await until.inputValue()];
  expect(new Date(`${from}Z`) < new Date(`${text}Z`)).toBe(true);
  const chart = page.getByRole('region', { name: 'cpu_percent', exact: true }).getByRole('img');
  await chart.waitFor();
  expect(await page.getByRole('button', { name: 'Show the whole time' }).count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('web-data-range.png'), fullPage: true });
  // A reload shows the same; times in the wrong order are told, and change nothing.
  await page.reload();
  await chart.waitFor();
  expect(await until.inputValue()).toBe(text);
  await until.fill('2020-01-01T00:00');
  await page.getByText('From must be before Until.').waitFor();
  await until.fill(text);
  await page.getByText('From must be before Until.').waitFor({ state: 'detached' });
  await dragOver(page, keep);
  await keep.first().click();
  await expect.poll(() => until.inputValue(), patiently).not.toBe(text);
  await page.getByRole('button', { name: 'Undo the kept part' }).click();
  await expect.poll(() => until.inputValue(), patiently).toBe(text);
  await page.getByLabel('Time range').selectOption('All time');
  await until.waitFor({ state: 'detached' });
  await chart.waitFor();
}

/** A part of the time that is chosen in one chart is shown by all charts of the page. */
async function zoomAllCharts(page: Page): Promise<void> {
  const back = page.getByRole('button', { name: 'Show the whole time' });
  await dragOver(page, back);
  const charts = await page.getByRole('img', { name: /^Line chart of/ }).count();
  expect(charts).toBeGreaterThan(1);
  await expect.poll(() => back.count(), patiently).toBe(charts);
  await back.last().click();
  await expect.poll(() => back.count(), patiently).toBe(0);
}

/** Chooses a part of the time in the first chart, until the page offers `then`. */
async function dragOver(page: Page, then: Locator): Promise<void> {
  const chart = page.locator('.u-over').first();
  // New readings draw the chart again, which ends a choice.
  await expect
    .poll(async () => {
      // Not under the top bar.
      await chart.hover();
      const { x = 0, y = 0, width = 0, height = 0 } = (await chart.boundingBox()) ?? {};
      await page.mouse.move(x + width * 0.4, y + height / 2);
      await page.mouse.down();
      await page.mouse.move(x + width * 0.8, y + height / 2, { steps: 4 });
      await page.mouse.up();
      await then
        .first()
        .waitFor({ timeout: 2_000 })
        .catch(() => {});
      return then.count();
    }, patiently)
    .toBeGreaterThan(0);
}

/** Times name the zone in which they are written, which the person chooses. */
async function chooseUtc(page: Page): Promise<void> {
  const account = page.getByRole('button', { name: /^Account/ });
  await account.click();
  await page.getByLabel('Times in the zone of').selectOption('UTC');
  await account.click();
  await page.locator('.u-over').first().hover();
  await page
    .getByText(/^\w+ \d+, \d{4}, \d\d:\d\d:\d\d UTC$/)
    .first()
    .waitFor();
}
