/** A real browser without a window, and where tests put what it showed. */
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

export interface OpenBrowser extends AsyncDisposable {
  readonly browser: Browser;
  readonly page: Page;
  /** What the page's console and scripts complained of. */
  readonly faults: readonly string[];
}

export async function openBrowser(): Promise<OpenBrowser> {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags });
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));
  return { browser, page, faults, [Symbol.asyncDispose]: () => browser.close() };
}

/** The path of a screenshot, in a folder that is there. */
export function shotPath(name: string): string {
  const folder = join(tmpdir(), 'platform-screenshots');
  mkdirSync(folder, { recursive: true });
  return join(folder, name);
}
