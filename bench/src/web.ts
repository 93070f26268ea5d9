/** The web UI in a real browser compared with its requirements: first load, scrolling, a new reading on the page. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { connect } from '@platform/rpc/client';
import type { Browser, Page } from 'playwright-core';
import { buildWebUi } from '../../tools/build-web-ui.js';
import { median, percentile } from './figures/statistics.ts';
import { type FleetCloud, startFleetCloud } from './fleet/fleet-cloud.ts';
import { provisionFleet } from './fleet/provision-fleet.ts';
import type { Figure } from './store/figure.ts';
import { firstContentMs, newPage, openBrowser, scrollFrames, timeOfText } from './web/browser.ts';
import { type PlainPages, servePlainPages } from './web/plain-pages.ts';

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

const readings = 30;

/** Time from the acknowledgement of a reading until a page shows it. @param page shows the newest readings of the part */
async function newReading(cloud: FleetCloud, partId: string, page: Page): Promise<Figure> {
  const { keyId, key, running } = cloud;
  await using link = connect({
    baseUrl: running.url,
    credentials: { entity: keyId, type: 'api-key', payload: key },
    timeoutMs: 120_000,
  });
  const sync = link.client(DataSyncService);
  const metadata = {
    ...{ partId, componentType: 'core:component:sensor', componentName: 'bench', methodName: 'Readings' },
    type: DataType.TABULAR_SENSOR,
  };
  const pageMs: number[] = [];
  for (let nth = 0; nth < readings; nth++) {
    const n = 700_001 + nth;
    const shown = timeOfText(page, String(n));
    const time = timestampNow();
    await sync.dataCaptureUpload({
      metadata,
      sensorContents: [
        { metadata: { timeRequested: time, timeReceived: time }, data: { case: 'struct', value: { readings: { n } } } },
      ],
    });
    const acknowledgedMs = Date.now();
    // It may be on the page before we read the acknowledgement.
    pageMs.push(Math.max(0, (await shown) - acknowledgedMs));
  }
  return {
    ...{ name: 'a new reading on the page, p95', value: percentile(pageMs, 0.95), unit: 'ms', most: 1_000 },
    note: `after its acknowledgement; longest ${percentile(pageMs, 1)} ms`,
  };
}

/** Faster than a mouse wheel: each frame shows other rows. */
const stepPx = 400;
const frames = 400;

/** Frames of a long list while it scrolls, compared with a plain page that has as many rows. */
async function scrollsSmoothly(given: {
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
async function loadWholeLog(page: Page, lines: number): Promise<void> {
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

const root = fileURLToPath(new URL('../..', import.meta.url));

interface WebCloud extends AsyncDisposable {
  readonly cloud: FleetCloud;
  /** The part with the long log. */
  readonly partId: string;
  readonly machineId: string;
}

/** A cloud with its web UI, many machines, and one machine with a long log. */
async function startWebCloud(machines: number, lines: number): Promise<WebCloud> {
  const isBuilt = buildWebUi(root, process.execPath, console.error, () => () => {});
  if (!isBuilt) throw new Error('the web UI could not be built');
  await using stack = new AsyncDisposableStack();
  const env = { PLATFORM_WEB_UI: join(root, 'apps/web/build') };
  const cloud = stack.use(await startFleetCloud({ env }));
  await provisionFleet(cloud, machines - 1);
  const { partId, machineId } = cloud;
  // A part may store 10,000 lines a minute (D29), so sending them would take too long.
  await cloud.kill();
  fillLog(join(cloud.dataDirectory, 'meta.sqlite'), partId, lines);
  await cloud.restart();
  const kept = stack.move();
  return { cloud, partId, machineId, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** Lines of the last hours, 100 ms apart. */
function fillLog(file: string, partId: string, lines: number): void {
  using db = new DatabaseSync(file);
  db.exec('begin');
  const insert = db.prepare(
    'insert into machine_logs (part_id, time_ms, level, logger_name, host, message, detail, received_ms) values (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const endMs = Date.now();
  for (let line = 0; line < lines; line++) {
    const timeMs = endMs - (lines - line) * 100;
    const level = line % 50 === 0 ? 'error' : line % 10 === 0 ? 'warn' : 'info';
    const message = `line ${line}: the reading of sensor-${line % 40} took ${line % 17} ms, of which ${line % 5} ms waited`;
    insert.run(partId, timeMs, level, `machine.sensor-${line % 40}`, 'press-7', message, '{}', timeMs);
  }
  db.exec('commit');
}

interface Load {
  readonly contentMs: number;
  readonly rowsMs: number;
  /** Bytes of the bodies as they were sent, of scripts, and of everything else. */
  readonly scriptBytes: number;
  readonly otherBytes: number;
}

/** The data that a browser without cache loads until it shows the machines, and the time. */
async function firstLoad(given: {
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
    emptyMs.push(await firstContentMs(empty));
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
  return { contentMs: await firstContentMs(page), rowsMs, scriptBytes, otherBytes };
}
