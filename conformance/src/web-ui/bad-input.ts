/** Many, large or hostile rows are cut, and shown as text. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { accessibilityFaults } from './start-ui.ts';

/** Ends on the Query page. */
export async function largeAnswersAreCut(page: Page): Promise<void> {
  let rows = `[${'{"n":1},'.repeat(999_999)}{"n":2}]`;
  await page.route('**/api/query', (route) => route.fulfill({ contentType: 'application/json', body: rows }));
  await page.getByRole('link', { name: 'Query' }).click();
  await page.getByText(/^1,000,000 rows/).waitFor();
  await page.getByText('The chart shows the first 50,000 of 1,000,000 rows.').waitFor();
  await page.getByRole('button', { name: 'JSON', exact: true }).click();
  await page.getByText('and 999,700 more rows, in the download').waitFor();

  const markup = '<img src=x onerror="document.title = 1">';
  rows = JSON.stringify([{ markup, rightToLeft: 'שלום עולם', long: 'word'.repeat(2_500), big: 'x'.repeat(4_000_000) }]);
  await page.getByRole('button', { name: /^Run/ }).click();
  await page.getByText('3,998,000 more characters').waitFor();
  await page.getByRole('button', { name: 'Table', exact: true }).click();
  await page.getByRole('cell', { name: markup }).waitFor();
  expect(await page.getByRole('cell', { name: 'שלום עולם' }).count()).toBe(1);
  expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
  expect(await page.title()).toMatch(/^Query/);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
}
