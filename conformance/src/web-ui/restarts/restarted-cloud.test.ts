/**
 * A cloud that ends while a person is in a dialog: nothing typed is lost, the dialog says what is so, and its button then works once. And two
 * persons who make the first machine at the same time.
 */
import { AppService } from '@platform/proto/platform/app/v1/app';
import { connect, type Link } from '@platform/rpc/client';
import { rollingSeed } from '@platform/testkit';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CloudUnderFire } from '../../crash/cloud-under-load.ts';
import { type OpenBrowser, openBrowser, shotPath, signInByLink } from '../../open-browser.ts';
import { baseOfScript } from '../../remote/base-of-script.ts';
import { machineServer } from '../../start-cloud.ts';
import { createEmptyOrganization } from '../first-steps/empty-organization.ts';
import { accessibilityFaults, build, buildOnce, patiently } from '../start-ui.ts';
import { type Asked, dialogs, type Place } from './dialogs.ts';

const timeoutMs = 110_000;
let cloud: CloudUnderFire;
let browser: OpenBrowser;
let context: BrowserContext;
let link: Link;
let place: Place;

beforeAll(async () => {
  buildOnce();
  cloud = await CloudUnderFire.start({ PLATFORM_WEB_UI: build, PLATFORM_MACHINE_SERVER: machineServer });
  place = cloud.ready as unknown as Place;
  const { keyId, key } = cloud.ready;
  await cloud.firstStartOver();
  browser = await openBrowser();
  await signInByLink(browser.page, cloud.signInLink);
  context = await browser.browser.newContext({ storageState: await browser.page.context().storageState() });
  context.setDefaultTimeout(timeoutMs);
  const credentials = { entity: String(keyId), type: 'api-key', payload: String(key) };
  link = connect({ baseUrl: cloud.url, credentials });
  await link.client(AppService).createOrganizationInvite({
    ...{ organizationId: place.organizationId, email: 'ada@example.com' },
  });
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await link?.[Symbol.asyncDispose]();
  await cloud?.[Symbol.asyncDispose]();
});

/** The cloud does it, but the browser never gets the answer. */
async function loseAnswer(page: Page, call: RegExp): Promise<void> {
  await page.route(
    call,
    async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    },
    { times: 1 },
  );
}

async function inOtherTab(path: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${cloud.url}${path}`);
  return page;
}

test('a cloud that is restarted while a person is in a dialog: what was typed stays, the dialog says what is so, and its button works once', async () => {
  const end = rollingSeed() % 2 === 0 ? () => cloud.kill() : () => cloud.stop();
  const opened: (Asked & { readonly page: Page })[] = [];
  for (const asked of dialogs) {
    const page = await inOtherTab(asked.path(place));
    await asked.fill(page);
    opened.push({ ...asked, page });
  }
  const finding = await inOtherTab(`/o/${place.organizationId}/machines`);
  await finding.getByRole('button', { name: /^Find anything/ }).click();
  await finding.getByRole('combobox', { name: 'Find anything' }).waitFor();
  const adding = await inOtherTab(`/o/${place.organizationId}/m/${place.machineId}/configure`);
  await adding.getByRole('button', { name: 'Add …' }).click();
  const restarting = await inOtherTab(`/o/${place.organizationId}/machines`);
  await restarting.getByRole('checkbox', { name: 'Select all shown' }).check();
  await restarting.getByRole('button', { name: 'Restart …' }).click();

  await end();
  for (const { page, send, typed, expected, name } of opened) {
    await send(page);
    await page.getByText('The cloud does not answer').first().waitFor();
    expect(await typed(page), name).toBe(expected);
  }
  await finding.getByRole('combobox', { name: 'Find anything' }).fill('restarted');
  await finding.getByText('The cloud does not answer: triggers,').waitFor();
  await adding.getByRole('combobox', { name: 'What to add' }).fill('fake servo');
  await adding.keyboard.press('Enter');
  await adding.getByRole('article', { name: 'servo' }).waitFor();
  await adding.getByText('The cloud does not answer').first().waitFor();
  await restarting.getByRole('button', { name: 'Restart 1', exact: true }).click();
  await restarting.getByText('0 will restart, 1 failed:').waitFor();
  // A page that was not open before says so, too, and opens as soon as it can.
  await finding.keyboard.press('Escape');
  await finding.getByRole('link', { name: 'Billing', exact: true }).click();
  await finding.getByText('The cloud does not answer').first().waitFor();

  await cloud.start();
  await finding.getByRole('heading', { name: 'Invoices' }).waitFor();
  await adding.getByText('The cloud does not answer').first().waitFor({ state: 'detached' });
  for (const { page, name, call, send, sendAgain = send, typed, expected, done, count } of opened) {
    await loseAnswer(page, call);
    await send(page);
    await page.getByText('It may have been done').waitFor();
    expect(await typed(page), name).toBe(expected);
    await sendAgain(page);
    await done(page);
    await expect.poll(() => count(link, place), { ...patiently, message: name }).toBe(1);
    await page.close();
  }
  await restarting.getByRole('button', { name: 'Try again 1', exact: true }).click();
  await restarting.getByText('1 machine will restart.').waitFor();
  await finding.keyboard.press('Control+k');
  await finding.getByRole('combobox', { name: 'Find anything' }).fill('restarted');
  await finding.getByRole('option', { name: /^restarted on .* trigger$/ }).waitFor();
  await finding.getByRole('option', { name: /^restarted dashboard\s*dashboard$/ }).waitFor();
  for (const page of [finding, adding, restarting]) await page.close();
});

const lineOf = async (page: Page): Promise<string> =>
  /http[^"]+/.exec((await page.getByText(/\| curl -fsS -K - \| sh$/).textContent()) ?? '')?.[0] ?? '';
const create = (page: Page): Promise<void> => page.getByRole('button', { name: 'Create machine' }).click();
const name = (page: Page) => page.getByLabel('Name', { exact: true });

test('two persons make the first machine at the same time: each is told the truth, no two have one name, and each line works', async () => {
  const organizationId = await createEmptyOrganization(browser.page);
  await using others = await browser.browser.newContext({ storageState: await context.storageState() });
  others.setDefaultTimeout(timeoutMs);
  const [hers, his] = [await context.newPage(), await others.newPage()];
  for (const page of [hers, his]) {
    await page.goto(`${cloud.url}/o/${organizationId}/machines`);
    await name(page).fill('press-7');
  }
  await create(hers);
  await hers.getByRole('list', { name: 'Progress' }).waitFor();
  // He sees her machine, and keeps his form.
  await his.getByRole('row', { name: /press-7/ }).waitFor();
  expect(await name(his).inputValue()).toBe('press-7');
  await create(his);
  await his.getByText('This location already has a machine called press-7').waitFor();
  expect(await accessibilityFaults(his)).toEqual([]);
  await his.setViewportSize({ width: 390, height: 800 });
  await his.screenshot({ path: shotPath('web-name-taken.png'), fullPage: true });
  await name(his).fill('press-8');
  await create(his);
  await his.getByRole('list', { name: 'Progress' }).waitFor();
  for (const line of [await lineOf(hers), await lineOf(his)])
    expect((await fetch(`${await baseOfScript(line)}/credentials`, { method: 'POST' })).status).toBe(200);

  // At once, with one name: one of them has made it.
  for (const page of [hers, his]) {
    await page.reload();
    await page.getByRole('button', { name: 'Connect a machine' }).click();
    await name(page).fill('press-9');
  }
  await Promise.all([create(hers), create(his)]);
  const told = (page: Page) => page.getByText('This location already has a machine called press-9');
  for (const page of [hers, his])
    await told(page)
      .or(page.getByRole('list', { name: 'Progress' }))
      .waitFor();
  const [maker, other] = (await told(his).count()) > 0 ? [hers, his] : [his, hers];
  expect(await told(maker).count()).toBe(0);
  await other.getByRole('button', { name: 'Connect that machine' }).click();
  await maker.getByText('someone has made a newer one').waitFor();
  expect((await fetch(`${await baseOfScript(await lineOf(other))}/credentials`, { method: 'POST' })).status).toBe(200);
  const { robots } = await listed(hers, organizationId);
  expect(robots.map((robot) => robot.name).toSorted()).toEqual(['press-7', 'press-8', 'press-9']);
});

/** Asked as the person who is signed in: the key of the link is of another organization. */
async function listed(page: Page, organizationId: string): Promise<{ robots: { name: string }[] }> {
  return await page.evaluate(`(async () => {
    const headers = { 'content-type': 'application/json', 'platform-session': localStorage.getItem('platform.session') };
    const init = { method: 'POST', headers, body: JSON.stringify({ orgId: ${JSON.stringify(organizationId)} }) };
    return (await fetch('/platform.app.v1.AppService/ListRobotsForOrg', init)).json();
  })()`);
}
