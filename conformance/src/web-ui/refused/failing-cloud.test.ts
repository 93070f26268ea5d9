/** A cloud that answers with every code, is away or slow: each page says so, keeps typed text and stays usable. */

import { rollingSeed } from '@platform/testkit';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityFaults } from '../start-ui.ts';
import { answers, answersFor, anyCall, holdCalls, Refusals, visit } from './answer-with.ts';
import { type RefusedForm, refusedForms } from './refused-forms.ts';
import { startWatchedUi, type WatchedUi } from './watched-ui.ts';

/** Decides which answer each page and each form meets in this run. */
const seed = rollingSeed();
let ui: WatchedUi;
beforeAll(async () => {
  ui = await startWatchedUi();
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
  expect(ui.uncaught).toEqual([]);
});

test.each(refusedForms)('$name: what was typed stays, whatever the cloud answers', async (form) => {
  const { page, cloud } = ui;
  await page.goto(`${cloud.url}${form.path(cloud)}`);
  await form.fill(page);
  await refuseAll(page, form);
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(ui.uncaught).toEqual([]);
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
  expect(ui.uncaught).toEqual([]);
});
