/** A real headless browser, and the folder for its screenshots. */
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { browserProgram } from '@platform/testkit';
import { type Browser, chromium, type Page } from 'playwright-core';

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Of one step, on a busy machine. Shorter than the limit of a test, so that the error names the step that hung. */
const timeoutMs = 120_000;

export interface OpenBrowser extends AsyncDisposable {
  readonly browser: Browser;
  readonly page: Page;
  /** Errors from the page's console and scripts. */
  readonly faults: readonly string[];
}

/** @param more flags */
export async function openBrowser(more: readonly string[] = []): Promise<OpenBrowser> {
  const args = [...flags, ...more];
  const browser = await chromium.launch({ executablePath: browserProgram, args, timeout: timeoutMs });
  // Far from the zone of the computer, so that tests see which one a page uses.
  const page = await browser.newPage({ timezoneId: 'Asia/Kolkata' });
  page.setDefaultTimeout(timeoutMs);
  const faults: string[] = [];
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));
  return { browser, page, faults, [Symbol.asyncDispose]: () => browser.close() };
}

/** Signs in with a link of the cloud, which shows a button, and waits for the page after it. */
export async function signInByLink(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
}

/** The path of a screenshot, in an existing folder. */
export function shotPath(name: string): string {
  const folder = join(tmpdir(), 'platform-screenshots');
  mkdirSync(folder, { recursive: true });
  return join(folder, name);
}
