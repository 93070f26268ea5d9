/** A cloud that refuses calls beside a live connection, or is used from many tabs: pages say so, and stay usable. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answers, anyCall, Refusals, visit } from './answer-with.ts';
import { startWatchedUi, type WatchedUi } from './watched-ui.ts';

let ui: WatchedUi;
beforeAll(async () => {
  ui = await startWatchedUi();
});
afterAll(() => ui?.[Symbol.asyncDispose]());

test.each(answers)('%s to calls of a machine page beside its live connection: it says so', async (answer) => {
  const { page, cloud } = ui;
  const machine = `/o/${cloud.organizationId}/m/${cloud.machineId}`;
  await page.goto(`${cloud.url}${machine}/control`);
  await page.getByRole('region', { name: 'host' }).waitFor();
  await using refusals = new Refusals(page, anyCall, /LiveService/);
  for (const path of ['', '/configure']) {
    const said = await refusals.answer(answer);
    await visit(page, `${machine}${path}`);
    await page.getByText(said).first().waitFor();
  }
  expect(ui.uncaught).toEqual([]);
});

test('ten tabs at once: each shows the machines, follows what changes, and opens other pages', async () => {
  const { browser, page, cloud } = ui;
  const machines = `${cloud.url}/o/${cloud.organizationId}/machines`;
  await using context = await browser.newContext({ storageState: await page.context().storageState() });
  context.setDefaultTimeout(110_000);
  const tabs: Page[] = [];
  while (tabs.length < 10) {
    const tab = await context.newPage();
    tabs.push(tab);
    await tab.goto(machines);
    await tab.getByRole('row', { name: /Online/ }).waitFor();
  }
  // A browser has six connections over HTTP/1.1 for all of them.
  const [last] = tabs.slice(-1);
  await last?.getByRole('button', { name: 'Connect a machine' }).click();
  await last?.getByLabel('Name', { exact: true }).fill('seen-everywhere');
  await last?.getByRole('button', { name: 'Create machine' }).click();
  for (const tab of tabs) await tab.getByRole('row', { name: /seen-everywhere/ }).waitFor();
  for (const tab of tabs.slice(0, -1)) {
    await tab.getByRole('link', { name: 'Triggers', exact: true }).click();
    await tab.getByRole('table').waitFor();
    await tab.getByRole('link', { name: 'Query', exact: true }).click();
    await tab.getByText(/^[\d,]+ rows/).waitFor();
  }
});
