/** The web UI in a real browser compared with its requirements: first load, scrolling, a new reading on the page. */
import type { Figure } from './store/figure.ts';
import { newPage, openBrowser } from './web/browser.ts';
import { firstLoad } from './web/first-load.ts';
import { newReading } from './web/new-reading.ts';
import { servePlainPages } from './web/plain-pages.ts';
import { loadWholeLog, scrollsSmoothly } from './web/scrolling.ts';
import { startWebCloud } from './web/web-cloud.ts';

/** Lines of the log for each machine. */
const linesPerMachine = 10;

/** @param runs of the first load */
export async function measureWeb({ machines, runs }: { machines: number; runs: number }): Promise<Figure[]> {
  const lines = machines * linesPerMachine;
  await using web = await startWebCloud(machines, lines);
  const { url, signInLink } = web.cloud.running;
  await using pages = await servePlainPages();
  await using browser = await openBrowser();
  const page = await newPage(browser);
  await page.goto(signInLink);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('tbody a').first().waitFor();
  const organization = `${url}/o/${web.cloud.organizationId}`;
  const list = { browser, page, pages };
  const load = { browser, signedInAs: page, url: `${organization}/machines`, emptyUrl: pages.empty, machines, runs };
  const figures = await firstLoad(load);
  figures.push(
    await scrollsSmoothly({
      ...{ ...list, name: `${machines} machines`, region: 'Table of machines', rows: machines },
    }),
  );
  await page.goto(`${organization}/m/${web.machineId}/logs`);
  await loadWholeLog(page, lines);
  figures.push(await scrollsSmoothly({ ...list, name: `${lines} lines of a log`, region: 'Log lines', rows: lines }));
  await page.goto(`${organization}/m/${web.machineId}`);
  await page.getByRole('region', { name: 'Newest readings' }).getByText('Nothing was stored recently').waitFor();
  figures.push(await newReading(web.cloud, web.partId, page));
  return figures;
}
