/** The web UI of a real cloud with the machine of the demo, in a real browser that is signed in. */
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { buildWebUi } from '../../../tools/build-web-ui.js';
import { type OpenBrowser, openBrowser, signInByLink } from '../open-browser.ts';
import { startMachine } from '../remote/start-machine.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** Directory of the build. */
export const build: string = fileURLToPath(new URL('../../../apps/web/build', import.meta.url));

/** For conditions that are polled: a busy machine meets them late. */
export const patiently = { timeout: 110_000 } as const;

export interface RunningUi extends AsyncDisposable, OpenBrowser {
  readonly cloud: CloudProcess;
}

/** @throws if the UI cannot be built */
export function buildOnce(): void {
  const said: string[] = [];
  const built = buildWebUi(
    root,
    process.execPath,
    (line: string) => said.push(line),
    () => () => {},
  );
  if (!built) throw new Error(said.join('\n'));
}

/** @param env more settings of the cloud @param flags of the browser */
export async function startUi(
  env: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
): Promise<RunningUi> {
  buildOnce();
  await using unwind = new AsyncDisposableStack();
  const cloud = unwind.use(await startCloud({ PLATFORM_WEB_UI: build, PLATFORM_PAYMENT_PROVIDER: 'test', ...env }));
  unwind.use(await startMachine(cloud, cloud.url));
  const browser = unwind.use(await openBrowser(flags));
  await signInByLink(browser.page, cloud.signInLink);
  const running = unwind.move();
  return { ...browser, cloud, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** What axe finds on the page (WCAG 2.2 AA), as `rule: element`. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // Otherwise, elements that are scrolled under the top bar would be reported as too small to click.
  await page.evaluate('scrollTo(0, 0)');
  if (await page.evaluate('globalThis.axe === undefined')) await page.evaluate(axe.source);
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const results = await page.evaluate(
    (values) =>
      (globalThis as unknown as { axe: typeof axe }).axe.run({
        runOnly: { type: 'tag', values },
        resultTypes: ['violations'],
      }),
    tags,
  );
  return results.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
