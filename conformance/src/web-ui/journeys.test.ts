/** Journeys of people in the web UI, by role and name, in a real browser against a real cloud and a real machine-server. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shotPath } from '../open-browser.ts';
import { largeAnswersAreCut } from './bad-input.ts';
import { billOrganization } from './bill-organization.ts';
import { browseData } from './browse-data.ts';
import { chargeOrganization } from './charge-organization.ts';
import { configureByCards } from './configure-by-cards.ts';
import { connectProgram } from './connect-program.ts';
import { holdToMove } from './hold-to-move.ts';
import { showHostileNames } from './hostile-names.ts';
import { findAnything } from './journeys/find-anything.ts';
import { followDeliveries } from './journeys/follow-deliveries.ts';
import { keepPictures } from './journeys/keep-pictures.ts';
import { readLogs } from './journeys/read-logs.ts';
import { writeTrigger } from './journeys/write-trigger.ts';
import { pageSeries } from './page-series.ts';
import { useQueryTools } from './query-tools.ts';
import { readHistory } from './read-history.ts';
import { useSettings } from './settings.ts';
import { shareDashboard } from './share-dashboard.ts';
import { showModules } from './show-modules.ts';
import { accessibilityFaults, patiently, type RunningUi, startUi } from './start-ui.ts';
import { usePhone } from './use-phone.ts';

/** One cloud and one machine for all journeys; the last one signs out. */
let ui: RunningUi;
/** Link to the dashboard with the panel `Processor`. */
let dashboard = '';
beforeAll(async () => {
  ui = await startUi();
});
afterAll(() => ui?.[Symbol.asyncDispose]());

test('sign in by link; a query becomes a chart, a table and a dashboard; stored data is browsed, tagged and deleted', async () => {
  const { page } = ui;
  await page.getByRole('link', { name: 'Query' }).click();
  await page.getByRole('button', { name: 'Run' }).waitFor();
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Run' }).click();
      await page.getByText(/^\d+ rows/).waitFor();
      return page.getByRole('img', { name: /Line chart of cpu_percent/ }).count();
    }, patiently)
    .toBe(1);
  expect(await accessibilityFaults(page)).toEqual([]);
  await useQueryTools(ui);
  await page.getByRole('button', { name: 'Pin to dashboard' }).click();
  const pinning = page.getByRole('dialog', { name: 'Pin to a dashboard' });
  await pinning.getByLabel('Title').fill('Processor');
  await pinning.getByLabel('Name of the new dashboard').fill('Every morning');
  expect(await accessibilityFaults(page)).toEqual([]);
  await pinning.getByRole('button', { name: 'Pin', exact: true }).click();
  await page.getByRole('link', { name: 'Open dashboard' }).click();
  await page
    .getByRole('region', { name: 'Processor' })
    .getByRole('img', { name: /Line chart of cpu_percent/ })
    .waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  dashboard = await shareDashboard(ui);
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('button', { name: 'Remove Processor' }).click();
  await page.getByText('Nothing is pinned.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('region', { name: 'Processor' }).waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'Table' }).click();
  await page.getByRole('columnheader', { name: 'cpu_percent' }).waitFor();
  const table = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download CSV' }).click();
  expect(await readFile(await (await table).path(), 'utf8')).toMatch(/^time_received,cpu_percent\r\n/);
  await page.getByRole('button', { name: 'Readings by component' }).click();
  await page.getByRole('cell', { name: 'host' }).waitFor();
  await page.getByRole('button', { name: 'SQL', exact: true }).click();
  await page.getByRole('textbox', { name: 'Query' }).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('SELECT nothing FROM nowhere');
  await page.reload();
  await page.getByText('This is what you typed earlier').waitFor();
  await page.getByRole('textbox', { name: 'Query' }).getByText('SELECT nothing').click();
  await page.keyboard.press('Control+Enter');
  await page.getByRole('alert').waitFor();
  await page.locator('.cm-lintRange-error').waitFor();

  await browseData(ui);
  await pageSeries(page);
  // In the list; the chart of the series has the same link once it is shown.
  await page.getByRole('link', { name: 'cpu_percent', exact: true }).first().click();
  await page.getByRole('img', { name: /Line chart of value/ }).waitFor();
  await keepPictures(ui);
});

test('a new trigger is tried, saved, tested and delivered', async () => {
  const { page } = ui;
  await page.getByRole('link', { name: 'Triggers' }).click();
  await page
    .getByRole('button', { name: /^Try on last day/ })
    .first()
    .click();
  await page
    .getByText(/Would have fired|cannot run/)
    .first()
    .waitFor();
  await writeTrigger(page);
  await page.getByRole('button', { name: 'Try on the last 24 hours' }).click();
  await page.getByText(/Would have fired [1-9]/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Save trigger' }).click();
  await page.getByRole('link', { name: 'uptime-rises' }).waitFor();
  await page
    .getByRole('button', { name: /^Send test of/ })
    .first()
    .click();
  await page.getByText(/^The test webhook to .* was delivered, with 200, in \d+ ms\.$/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await followDeliveries(page);
});

test('an invoice is charged and downloaded; members, keys and settings are changed', async () => {
  const { page, faults } = ui;
  await page.getByRole('link', { name: 'Billing' }).click();
  await page.getByRole('heading', { name: 'Invoices' }).waitFor();
  await page.getByText('This organization is not billed monthly').waitFor();
  await billOrganization(ui.cloud);
  await page.getByRole('button', { name: 'Attach a test card' }).click();
  // The cloud's provider is `test`: a page of Stripe could not be opened.
  expect(await page.getByRole('button', { name: 'Attach a card', exact: true }).count()).toBe(0);
  await page.getByText(/ending in \d{4}/).waitFor();
  await chargeOrganization(ui);
  const saved = page.waitForEvent('download');
  await page
    .getByRole('button', { name: /^PDF of/ })
    .first()
    .click();
  const pdf = await readFile(await (await saved).path());
  expect(pdf.subarray(0, 5).toString('latin1')).toBe('%PDF-');
  expect(await accessibilityFaults(page)).toEqual([]);
  await useSettings(ui, dashboard);
  // Refused: a query; push credentials, of which there were none before; a payment that no one confirms.
  expect(faults.filter((text) => !/400|404|504/.test(text))).toEqual([]);

  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 390, height: 800 });
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
  await usePhone(ui);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 720 });
});

test('the page reports an unreachable cloud and an ended session, keeps what was typed, and continues by itself', async () => {
  const { page } = ui;
  await page.getByLabel('Name').fill('half typed');
  await page.context().setOffline(true);
  await page.getByText('Not up to date, trying again').waitFor();
  await page.context().setOffline(false);
  await page.getByText('Not up to date, trying again').waitFor({ state: 'detached' });

  const refused = { status: 401, json: { code: 'unauthenticated', message: 'the session ended' } };
  await page.route('**/platform.live.v1.LiveService/Watch', (route) => route.fulfill(refused));
  // The open connection is not refused; a new one is.
  await page.context().setOffline(true);
  await page.getByText('Not up to date, trying again').waitFor();
  await page.context().setOffline(false);
  const ended = page.getByRole('dialog', { name: 'Your session has ended' });
  await ended.waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await ended.getByRole('button', { name: 'Continue' }).click();
  await ended.waitFor({ state: 'hidden' });
  expect(await page.getByLabel('Name').inputValue()).toBe('half typed');
});

test('a million rows, cells of 4 MB and names with markup are cut and shown as text', async () => {
  await largeAnswersAreCut(ui.page);
});

test('names of 10 kB and from right to left break no page, at the widths of a desktop and of a phone', async () => {
  await showHostileNames(ui);
});

test('see the machine online, edit its configuration and see it applied, restore it, sign out', async () => {
  const { page, faults, cloud } = ui;
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(cloud.url);
  const machines = page.getByRole('row', { name: /Online/ });
  await machines.waitFor();
  expect(new URL(page.url()).pathname).toBe(`/o/${cloud.organizationId}/machines`);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('web-machines.png') });

  await page.getByLabel('Filter machines').fill('offline');
  await page.getByText('No machine matches').waitFor();
  await page.waitForURL(/q=offline/);
  await page.getByRole('button', { name: 'Clear the filter' }).click();

  await page.getByRole('checkbox', { name: 'Select all shown' }).check();
  await page.getByRole('button', { name: 'Restart …' }).click();
  const confirming = page.getByRole('dialog', { name: 'Restart 1 machine?' });
  await confirming.getByRole('button', { name: 'Restart 1' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await confirming.getByRole('button', { name: 'Cancel' }).click();

  await findAnything(page);

  const editor = page.getByRole('textbox', { name: 'Configuration in JSON' });
  const trigger = page.getByRole('article', { name: 'uptime-rises' });
  await trigger.getByRole('button', { name: /^uptime-rises/ }).click();
  await trigger.getByLabel('Channel').selectOption('email');
  await trigger.getByLabel('Recipient').fill('ada@example.com');
  await editor.getByText('ada@example.com').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await editor.click();
  await page.keyboard.press('Control+a');
  const components = [
    { name: 'probe', api: 'rdk:component:sensor', model: 'rdk:builtin:fake' },
    { name: 'wheel', api: 'rdk:component:motor', model: 'rdk:builtin:fake' },
  ];
  await page.keyboard.insertText(JSON.stringify({ components }));
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('textbox', { name: 'Changes' }).getByText('probe').waitFor();
  await page.getByRole('button', { name: 'Save version' }).click();
  // Version 2 has the new trigger.
  await page.getByText('Saved as version 3.').waitFor();
  await page.getByRole('status', { name: 'Configuration' }).getByText('applied ✓').waitFor();
  await configureByCards(ui);
  await page.screenshot({ path: shotPath('web-configure.png') });

  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('row', { name: /Ready probe sensor/ }).waitFor();
  await page.getByRole('list', { name: 'Gaps' }).getByRole('listitem').first().waitFor();
  const newest = page.getByRole('region', { name: 'Newest readings' });
  await newest.getByText('cpu_percent', { exact: true }).waitFor();
  await newest
    .getByRole('definition')
    .getByText(/^[\d.]+ %$/)
    .first()
    .waitFor();
  await newest
    .getByRole('definition')
    .getByText(/^[\d.]+ [kMGT]B$/)
    .first()
    .waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await connectProgram(ui, 'probe');
  await showModules(ui, components);

  await page.getByRole('link', { name: 'Control' }).click();
  await holdToMove(page);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('web-control.png') });

  await page.getByRole('link', { name: 'Configure' }).click();
  await readHistory(ui);
  await page.getByRole('button', { name: 'Compare and restore version 1' }).click();
  const restoring = page.getByRole('dialog', { name: 'Restore version 1: what changes' });
  await restoring.getByText('probe').waitFor();
  await restoring.getByRole('button', { name: 'Restore version 1' }).click();
  await page.getByText('Restored version 1.').waitFor();

  await page.getByRole('link', { name: 'Control' }).click();
  await page.getByRole('region', { name: 'host' }).getByText('uptime_seconds').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByText('was told to stop').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Stop all' }).click();
  await page.getByText('was told to stop').waitFor();
  // Repeated answers of machines arrive over the live connection, so that no request waits behind a slow one; only how long a path takes
  // is measured on the path.
  const repeated = asked.filter((path) => /^\/platform\.(component|robot)\..*\/(Get|Is|Resource)/.test(path));
  expect(repeated.filter((path) => !path.endsWith('RobotService/GetVersion'))).toEqual([]);
  expect(asked.filter((path) => path.endsWith('LiveService/Watch'))).not.toEqual([]);

  await readLogs(page);

  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  await page.goto(`${cloud.url}/o/${cloud.organizationId}/machines`);
  expect(new URL(page.url()).pathname).toBe('/sign-in');
  // The other journeys cause refusals, and take the cloud away. Here, readings of `probe` are requested until the machine has applied
  // the restored version, which does not have it.
  expect(faults.filter((text) => !/400|401|404|500|502|504|ERR_INTERNET_DISCONNECTED/.test(text))).toEqual([]);
});
