/** An invited person joins in her own browser. */
import type { Browser, Page } from 'playwright-core';

/** @param link of the invitation @returns her page, which shows the machines of the organization */
export async function joinByLink(browser: Browser, link: string): Promise<Page> {
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
