import { temporaryDirectory } from '@platform/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Peer } from '../clients/grpc-peer.ts';
import { baseOfScript } from '../remote/base-of-script.ts';
import { runLine, stopStarted } from '../remote/run-line.ts';
import { machineServer } from '../start-cloud.ts';
import { createEmptyOrganization } from './first-steps/empty-organization.ts';
import { beginOnPhone } from './first-steps/first-steps.ts';
import { accessibilityFaults, type RunningUi, startUi } from './start-ui.ts';

let ui: RunningUi;
beforeAll(async () => {
  ui = await startUi({ PLATFORM_MACHINE_SERVER: machineServer });
});
afterAll(() => ui?.[Symbol.asyncDispose]());

test('a machine made on the page starts with a configuration that captures, what is missing is named, and the line is offered again', async () => {
  const { page, cloud } = ui;
  await page.goto(`${cloud.url}/o/${cloud.organizationId}/machines`);
  await page.getByRole('row', { name: /Online/ }).waitFor();
  await page.getByRole('button', { name: 'Connect a machine' }).click();
  await page.getByText('which machines elsewhere cannot reach').waitFor();
  await page.getByText('start it with --host 0.0.0.0').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('press-21');
  await page.getByRole('button', { name: 'Create machine' }).click();
  const progress = page.getByRole('list', { name: 'Progress' });
  await progress.getByText('Connected: the machine has never connected: run the line on it.').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('link', { name: 'Open press-21' }).click();
  // Its own page offers the line again, as the row does.
  const panel = page.getByRole('region', { name: 'Connect this machine' });
  await panel.getByRole('button', { name: 'Show the line to run' }).click();
  await panel.getByText(/\| curl -fsS -K - \| sh$/).waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByText('the configuration captures, but no reading has arrived').waitFor();
  // Somebody else makes a line for the same machine.
  using peer = await new Peer(cloud.target).signIn(cloud.keyId, 'api-key', cloud.key);
  const partId = await panel.page().locator('dt:text-is("Part id") + dd').textContent();
  await peer.call('platform.fleet.v1.FleetService', 'CreateConnectToken', { part_id: partId });
  await panel.getByText('someone has made a newer one, or the cloud was restarted').waitFor();
  await panel.getByRole('button', { name: 'Make a new line' }).click();
  await panel.getByText('This line does not work any more').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Machines', exact: true }).first().click();
  await page.getByRole('link', { name: 'Connect press-21' }).click();
  await panel.getByRole('button', { name: 'Show the line to run' }).waitFor();
});

test('who connects a machine on the page sees how often and from where the line was fetched, and where the credentials went', async () => {
  const { page, cloud } = ui;
  await page.goto(`${cloud.url}/o/${cloud.organizationId}/machines`);
  await page.getByRole('row', { name: /Online/ }).waitFor();
  await page.getByRole('button', { name: 'Connect a machine' }).click();
  await page.getByLabel('Name', { exact: true }).fill('press-20');
  await page.getByRole('button', { name: 'Create machine' }).click();
  const line = await page.getByText(/\| curl -fsS -K - \| sh$/).textContent();
  expect(line).toMatch(/^printf 'url="http:\/\/[^"]+\/connect\/[\w-]+"\\n' \| curl/);
  const url = /http[^"]+/.exec(line ?? '')?.[0] ?? '';
  await (await fetch(url)).text();
  await page.getByText('The line was fetched once').waitFor();
  const base = await baseOfScript(url);
  await page.getByText('The line was fetched 2 times, and only the last fetch counts').waitFor();
  expect(await page.getByText(/, from 127\.0\.0\.1$/).count()).toBe(2);
  await fetch(`${base}/credentials`, { method: 'POST' });
  await page.getByText('The credentials went to 127.0.0.1.').waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
});

test('on a phone, in an empty organization: from the first machine to its first reading, capture to a chart, and a failing trigger mended', async () => {
  const { page, cloud } = ui;
  await using home = await temporaryDirectory('first-machine-');
  await using started = new AsyncDisposableStack();
  started.defer(() => stopStarted(home.path));
  const organizationId = await createEmptyOrganization(page);
  await beginOnPhone(page, {
    machines: `${cloud.url}/o/${organizationId}/machines`,
    cloudUrl: cloud.url,
    runLine: async (line) => expect(await runLine(line, home.path)).toMatchObject({ code: 0 }),
  });
});
