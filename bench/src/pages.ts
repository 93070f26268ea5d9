/**
 * The main pages of the web UI over the large installation, in a real browser, at the widths of a desktop and of a phone: time to the first
 * content, totals, accessibility, nothing beyond the edge; and a series and a failing trigger found by a person.
 */
import type { Page } from 'playwright-core';
import { shotPath } from '../../conformance/src/open-browser.ts';
import { accessibilityFaults, build, buildOnce } from '../../conformance/src/web-ui/start-ui.ts';
import { median } from './figures/statistics.ts';
import { largeFleet, seriesCount } from './readings/large-fleet.ts';
import type { Figure } from './store/figure.ts';
import { firstContentMs, newPage, openBrowser } from './web/browser.ts';
import { type LargeInstallation, startLargeInstallation } from './web/large-installation.ts';

const mostMs = 1_000;
const widths = [
  { name: 'desktop', width: 1_280, height: 720 },
  { name: 'phone', width: 390, height: 800 },
] as const;
type Width = (typeof widths)[number];

interface MainPage {
  readonly name: string;
  /** Below the organization. */
  readonly path: string;
  /** A text that the page shows once it has its first content. */
  readonly content: RegExp;
  /** … and once it has the whole, such as the total of a list. Default: the same. */
  readonly whole?: RegExp;
}

const grouped = (n: number): string => n.toLocaleString('en-US');

function mainPages({ machineId, logLines, readings }: LargeInstallation): readonly MainPage[] {
  const { machines } = largeFleet;
  return [
    { name: 'Fleet', path: 'machines', content: new RegExp(`^${grouped(machines)} in this organization$`) },
    { name: 'Machine', path: `m/${machineId}`, content: /^Alerts that do not arrive$/ },
    { name: 'Logs', path: `m/${machineId}/logs`, content: new RegExp(`^line ${logLines - 1}: `) },
    { name: 'Data', path: 'data', content: new RegExp(`^1 to 50 of ${grouped(seriesCount)} series$`) },
    { name: 'Query', path: 'query', content: /^Saved queries$/, whole: /^[\d,]+ rows/ },
    {
      ...{ name: 'Triggers', path: 'triggers', content: /^\d+ of .* triggers/ },
      whole: new RegExp(`^200 of ${grouped(machines)} triggers`),
    },
    { name: 'Deliveries', path: 'deliveries', content: new RegExp(`^100 of ${grouped(machines)}$`) },
    { name: 'Dashboards', path: 'dashboards', content: /^Every morning$/ },
    {
      ...{ name: 'Dashboard', path: 'dashboards/morning', content: /^Readings by component$/ },
      whole: new RegExp(`^${grouped(readings)}$`),
    },
    { name: 'Billing', path: 'billing', content: /^No invoices yet/ },
    { name: 'Audit', path: 'settings?show=audit', content: /^[\d,]+ of [\d,]+ changes/ },
  ];
}

export async function measurePages({ readings, runs }: { readings: number; runs: number }): Promise<Figure[]> {
  buildOnce();
  await using installation = await startLargeInstallation(build, readings);
  const { running, organizationId } = installation.cloud;
  await using browser = await openBrowser();
  const first = await newPage(browser);
  await first.goto(running.signInLink);
  await first.getByRole('button', { name: 'Sign in' }).click();
  await first.locator('tbody a').first().waitFor();
  const base = `${running.url}/o/${organizationId}`;
  const figures: Figure[] = [];
  for (const width of widths) {
    const page = await first.context().newPage();
    page.setDefaultTimeout(60_000);
    await page.setViewportSize(width);
    for (const main of mainPages(installation)) figures.push(...(await lookAt(page, base, main, width, runs)));
    figures.push(await findSeries(page, base, width), await findFailing(page, base, installation, width));
    await page.close();
  }
  return figures;
}

async function lookAt(page: Page, base: string, main: MainPage, width: Width, runs: number): Promise<Figure[]> {
  const name = `${main.name}, ${width.name}`;
  const shot = shotPath(`pages-${main.name}-${width.name}.png`);
  const ms: Record<'content' | 'whole' | 'paint', number[]> = { content: [], whole: [], paint: [] };
  const [content, whole] = [main.content, main.whole ?? main.content].map((text) => page.getByText(text).first());
  for (let run = 0; run < runs; run++) {
    await page.goto('about:blank');
    const started = performance.now();
    await page.goto(`${base}/${main.path}`, { waitUntil: 'commit' });
    try {
      await content?.waitFor();
      ms.content.push(performance.now() - started);
      await whole?.waitFor();
      ms.whole.push(performance.now() - started);
    } catch {
      await page.screenshot({ path: shot });
      const note = `expected ${main.content} and ${main.whole ?? 'nothing else'}: ${shot}`;
      return [{ ...{ name: `first content: ${name}`, value: Number.NaN, unit: 'ms', most: mostMs }, note }];
    }
    ms.paint.push(await firstContentMs(page));
  }
  await page.screenshot({ path: shot });
  const faults = [...(await accessibilityFaults(page)), ...(await beyondEdge(page))];
  for (const fault of faults) console.error(`${name}: ${fault}`);
  const text = ((await whole?.textContent()) ?? '').trim().slice(0, 40);
  return [
    {
      ...{ name: `first content: ${name}`, value: median(ms.content), unit: 'ms', most: mostMs },
      note: `first paint ${median(ms.paint).toFixed(0)} ms, “${text}” ${median(ms.whole).toFixed(0)} ms`,
    },
    {
      name: `faults: ${name}`,
      value: faults.length,
      unit: 'faults',
      most: 0,
      note: `axe, and beyond the edge; ${shot}`,
    },
  ];
}

/** Elements that make the page, or a table in it, wider than the screen. */
async function beyondEdge(page: Page): Promise<string[]> {
  return await page.evaluate<string[]>(`[document.documentElement, ...document.querySelectorAll('.table-panel')]
    .filter((one) => one.scrollWidth > one.clientWidth)
    .map((one) => 'beyond the edge: ' + (one.getAttribute('aria-label') ?? one.tagName) + ' by ' + (one.scrollWidth - one.clientWidth) + ' px')`);
}

/** One of 20,000, by its machine and component. */
async function findSeries(page: Page, base: string, { name }: Width): Promise<Figure> {
  await page.goto(`${base}/data`);
  const search = page.getByRole('searchbox', { name: 'Find series' });
  await page
    .getByText(/^1 to 50 of/)
    .first()
    .waitFor();
  const started = performance.now();
  await search.fill('machine-1234 sensor-7');
  await page
    .getByText(new RegExp(`^1 series, of ${grouped(seriesCount)} in all$`))
    .first()
    .waitFor();
  const ms = performance.now() - started;
  await page.getByRole('button', { name: 'sensor-7 Readings', exact: true }).click();
  await page.getByRole('img', { name: /^Line chart of temperature/ }).waitFor();
  return {
    name: `a series among ${grouped(seriesCount)} found: ${name}`,
    value: ms,
    unit: 'ms',
    most: mostMs,
    note: 'from the last key on; then its chart',
  };
}

/** From the navigation of any page. */
async function findFailing(page: Page, base: string, given: LargeInstallation, { name }: Width): Promise<Figure> {
  await page.goto(`${base}/data`);
  const clicks = [
    page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: /with problems$/ }),
    page.getByRole('row', { name: /Refused/ }).getByRole('link', { name: given.failingTrigger, exact: true }),
  ];
  for (const link of clicks) await link.click();
  await page.getByRole('heading', { name: given.failingTrigger, level: 1 }).waitFor();
  return { name: `a failing trigger found: ${name}`, value: clicks.length, unit: 'clicks', most: 2 };
}
