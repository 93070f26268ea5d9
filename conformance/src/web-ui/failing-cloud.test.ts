/** A cloud that answers with every code, is away, slow or used from many tabs: each page says so, keeps typed text and stays usable. */

import { rollingSeed } from '@platform/testkit';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answers, answersFor, anyCall, holdCalls, Refusals, visit } from './answer-with.ts';
import { type RefusedForm, refusedForms } from './refused-forms.ts';
import { accessibilityFaults, type RunningUi, startUi } from './start-ui.ts';

/** Decides which answer each page and each form meets in this run. */
const seed = rollingSeed();
let ui: RunningUi;
const uncaught: string[] = [];
beforeAll(async () => {
  ui = await startUi();
  ui.page.on('pageerror', (error) => uncaught.push(error.message));
  await ui.page.getByRole('row', { name: /Online/ }).waitFor();
});
afterAll(() => ui?.[Symbol.asyncDispose]());

/** Paths, with the heading of each page. */
const pages = [
  ['machines', 'Machines'],
  ['dashboards', 'Dashboards'],
  ['dashboards/none', 'Dashboard'],
  ['query', 'Query'],
  ['data', 'Data'],
  ['data?view=files', 'Data'],
  ['triggers', 'Triggers'],
  ['deliveries', 'Deliveries'],
  ['billing', 'Billing'],
  ['settings', 'Settings'],
  ['settings?show=keys', 'Settings'],
  ['settings?show=organization', 'Settings'],
  ['settings?show=limits', 'Settings'],
  ['settings?show=inbox', 'Settings'],
  ['settings?show=audit', 'Settings'],
] as const;

test.each(answers)('%s to every call: each page says so, and others can be opened', async (answer) => {
  const { page, cloud } = ui;
  const base = `/o/${cloud.organizationId}`;
  await using refusals = new Refusals(page, anyCall);
  const first = await refusals.answer(answer);
  await page.goto(`${cloud.url}${base}/machines`);
  await page.getByText(first).first().waitFor();
  for (const [number, [path, heading]] of pages.entries()) {
    if (path === 'machines' || !answersFor(number, seed).includes(answer)) continue;
    const said = await refusals.answer(answer);
    await visit(page, `${base}/${path}`);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    await page.getByText(said).first().waitFor();
  }
  const said = await refusals.answer(answer);
  await visit(page, `${base}/m/${cloud.machineId}`);
  await page.getByRole('heading', { level: 1, name: 'Machine' }).waitFor();
  await page.getByText(said).first().waitFor();
  expect(uncaught).toEqual([]);
});

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
  expect(uncaught).toEqual([]);
});

test.each(refusedForms)('$name: what was typed stays, whatever the cloud answers', async (form) => {
  const { page, cloud } = ui;
  await page.goto(`${cloud.url}${form.path(cloud)}`);
  await form.fill(page);
  await refuseAll(page, form);
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(uncaught).toEqual([]);
});

async function refuseAll(page: Page, form: RefusedForm): Promise<void> {
  await using refusals = new Refusals(page, form.call);
  for (const answer of answersFor(refusedForms.indexOf(form), seed)) {
    if (form.but?.includes(answer)) continue;
    const said = await refusals.answer(answer);
    await form.send(page);
    await page.getByText(said).first().waitFor();
    if (answer === 'unauthenticated') {
      const again = page.getByRole('button', { name: 'Continue', exact: true });
      await again.click();
      // When the dialog closes, the focus returns to the form, and the page may scroll there.
      await again.waitFor({ state: 'hidden' });
    }
    expect(await form.typed(page)).toBe(form.expected);
  }
}

test('a slow cloud: each page can be left before the cloud answers, and shows its content as soon as it does', async () => {
  const { page, cloud } = ui;
  const base = `/o/${cloud.organizationId}`;
  const held = await holdCalls(page);
  await page.goto(`${cloud.url}${base}/machines`);
  await page.getByText('Loading machines').waitFor();
  for (const [path, heading] of pages) {
    await visit(page, `${base}/${path}`);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  }
  await page.getByText('Loading').first().waitFor();
  await held[Symbol.asyncDispose]();
  await page.getByRole('table').first().waitFor();
  await page.getByRole('link', { name: 'Machines', exact: true }).click();
  await page.getByRole('row', { name: /Online/ }).waitFor();
  expect(uncaught).toEqual([]);
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
