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

/** What hangs is ended by the test's own timeout, not by the default of 30 s: on a busy machine things happen late. */
const timeoutMs = 110_000;

export interface OpenBrowser extends AsyncDisposable {
  readonly browser: Browser;
  readonly page: Page;
  /** What the page's console and scripts complained of. */
  readonly faults: readonly string[];
}

export async function openBrowser(): Promise<OpenBrowser> {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags, timeout: timeoutMs });
  const page = await browser.newPage();
  page.setDefaultTimeout(timeoutMs);
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
