/** The data that a browser without cache loads until it shows the machines, and the time. */
import type { Browser, Page } from 'playwright-core';
import { median } from '../figures/statistics.ts';
import type { Figure } from '../store/figure.ts';
import { newPage } from './browser.ts';

interface Load {
  readonly contentMs: number;
  readonly rowsMs: number;
  /** Bytes of the bodies as they were sent, of scripts, and of everything else. */
  readonly scriptBytes: number;
  readonly otherBytes: number;
}

export async function firstLoad(given: {
  readonly browser: Browser;
  readonly signedInAs: Page;
  readonly url: string;
  readonly emptyUrl: string;
  readonly machines: number;
  readonly runs: number;
}): Promise<Figure[]> {
  const { browser, signedInAs, url, emptyUrl, machines, runs } = given;
  const loads: Load[] = [];
  const emptyMs: number[] = [];
  for (let run = 0; run < runs; run++) {
    const empty = await newPage(browser);
    await empty.goto(emptyUrl);
    emptyMs.push(await contentMs(empty));
    await empty.context().close();
    const page = await newPage(browser, signedInAs);
    loads.push(await loadOnce(page, url));
    await page.context().close();
  }
  const of = (field: keyof Load): number => median(loads.map((load) => load[field]));
  return [
    {
      ...{ name: 'scripts of the first load, gzip', value: of('scriptBytes') / 1e3, unit: 'kB', most: 200, aim: 140 },
      note: `${(of('otherBytes') / 1e3).toFixed(0)} kB of page, styles, fonts and answers`,
    },
    {
      ...{ name: 'first content', value: of('contentMs'), unit: 'ms', beside: median(emptyMs), most: 1_000 },
      note: 'beside an empty page',
    },
    { name: `first of ${machines} machines on the page`, value: of('rowsMs'), unit: 'ms' },
  ];
}

async function loadOnce(page: Page, url: string): Promise<Load> {
  await page.addInitScript(`{
    const observer = new MutationObserver(() => {
      if (!document.querySelector('tbody a')) return;
      observer.disconnect();
      performance.mark('rows');
    });
    observer.observe(document, { subtree: true, childList: true });
  }`);
  await page.goto(url);
  await page.locator('tbody a').first().waitFor();
  const [rowsMs, scriptBytes, otherBytes] = await page.evaluate<[number, number, number]>(`(() => {
    const entries = [...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')];
    const isScript = ({ name }) => name.endsWith('.js');
    const sum = (some) => some.reduce((bytes, { encodedBodySize }) => bytes + encodedBodySize, 0);
    const scripts = entries.filter(isScript);
    return [performance.getEntriesByName('rows')[0].startTime, sum(scripts), sum(entries) - sum(scripts)];
  })()`);
  if (scriptBytes === 0) throw new Error('expected scripts, found none');
  return { contentMs: await contentMs(page), rowsMs, scriptBytes, otherBytes };
}

/** Time from the start of the navigation until the browser paints the first text. */
async function contentMs(page: Page): Promise<number> {
  return await page.evaluate<number>(`new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') resolve(startTime);
    }).observe({ type: 'paint', buffered: true });
  })`);
}
