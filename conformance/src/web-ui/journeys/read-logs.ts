/** Lines of a log by resource, level and pattern, which the address keeps; a line with those around it; a download. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { accessibilityFaults } from '../start-ui.ts';

export async function readLogs(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Logs' }).click();
  await page.getByRole('region', { name: 'Log lines' }).getByRole('button').first().click();
  await page.getByRole('region', { name: 'Log line', exact: true }).waitFor();
  await page.getByRole('img', { name: /^Lines over time/ }).waitFor();
  await page.getByRole('combobox', { name: 'Resource' }).selectOption('config');
  await page.getByRole('button', { name: /^debug/ }).click();
  await page.getByLabel('Find in logs').fill('/(/');
  await page.getByText(/Invalid regular expression/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByLabel('Find in logs').fill('/applied$/');
  const lines = page.getByRole('region', { name: 'Log lines' });
  await lines
    .getByRole('button', { name: /configuration applied/ })
    .first()
    .waitFor();
  // The address has the filter.
  await page.reload();
  await lines
    .getByRole('button', { name: /configuration applied/ })
    .first()
    .waitFor();
  expect(await lines.getByRole('button', { name: /serving/ }).count()).toBe(0);
  await lines
    .getByRole('button', { name: /configuration applied/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'Show context' }).click();
  await lines.getByRole('button', { name: /configuration applied/, pressed: true }).waitFor();
  // With the lines around it.
  const log = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download', exact: true }).click();
  expect(await readFile(await (await log).path(), 'utf8')).toMatch(/"message":"(?!configuration applied)/);
}
