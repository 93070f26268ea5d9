/** Frames of a long list while it scrolls, compared with a plain page that has as many rows. */
import type { Browser, Page } from 'playwright-core';
import { percentile } from '../figures/statistics.ts';
import type { Figure } from '../store/figure.ts';
import { newPage, scrollFrames } from './browser.ts';
import type { PlainPages } from './plain-pages.ts';

/** Faster than a mouse wheel: each frame shows other rows. */
const stepPx = 400;
const frames = 400;

export async function scrollsSmoothly(given: {
  readonly browser: Browser;
  /** Opens the list. */
  readonly page: Page;
  readonly name: string;
  /** Name of its region. */
  readonly region: string;
  readonly rows: number;
  readonly pages: PlainPages;
}): Promise<Figure> {
  const { browser, page, name, region, rows, pages } = given;
  const frameMs = await scrollFrames(page, { selector: `[aria-label="${region}"]`, stepPx, frames });
  const plain = await newPage(browser);
  await plain.goto(pages.rows(rows));
  const plainMs = await scrollFrames(plain, { selector: 'main', stepPx, frames });
  await plain.context().close();
  return {
    ...{ name: `p95 frame: ${name}`, value: percentile(frameMs, 0.95), unit: 'ms', most: 32 },
    beside: percentile(plainMs, 0.95),
    note: `longest ${percentile(frameMs, 1).toFixed(0)} ms; compared with a plain page of ${rows} rows`,
  };
}

/** Loads the whole log, page by page. */
export async function loadWholeLog(page: Page, lines: number): Promise<void> {
  const text = page.getByText('lines are loaded');
  const loaded = async (): Promise<number> =>
    Number((await text.textContent())?.match(/[\d,.\s]+/)?.[0].replaceAll(/\D/g, ''));
  const earlier = page.getByRole('button', { name: 'Load earlier' });
  const none = page.getByRole('button', { name: 'No earlier lines' });
  while ((await loaded()) < lines) {
    await earlier.or(none).waitFor();
    if ((await none.count()) > 0) break;
    await earlier.click();
  }
  const found = await loaded();
  if (found < lines) throw new Error(`expected ${lines} lines of the log, found ${found}`);
}
