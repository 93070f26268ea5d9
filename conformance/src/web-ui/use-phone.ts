/** The pages at the width of a phone: every page within reach, rows as cards that nothing is beyond the edge of, a page for unknown addresses. */
import { expect } from 'vitest';
import { accessibilityFaults, patiently, type RunningUi } from './start-ui.ts';

/** Ends where it began, at the same width. */
export async function usePhone({ cloud, page }: RunningUi): Promise<void> {
  const before = page.url();
  const pages = page.getByRole('navigation', { name: 'Pages' });
  for (const name of ['Triggers', 'Deliveries', 'Data', 'Machines']) {
    await pages.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    await expectWithinEdges(page);
    if (name !== 'Data') continue;
    await page.getByLabel('Time range').selectOption('From … until …');
    await page.getByLabel('Until', { exact: true }).waitFor();
    await expectWithinEdges(page);
  }
  // A row of the table is a card, in which cells have names.
  const row = page.getByRole('row', { name: /Online/ }).first();
  await expect
    .poll(() => row.locator('td[data-label="Waiting to sync"]').evaluate((cell) => cell.getBoundingClientRect().right))
    .toBeLessThanOrEqual(390);
  await pages.getByRole('button', { name: 'More' }).click();
  expect(await accessibilityFaults(page)).toEqual([]);
  await pages.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('region', { name: 'Table of members' }).waitFor();
  await expectWithinEdges(page);

  await page.goto(`${cloud.url}/o/${cloud.organizationId}/nowhere`);
  await page.getByRole('heading', { name: 'There is no page at this address' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.goto(`${cloud.url}/nowhere`);
  await page.getByRole('heading', { name: 'There is nothing at this address' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('link', { name: 'Your machines' }).click();
  await page.getByRole('heading', { name: 'Machines', level: 1 }).waitFor();
  for (const path of ['status', 'account']) {
    await page.goto(`${cloud.url}/${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expectWithinEdges(page);
    expect(await accessibilityFaults(page), path).toEqual([]);
  }
  await page.goto(before);
}

/** Nothing is beyond the right edge of the page, or of a table in it. */
export async function expectWithinEdges(page: RunningUi['page']): Promise<void> {
  const beyond = `[document.documentElement, ...document.querySelectorAll('.table-panel')].filter((one) => one.scrollWidth > one.clientWidth).length`;
  await expect.poll(() => page.evaluate(beyond), patiently).toBe(0);
}
