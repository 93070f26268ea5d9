/** What the Query page offers besides rows: explanation, counts per stage, marks of errors, completion, saved queries. */
import { expect } from 'vitest';
import { accessibilityFaults, patiently, type RunningUi } from './start-ui.ts';

/** Starts on the Query page, with its first sample. */
export async function useQueryTools({ page }: RunningUi): Promise<void> {
  await page.getByText(/\d k?M?B scanned · [\d.]+ k?M?B of [\d.]+ TB this month$/).waitFor();
  await page.getByRole('button', { name: 'Explain' }).click();
  await page
    .getByRole('region', { name: 'How the query runs' })
    .getByText(/^The answer has/)
    .waitFor();
  const stages = page.getByRole('group', { name: 'Stages' });
  await stages.getByRole('button', { name: 'Count after each stage' }).click();
  await stages.getByText(/^\$limit\s?[1-9]/).waitFor();
  expect((await accessibilityFaults(page)).join('\n')).toBe('');

  // After an error, the rows of the query before are marked as old.
  await page.route('**/api/query', (route) => route.fulfill({ status: 504, body: '' }));
  const run = page.getByRole('button', { name: /^Run/ });
  await run.click();
  await page.getByText(/^Old: these rows are as of .* They answer the query that ran before\.$/).waitFor();
  await page.getByText(/^old, as of .*\d\d:\d\d:\d\d \S/).waitFor();
  await page.unroute('**/api/query');
  await run.click();
  await page.getByText(/^Old: /).waitFor({ state: 'detached' });
  await page.getByLabel('Time range').selectOption('From … until …');
  await page.getByText(/"\$gte":"20[^"]*Z","\$lt":"20[^"]*Z"/).waitFor();
  await page.getByLabel('Time range').selectOption('Last hour');

  await page.getByRole('button', { name: 'Saved queries' }).click();
  const saved = page.getByRole('dialog', { name: 'Saved queries' });
  await saved.getByText('No queries are saved yet').waitFor();
  await saved.getByLabel('Save the query on the page as').fill('Processor of the plant');
  expect((await accessibilityFaults(page)).join('\n')).toBe('');
  await saved.getByRole('button', { name: 'Save query' }).click();
  await saved.waitFor({ state: 'detached' });

  const editor = page.getByRole('textbox', { name: 'Query' });
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('[{ "$match": { "');
  await page.keyboard.type('cpu');
  const field = page.getByRole('option', { name: /^data\.readings\.cpu_percent(?!_)/ }).first();
  const isChosen = async (): Promise<boolean> => (await editor.getByText('data.readings.cpu_percent').count()) > 0;
  // Stored fields may still be on their way, and the editor ignores a click right after its list has opened.
  await expect
    .poll(async () => {
      if (await isChosen()) return true;
      if ((await field.count()) === 0) await page.keyboard.press('Control+Space');
      else await field.click({ timeout: 1_000 }).catch(() => {});
      return await isChosen();
    }, patiently)
    .toBe(true);

  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('[{ "$match": { "data.readings.cpu_percnt": 1 } }]');
  const notice = page.getByText(
    '△ no stored reading has a field "data.readings.cpu_percnt"; nearest: "data.readings.cpu_percent"',
  );
  // A cloud that is busy answers without the notice.
  await expect
    .poll(async () => {
      await page.keyboard.press('Control+Enter');
      await notice.waitFor({ timeout: 2_000 }).catch(() => {});
      return await notice.count();
    }, patiently)
    .toBe(1);

  await page.getByRole('button', { name: 'Saved queries' }).click();
  await saved
    .getByRole('list', { name: 'Of the organization' })
    .getByRole('button', { name: 'Processor of the plant MQL' })
    .click();
  await editor.getByText('component_name').waitFor();
}
