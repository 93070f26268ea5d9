/** In Chromium, without the web UI: the pages to which mails lead, and downloads. Signing in is in sign-in.test.ts and cli/login.test.ts. */
import { readFile } from 'node:fs/promises';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { type SmtpSink, startSmtpSink } from '@platform/testkit';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { CloudUnderFire, linkOfOwner, uploadUntil } from './crash/cloud-under-load.ts';
import { openBrowser, signInByLink } from './open-browser.ts';

const email = 'ada@example.com';

/** The address in the newest mail that matches. */
async function addressIn(server: SmtpSink, count: number, pattern: RegExp): Promise<string> {
  const mails = await server.waitFor(count);
  const address = mails.findLast(({ text }) => pattern.test(text))?.text.match(pattern)?.[0];
  if (address === undefined) throw new Error(`expected a mail with ${pattern}, found ${mails.map(({ text }) => text)}`);
  return address;
}

test('D49 in Chromium without the web UI: an invitation, a new password, the page of a notification, and the end of its mails', async () => {
  await using server = await startSmtpSink();
  const mail = { PLATFORM_SMTP_URL: server.url, PLATFORM_MAIL_FROM: 'cloud@example.com' };
  await using cloud = await CloudUnderFire.start(mail);
  await using owner = linkOfOwner(cloud);
  const app = owner.client(AppService);
  const { organizationId, partId } = cloud.demo;
  const role = { authorizationType: 'role', authorizationId: 'organization_owner', identityType: '' };
  const on = { resourceType: 'organization', resourceId: organizationId, organizationId };
  await app.createOrganizationInvite({ organizationId, email, authorizations: [{ ...role, ...on }] });
  await using opened = await openBrowser();
  const { page, faults } = opened;

  await page.goto(await addressIn(server, 1, /http\S+\/invitations\/accept\S+/));
  await page.getByLabel('Your name').fill('Ada');
  await page.getByLabel('Choose a password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByText('uploads accepted').waitFor();
  await signOut(page, cloud.url);

  await page.getByText('Forgot your password?').click();
  await page.locator('#forgotten').fill(email);
  await page.getByRole('button', { name: 'Mail me a link' }).click();
  await page.getByText('Check your mail').first().waitFor();
  await page.goto(await addressIn(server, 2, /http\S+\/sign-in\/reset\S+/));
  await page.getByLabel('New password').fill('battery horse correct');
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByText('uploads accepted').waitFor();

  const event = { type: 'part_data_ingested', data_ingested: { data_types: ['tabular'] } };
  const triggers = [{ name: 'arrived', event, notifications: [{ type: 'email', value: email }] }];
  await app.updateRobotPart({ id: partId, name: 'main', robotConfig: { triggers } });
  let uploads = 0;
  await uploadUntil(cloud, 'press', () => uploads++ > 0);
  await page.goto(await addressIn(server, 3, /http\S+\/notifications\/msg_\w+/));
  await page.getByRole('cell', { name: 'arrived' }).waitFor();
  await signOut(page, cloud.url);
  await page.goto(await addressIn(server, 3, /http\S+\/notifications\/msg_\w+/));
  await page.getByLabel('Password').waitFor();

  await page.goto(await addressIn(server, 3, /http\S+\/unsubscribe\S+/));
  await page.getByRole('button', { name: 'Stop these mails' }).click();
  await page.getByText('You no longer get these mails').waitFor();
  await page.getByRole('button', { name: 'Resume these mails' }).click();
  await page.getByRole('button', { name: 'Stop these mails' }).waitFor();
  expect(faults).toEqual([]);
});

async function signOut(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/account`);
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByLabel('Password').waitFor();
}

test('D49 in Chromium: a signed address downloads a file until its session ends, the plain one needs a key or both halves of a session', async () => {
  await using cloud = await CloudUnderFire.start();
  await using owner = linkOfOwner(cloud);
  const { partId, keyId, key } = cloud.demo;
  async function* file() {
    const value = { partId, type: DataType.FILE, fileName: 'report.bin', fileExtension: '.bin' };
    yield { uploadPacket: { case: 'metadata' as const, value: { ...value, fileCreateTime: timestampFromMs(1_000) } } };
    yield { uploadPacket: { case: 'fileContents' as const, value: { data: Buffer.from('the report') } } };
  }
  const { binaryDataId } = await owner.client(DataSyncService).fileUpload(file());
  const asked = { binaryIds: [], binaryDataIds: [binaryDataId], includeBinary: false };
  const { data } = await owner.client(DataService).binaryDataByIDs(asked);
  const uri = data[0]?.metadata?.uri ?? '';
  await using opened = await openBrowser();
  const { page } = opened;
  await signInByLink(page, cloud.signInLink);
  const inPage = <T>(script: string): Promise<T> => page.evaluate<T>(`(async () => ${script})()`);

  // By the session, as a script of the cloud's page asks.
  const { signedUrl } = await inPage<{ signedUrl: string }>(`(await fetch(
    '/platform.app.data.v1.DataService/CreateBinaryDataSignedURL',
    { method: 'POST', body: JSON.stringify({ binaryDataId: ${JSON.stringify(binaryDataId)} }),
      headers: { 'content-type': 'application/json', 'platform-session': localStorage.getItem('platform.session') } },
  )).json()`);
  const saved = page.waitForEvent('download');
  await page.evaluate(`location.href = ${JSON.stringify(signedUrl)}`);
  const download = await saved;
  expect(download.suggestedFilename()).toBe('report.bin');
  expect(await readFile(await download.path(), 'utf8')).toBe('the report');

  const textOf = (headers: string): Promise<string> =>
    inPage(`fetch(${JSON.stringify(uri)}, { headers: ${headers} }).then(async (answer) =>
      answer.ok ? await answer.text() : String(answer.status))`);
  expect(await textOf('{}')).toBe('401');
  expect(await textOf(`{ key_id: '${keyId}', key: '${key}' }`)).toBe('the report');
  expect(await textOf(`{ 'platform-session': localStorage.getItem('platform.session') }`)).toBe('the report');
  // Typed into the address bar, where no script adds the second half.
  expect((await page.goto(uri))?.status()).toBe(401);

  await page.goto(`${cloud.url}/account`);
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByLabel('Password').waitFor();
  expect((await page.goto(signedUrl))?.status()).toBe(404);
});
