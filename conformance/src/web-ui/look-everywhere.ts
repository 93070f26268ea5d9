/** Every page that the navigation offers to somebody, without a call that the cloud refuses, and without a refusal on the page. */
import type { Page, Request } from 'playwright-core';
import { expect } from 'vitest';
import { accessibilityFaults, patiently } from './start-ui.ts';

/** Names of procedures that nobody waits for: they stay open. */
const open = new Set(['LiveService/Watch']);

/** @param machine name of a machine that the person may operate */
export async function lookEverywhere(page: Page, machine: string): Promise<void> {
  const running = new Set<Request>();
  const refused: string[] = [];
  const procedureOf = (request: Request): string | undefined =>
    /\/platform\.[\w.]*\.(\w+\/\w+)$/.exec(new URL(request.url()).pathname)?.[1];
  const began = (request: Request): void => {
    const procedure = procedureOf(request);
    if (procedure !== undefined && !open.has(procedure)) running.add(request);
  };
  const failed = (request: Request): void => void running.delete(request);
  const ended = async (request: Request): Promise<void> => {
    const status = (await request.response())?.status() ?? 0;
    if ([403, 404].includes(status)) refused.push(`${procedureOf(request) ?? request.url()}: ${status}`);
    running.delete(request);
  };
  page.on('request', began).on('requestfailed', failed).on('requestfinished', ended);
  /** Once the page has its answers. */
  const settled = async (heading: string | RegExp): Promise<void> => {
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    await expect.poll(() => running.size + Number(page.isClosed()), patiently).toBe(0);
    await expect.poll(() => page.getByText(/^(Loading|Asking) /).count(), patiently).toBe(0);
    expect({ refused, said: await page.getByText('You may not do this').count() }).toEqual({ refused: [], said: 0 });
  };

  const pages = page.getByRole('navigation', { name: 'Pages' });
  for (const name of ['Dashboards', 'Query', 'Data', 'Triggers', 'Deliveries', 'Billing', 'Settings', 'Machines']) {
    await pages.getByRole('link', { name, exact: false }).first().click();
    await settled(name);
    if (name === 'Query') {
      await page.getByRole('button', { name: 'Saved queries' }).click();
      await page.getByRole('dialog', { name: 'Saved queries' }).getByText('Only owners can save').waitFor();
      await page.keyboard.press('Escape');
    }
    if (name === 'Data') {
      await page.getByRole('button', { name: 'Pictures and files' }).click();
      await settled(name);
    }
    if (name === 'Triggers') {
      expect(await page.getByRole('button', { name: /^Send test/ }).count()).toBe(0);
      await page.getByRole('link', { name: 'uptime-rises' }).click();
      await page.getByText('Only owners of its machine change and test it.').waitFor();
      await settled('uptime-rises');
      expect(await accessibilityFaults(page)).toEqual([]);
    }
  }
  expect(await page.getByRole('button', { name: 'Connect a machine' }).count()).toBe(0);
  await page.getByRole('link', { name: machine, exact: true }).click();
  for (const section of ['Overview', 'Configure', 'Control', 'Logs', 'Connect']) {
    await page
      .getByRole('navigation', { name: 'Sections of this machine' })
      .getByRole('link', { name: section })
      .click();
    if (section === 'Configure') await page.getByText('Only owners of the machine change it.').waitFor();
    await settled(machine);
    if (section === 'Configure') expect(await accessibilityFaults(page)).toEqual([]);
  }
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog');
  await palette.getByRole('combobox').fill('uptime');
  await palette
    .getByRole('option', { name: /^uptime-rises on/ })
    .first()
    .waitFor();
  await expect.poll(() => running.size, patiently).toBe(0);
  expect(refused).toEqual([]);
  await page.keyboard.press('Escape');
  page.off('request', began).off('requestfailed', failed).off('requestfinished', ended);
}
