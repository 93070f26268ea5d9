import { expect, test } from 'vitest';
import { baseOfScript } from '../remote/base-of-script.ts';
import { machineServer } from '../start-cloud.ts';
import { accessibilityFaults, startUi } from './start-ui.ts';

test('who connects a machine on the page sees how often and from where the line was fetched, and where the credentials went', async () => {
  await using ui = await startUi({ PLATFORM_MACHINE_SERVER: machineServer });
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
