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
import { pageSeries } from './page-series.ts';
import { useQueryTools } from './query-tools.ts';
import { readHistory } from './read-history.ts';
import { useSettings } from './settings.ts';
import { shareDashboard } from './share-dashboard.ts';
import { showModules } from './show-modules.ts';
import { accessibilityFaults, patiently, type RunningUi, startUi } from './start-ui.ts';
import { uploadPicture } from './upload-picture.ts';
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
  await uploadPicture(ui.cloud);
  await page.getByRole('link', { name: 'Data' }).click();
  await page.getByRole('button', { name: 'Delete readings of host Readings' }).click();
  const deleting = page.getByRole('dialog', { name: 'Delete readings' });
  await deleting.getByLabel('Which readings, by UTC day of capture').selectOption('All up to now');
  await deleting.getByRole('button', { name: 'Count' }).click();
  await deleting.getByText(/^[1-9][\d,]* readings would be deleted/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await deleting.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Pictures and files' }).click();
  await page.getByRole('button', { name: /gate\.png/ }).click();
  const picture = page.getByRole('dialog', { name: 'gate.png' });
  await expect
    .poll(
      () => picture.getByRole('img').evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
      patiently,
    )
    .toBe(1);
  await picture.getByLabel('New tag').fill('defect');
  await picture.getByRole('button', { name: 'Add tag' }).click();
  await picture.getByRole('button', { name: 'Remove tag defect' }).waitFor();
  await picture.getByLabel('Dataset', { exact: true }).fill('First shift');
  await picture.getByRole('button', { name: 'Add to dataset' }).click();
  await picture.getByRole('button', { name: 'Remove from dataset First shift' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('web-picture.png') });
  const saved = page.waitForEvent('download');
  await picture.getByRole('button', { name: 'Download' }).click();
  expect((await readFile(await (await saved).path())).toString('latin1').slice(1, 4)).toBe('PNG');
  await picture.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('combobox', { name: 'Dataset' }).selectOption('First shift');
  await page.getByRole('button', { name: /gate\.png/ }).waitFor();
  await page.screenshot({ path: shotPath('web-files.png') });
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: /gate\.png/ }).click();
  await picture.getByRole('button', { name: 'Delete' }).click();
  await picture.getByRole('button', { name: 'Delete permanently' }).click();
  await page.getByText('No picture or file matches the filter.').waitFor();
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
  await page.getByRole('link', { name: 'New trigger' }).click();
  await page.getByLabel('Event').selectOption('capture_stopped');
  const duration = page.getByRole('spinbutton', { name: /^for s while the machine is online/ });
  await duration.fill('0');
  await duration.press('Tab');
  await page.getByText('expected a number above 0').waitFor();
  expect(await page.getByText('triggers[0].name').count()).toBe(0);
  await page.getByLabel('Event').selectOption('conditional_data_ingested');
  await page.getByLabel('Name').fill('uptime-rises');
  await page.getByLabel('Captured method').fill('sensor:host:Readings');
  await page.getByLabel('Field').fill('uptime_seconds');
  await page.getByLabel('Value').fill('0');
  await page.getByRole('button', { name: 'Add condition' }).click();
  const second = page.getByRole('group', { name: 'Condition 2' });
  await second.getByLabel('Field').fill('cpu_percent');
  await second.getByLabel('Value').fill('900');
  await page.getByLabel('Conditions that must hold').selectOption('any');
  await page.getByLabel('When it fires').selectOption('times');
  await page.getByLabel('When it is over').selectOption('clear');
  await page
    .getByText('in 3 readings of sensor:host:Readings within 600 s, and again when uptime_seconds is below 0.')
    .waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByLabel('When it is over').selectOption('opposite');
  await page.getByLabel('When it fires').selectOption('each');
  await page.getByText('each time that uptime_seconds is above 0 or cpu_percent is above 900').waitFor();
  await page.getByLabel('Channel').selectOption('webhook');
  await page.getByRole('button', { name: 'Use the test inbox' }).click();
  const json = page.getByRole('textbox', { name: 'Trigger in JSON' });
  await json.getByText('/test-inbox/webhooks/uptime-rises').waitFor();
  await page.reload();
  await page.getByText('This is your earlier draft').waitFor();
  await json.getByText('/test-inbox/webhooks/uptime-rises').waitFor();
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
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Deliveries' }).click();
  await page
    .getByRole('row', { name: /Delivered .* uptime-rises/ })
    .first()
    .waitFor();
  // Times are in the zone that was chosen, and in UTC in the address.
  await page.getByLabel('From', { exact: true }).fill('2020-01-01T00:00');
  await page.waitForURL(/from=2020-01-01T00%3A00%3A00\.000Z/);
  await page.getByLabel('Until', { exact: true }).fill('2020-01-02T00:00');
  await page.getByText('Nothing matches.').waitFor();
  await page.getByLabel('Until', { exact: true }).fill('');
  await page
    .getByRole('row', { name: /Delivered .* uptime-rises/ })
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Resend failed deliveries' }).click();
  const replaying = page.getByRole('dialog', { name: 'Resend failed deliveries' });
  await replaying.getByLabel('Include delivered ones').check();
  await replaying.getByRole('button', { name: 'Count' }).click();
  await replaying.getByText(/^[1-9]\d* deliveries would be sent again/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await replaying.getByRole('button', { name: 'Cancel' }).click();
  await page
    .getByRole('row', { name: /webhook .*uptime-rises/ })
    .first()
    .getByRole('button', { name: /^Details of/ })
    .click();
  await page.getByText('Attempts').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Pause this target' }).click();
  const paused = page.getByRole('region', { name: 'Paused targets' });
  await paused.getByText('/test-inbox/webhooks/uptime-rises').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.screenshot({ path: shotPath('web-paused-targets.png'), fullPage: true });
  await paused.getByRole('button', { name: /^Resume/ }).click();
  await paused.waitFor({ state: 'detached' });
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

  const anything = page.getByRole('combobox', { name: 'Find anything' });
  await page.keyboard.press('Control+k');
  await anything.fill('add machine');
  await page.keyboard.press('Enter');
  const adding = page.getByRole('dialog', { name: 'Connect a machine' });
  await adding.getByRole('button', { name: 'Create machine' }).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await adding.waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await anything.fill('stop all');
  await page.keyboard.press('Enter');
  await page.getByText('was told to stop').waitFor();
  // What the cloud finds: dashboards, triggers, deliveries, components.
  await page.keyboard.press('Control+k');
  for (const [text, option] of [
    ['every morning', /^Every morning\s*dashboard/],
    ['uptime rises', /^uptime-rises on .* trigger$/],
    ['test-inbox', /, \w+, .* \d\d:\d\d:\d\d \S+, to http.*test-inbox.*delivery$/],
  ] as const) {
    await anything.fill(text);
    await page.getByRole('option', { name: option }).first().waitFor();
  }
  await anything.fill('host readings');
  await page.getByRole('option', { name: /^host Readings of .* component$/ }).click();
  await page.getByRole('heading', { name: 'Data', level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await anything.fill('configure');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.keyboard.press('Enter');

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
  await connectProgram(ui, 'probe');
  expect(await accessibilityFaults(page)).toEqual([]);
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
  // Repeated answers of machines arrive over the live connection, so that no request waits behind a slow one.
  expect(asked.filter((path) => /^\/platform\.(component|robot)\..*\/(Get|Is|Resource)/.test(path))).toEqual([]);
  expect(asked.filter((path) => path.endsWith('LiveService/Watch'))).not.toEqual([]);

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

  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  await page.goto(`${cloud.url}/o/${cloud.organizationId}/machines`);
  expect(new URL(page.url()).pathname).toBe('/sign-in');
  // The other journeys cause refusals, and take the cloud away. Here, readings of `probe` are requested until the machine has applied
  // the restored version, which does not have it.
  expect(faults.filter((text) => !/400|401|404|500|502|504|ERR_INTERNET_DISCONNECTED/.test(text))).toEqual([]);
});
