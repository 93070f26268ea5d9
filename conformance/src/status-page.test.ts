/** The status page in a real browser: the one-time link signs in, the page shows what arrives, strangers see nothing. */
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { expect, test } from 'vitest';
import { CloudUnderFire, uploadUntil } from './crash/cloud-under-fire.ts';

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

test('the page shows readings as they arrive to who came by the link, and to nobody else', async () => {
  await using cloud = await CloudUnderFire.start();
  let uploads = 0;
  await uploadUntil(cloud, 'press', () => uploads++ > 3);

  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags });
  await using _closing = { [Symbol.asyncDispose]: () => browser.close() };
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));

  await page.goto(cloud.signInLink);
  await page.getByText('press · Readings').first().waitFor();
  expect(await page.locator('#uploads').textContent()).toBe('4');
  expect(await page.locator('#rows').textContent()).toBe('40');
  expect(faults).toEqual([]);
  const shots = join(tmpdir(), 'platform-screenshots');
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: join(shots, 'status.png'), fullPage: true });

  const stranger = await (await browser.newContext()).newPage();
  expect((await stranger.goto(cloud.url))?.status()).toBe(401);
  expect(await stranger.textContent('body')).toContain('sign-in link');
  expect(await stranger.textContent('body')).not.toContain('press');
  expect((await stranger.goto(cloud.signInLink))?.status()).toBe(401);
});
