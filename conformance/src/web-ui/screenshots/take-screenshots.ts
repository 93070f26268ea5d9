/** Pictures of pages in all their states. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { accessibilityFaults, type RunningUi } from '../start-ui.ts';
import type { Filled } from './fill-cloud.ts';

export interface Picture {
  readonly file: string;
  /** What axe finds. */
  readonly faults: readonly string[];
}

interface Look {
  readonly state: 'full' | 'empty' | 'failing';
  readonly theme: 'light' | 'dark';
  readonly width: 'wide' | 'phone';
}

const looks: readonly Look[] = [
  { state: 'full', theme: 'light', width: 'wide' },
  { state: 'full', theme: 'dark', width: 'wide' },
  { state: 'full', theme: 'light', width: 'phone' },
  { state: 'full', theme: 'dark', width: 'phone' },
  { state: 'empty', theme: 'light', width: 'wide' },
  { state: 'empty', theme: 'dark', width: 'phone' },
  { state: 'failing', theme: 'light', width: 'wide' },
  { state: 'failing', theme: 'dark', width: 'phone' },
];
const sizes = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 800 } };
/** Pages of an organization. */
const pages = [
  'machines',
  'dashboards',
  'query',
  'data',
  'triggers',
  'triggers/edit',
  'deliveries',
  'billing',
  'settings',
];
const calls = /\/(platform\.|api\/)/;

export async function takePictures(given: {
  readonly ui: RunningUi;
  readonly filled: Filled;
  readonly folder: string;
  readonly only: readonly string[] | undefined;
  readonly states: readonly string[] | undefined;
}): Promise<readonly Picture[]> {
  const { ui, filled, folder, only, states } = given;
  const { page } = ui;
  const pictures: Picture[] = [];
  for (const look of looks) {
    if (states?.includes(look.state) === false) continue;
    await page.emulateMedia({ colorScheme: look.theme });
    await page.setViewportSize(sizes[look.width]);
    if (look.state === 'failing') await failEverything(page);
    for (const [name, path] of pathsOf(ui, filled, look.state)) {
      if (only?.includes(name) === false) continue;
      await page.goto(`${ui.cloud.url}${path}`);
      await settle(page);
      const file = `${name}-${look.state}-${look.theme}-${look.width}.png`;
      await page.screenshot({ path: join(folder, file), fullPage: true });
      pictures.push({ file, faults: [...(await accessibilityFaults(page)), ...(await tooWide(page))] });
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  }
  return pictures;
}

/** All pictures on one page. */
export function indexOf(pictures: readonly Picture[]): string {
  const shown = pictures.map(
    ({ file }) => `<figure><img src="${file}" width="420"><figcaption>${file}</figcaption></figure>`,
  );
  return `<!doctype html><title>Pictures</title><style>body{display:flex;flex-wrap:wrap;align-items:start}figure{margin:8px}</style>${shown.join('\n')}`;
}

function pathsOf({ cloud }: RunningUi, filled: Filled, state: Look['state']): readonly (readonly [string, string])[] {
  const base = `/o/${state === 'empty' ? filled.emptyOrganizationId : cloud.organizationId}`;
  const named = pages.map((path) => [path.replace('/', '-'), `${base}/${path}`] as const);
  if (state === 'empty') return named;
  const machine = `${base}/m/${cloud.machineId}`;
  return [
    ...named,
    ['trigger', filled.trigger],
    ['dashboard', `${base}/dashboards/morning`],
    ['files', `${base}/data?view=files`],
    ['machine', machine],
    ...['configure', 'control', 'logs', 'connect'].map((path) => [path, `${machine}/${path}`] as const),
  ];
}

/** Refuses every call, except the one that asks who is signed in. */
async function failEverything(page: Page): Promise<void> {
  const refused = {
    status: 503,
    json: { code: 'unavailable', message: 'expected a disk with space, found none left' },
  };
  await page.route(calls, (route) =>
    route.request().url().includes('whoami') ? route.continue() : route.fulfill(refused),
  );
}

/** Waits until the page has a heading and has not been loading for a while, at most `mostMs`: a page that fails may never load. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const [stepMs, quietSteps, mostMs] = [100, 8, 15000];
    const loads = /(Loading|Asking the machine|Waiting for the first (reading|image)|Running)[^.]{0,3}…|– turns/;
    let [quiet, passedMs] = [0, 0];
    const look = () => {
      const isDone = document.querySelector('h1') !== null && !loads.test(document.body.textContent);
      quiet = isDone ? quiet + 1 : 0;
      passedMs += stepMs;
      if (quiet >= quietSteps || passedMs >= mostMs) resolve();
      else setTimeout(look, stepMs);
    };
    look();
  })`);
}

async function tooWide(page: Page): Promise<readonly string[]> {
  const over = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
  return over > 0 ? [`the page is ${over} px wider than the window`] : [];
}
