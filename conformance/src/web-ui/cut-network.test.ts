/**
 * A browser whose network is cut while it moves something through the cloud, because its network has no UDP: the machine stops it, the page
 * says so, and the missed stop arrives later. control-path.test.ts does the same over WebRTC.
 */
import { systemClock } from '@platform/base';
import { BaseService } from '@platform/proto/platform/component/base/v1/base';
import { GantryService } from '@platform/proto/platform/component/gantry/v1/gantry';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { type Cloud, openCloud } from '@platform/sdk/cloud';
import { createFaultProxy, type FaultProxy } from '@platform/testkit';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CommandLine, openCommandLine } from '../cli/command-line.ts';
import { type OpenBrowser, openBrowser, shotPath, signInByLink } from '../open-browser.ts';
import { type MachineProcess, startMachine } from '../remote/start-machine.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { pressed } from './hold-to-move.ts';
import { accessibilityFaults, build, buildOnce } from './start-ui.ts';

const configuration = {
  components: ['motor', 'base', 'gantry'].map((type) => ({
    ...{ name: type, api: `core:component:${type}`, model: 'core:builtin:fake' },
  })),
};

let cloud: CloudProcess;
let proxy: FaultProxy;
let machine: MachineProcess;
let cli: CommandLine;
let client: Cloud;
let browser: OpenBrowser;
let page: Page;

beforeAll(async () => {
  buildOnce();
  cloud = await startCloud({ PLATFORM_WEB_UI: build });
  const { hostname, port } = new URL(cloud.url);
  proxy = await createFaultProxy({ host: hostname, port: Number(port) });
  const { keyId, key, url } = cloud;
  cli = await openCommandLine({ PLATFORM_URL: url, PLATFORM_API_KEY_ID: keyId, PLATFORM_API_KEY: key });
  await cli.ok(['config', 'set', cloud.partId, '-', '--yes'], { input: JSON.stringify(configuration) });
  machine = await startMachine(cloud, cloud.url);
  client = openCloud({ url, keyId, key });
  browser = await openBrowser(['--force-webrtc-ip-handling-policy=disable_non_proxied_udp']);
  page = browser.page;
  const link = cloud.signInLink.replace(cloud.url, `http://${proxy.host}:${proxy.port}`);
  await signInByLink(page, link);
  await page.getByRole('row', { name: /Online/ }).waitFor();
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await client?.[Symbol.asyncDispose]();
  await machine?.[Symbol.asyncDispose]();
  await cli?.[Symbol.asyncDispose]();
  await proxy?.[Symbol.asyncDispose]();
  await cloud?.[Symbol.asyncDispose]();
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await systemClock.sleep(50);
}

/** The default of `heartbeat_window`. */
const windowMs = 2_000;

/** When the machine-server stopped the component, by its own clock, so that a test that is late does not matter. */
function stopsOf(card: string): number[] {
  const lines: Record<string, unknown>[] = machine
    .logged()
    .split('\n')
    .map((line) => JSON.parse(line));
  return lines.flatMap(({ msg, resource, time }) =>
    String(msg).startsWith('stopping a resource that a session moved') && resource === `core:component:${card}/${card}`
      ? [Date.parse(String(time))]
      : [],
  );
}

/** Each kind of control; some move while they are held. */
const controls = [
  { card: 'motor', label: 'Turn motor forward' },
  { card: 'base', label: 'Drive base forward' },
  { card: 'base', label: 'Turn base left' },
  { card: 'motor', label: 'Go' },
  { card: 'gantry', label: 'Move to typed positions' },
] as const;
const held = (label: string): boolean => /^(Turn|Drive) /.test(label);

test.each(controls)(
  '$card, $label: it stops within the session window when the network of the browser is gone, and the page then sends the missed stop',
  async ({ card, label }) => {
    await page.goto(`http://${proxy.host}:${proxy.port}/o/${cloud.organizationId}/m/${cloud.machineId}/control`);
    using remote = client.machine(cloud.partId);
    const services = { motor: MotorService, base: BaseService, gantry: GantryService } as const;
    const isMoving = async (): Promise<boolean> =>
      (await remote.client(services[card]).isMoving({ name: card })).isMoving;
    const region = page.getByRole('region', { name: card });
    const button = region.getByRole('button', { name: label, exact: true });
    await button.waitFor();
    await page.getByText('Through the cloud').waitFor();
    expect(await isMoving()).toBe(false);
    if (label === 'Go') await region.getByLabel('Turns', { exact: true }).fill('100000');
    if (card === 'gantry') await region.getByLabel('Position of axis 0 of gantry').fill('1000');
    if (held(label)) await pressed(page, button);
    else await button.click();
    await until(isMoving);

    const cutMs = systemClock.now();
    proxy.setFault({ kind: 'blackhole' });
    await until(async () => !(await isMoving()));
    await until(async () => stopsOf(card).some((atMs) => atMs >= cutMs));
    // A second window is for a busy computer.
    expect(stopsOf(card).findLast((atMs) => atMs >= cutMs)).toBeLessThan(cutMs + 2 * windowMs);
    if (card === 'gantry') {
      const { positionsMm } = await remote.client(GantryService).getPosition({ name: card });
      expect(positionsMm[0]).toBeLessThan(1_000);
    }
    await page.getByText('The connection to the machine is lost').waitFor();
    await page.getByText('What this page moved stops by itself within 2 s.').first().waitFor();
    expect(await button.isDisabled()).toBe(true);
    if (held(label)) {
      // The hand is still on the button, but the button no longer claims to move anything.
      await region.locator('button[aria-pressed="false"]').and(button).waitFor();
      await region.getByText(`${card} has not got the stop`).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.screenshot({ path: shotPath('web-cut-network.png') });
    }

    proxy.setFault({ kind: 'none' });
    proxy.dropAll();
    if (held(label)) await region.getByText(`${card} has not got the stop`).waitFor({ state: 'detached' });
    expect(await isMoving()).toBe(false);
    await page.mouse.up();
  },
);
