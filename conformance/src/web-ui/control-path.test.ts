/**
 * The Control page over WebRTC: it moves a motor while the cloud does not answer, says when no path is left, and moves nothing when one is
 * back.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { systemClock } from '@platform/base';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { type Cloud, openCloud } from '@platform/sdk/cloud';
import { createFaultProxy, type FaultProxy } from '@platform/testkit';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type OpenBrowser, openBrowser, shotPath, signInByLink } from '../open-browser.ts';
import { type MachineProcess, startMachine } from '../remote/start-machine.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { pressed } from './hold-to-move.ts';
import { accessibilityFaults, build, buildOnce } from './start-ui.ts';

/** Of the session, as configured. */
const windowMs = 1_500;
const configuration = {
  network: { sessions: { heartbeat_window: `${windowMs}ms` } },
  components: [
    { name: 'wheel', api: 'core:component:motor', model: 'core:builtin:fake' },
    { name: 'celsius', api: 'core:component:sensor', model: 'core:builtin:fake' },
  ],
};

let cloud: CloudProcess;
let proxy: FaultProxy;
let machine: MachineProcess;
let client: Cloud;
let browser: OpenBrowser;
let page: Page;

beforeAll(async () => {
  buildOnce();
  cloud = await startCloud({ PLATFORM_WEB_UI: build });
  const { hostname, port } = new URL(cloud.url);
  proxy = await createFaultProxy({ host: hostname, port: Number(port) });
  const { keyId, key, url, partId: id } = cloud;
  client = openCloud({ url, keyId, key });
  const { part } = await client.app.getRobotPart({ id });
  await client.app.updateRobotPart({ id, name: part?.name ?? '', robotConfigJson: JSON.stringify(configuration) });
  machine = await startMachine(cloud, url);
  browser = await openBrowser();
  page = browser.page;
  await signInByLink(page, cloud.signInLink.replace(url, `http://${proxy.host}:${proxy.port}`));
  await page.getByRole('row', { name: /Online/ }).waitFor();
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await client?.[Symbol.asyncDispose]();
  await machine?.[Symbol.asyncDispose]();
  await proxy?.[Symbol.asyncDispose]();
  await cloud?.[Symbol.asyncDispose]();
});

async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await holds())) await systemClock.sleep(50);
}

async function isMoving(): Promise<boolean> {
  using remote = client.machine(cloud.partId, { session: false });
  return (await remote.client(MotorService).isMoving({ name: 'wheel' })).isMoving;
}

/** When the machine-server stopped the motor because heartbeats had stopped, by its own clock, so that a late test does not matter. */
function stopsOfSessions(): number[] {
  const lines: Record<string, unknown>[] = machine
    .logged()
    .split('\n')
    .map((line) => JSON.parse(line));
  return lines.flatMap(({ msg, time }) =>
    String(msg).startsWith('stopping a resource that a session moved') ? [Date.parse(String(time))] : [],
  );
}

/** The WebRTC engine of the machine-server. */
function engineProcess(): number {
  const processes = readdirSync('/proc').flatMap((id) => {
    try {
      const [, , parent = ''] = readFileSync(`/proc/${id}/stat`, 'utf8')
        .replace(/^.*\) /, '- ')
        .split(' ');
      return [{ id, parent, command: readFileSync(`/proc/${id}/cmdline`, 'utf8') }];
    } catch {
      return [];
    }
  });
  const server = processes.find(({ command }) => command.includes(machine.home));
  const found = processes.find(({ parent, command }) => parent === server?.id && command.includes('webrtc-engine'));
  if (found === undefined) throw new Error('expected a process of the WebRTC engine, found none');
  return Number(found.id);
}

interface Shown {
  readonly connection: Locator;
  readonly forward: Locator;
}

async function openControl(): Promise<Shown> {
  await page.goto(`http://${proxy.host}:${proxy.port}/o/${cloud.organizationId}/m/${cloud.machineId}/control`);
  const connection = page.getByRole('group', { name: 'Connection to the machine' });
  await connection.getByText('Direct (WebRTC)').waitFor();
  return { connection, forward: page.getByRole('button', { name: 'Turn wheel forward' }) };
}

/** Checks and pictures at the widths of a desktop and a phone, light and dark. */
async function lookAtIt(name: string): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const)
    for (const width of [390, 1_280]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 720 });
      expect(await accessibilityFaults(page), `${colorScheme} ${width}`).toEqual([]);
      await page.screenshot({ path: shotPath(`web-control-${name}-${colorScheme}-${width}.png`) });
    }
}

test('over WebRTC it moves a motor while the cloud does not answer; without any path the motor stops within the window, the page says so, and nothing moves when the path is back', async () => {
  const { connection, forward } = await openControl();
  await connection.getByText(/^(under 1|\d+) ms$/).waitFor();
  await page.getByLabel('Readings of celsius').waitFor();
  await lookAtIt('direct');

  proxy.setFault({ kind: 'blackhole' });
  await pressed(page, forward);
  await until(isMoving);
  await page.mouse.up();
  await until(async () => !(await isMoving()));
  expect(stopsOfSessions()).toEqual([]);

  await pressed(page, forward);
  await until(isMoving);
  const engine = engineProcess();
  const cutMs = systemClock.now();
  onTestFinished(() => {
    proxy.setFault({ kind: 'none' });
    proxy.dropAll();
    process.kill(engine, 'SIGCONT');
  });
  process.kill(engine, 'SIGSTOP');
  await connection.getByText('No connection').waitFor();
  await page.getByText('The connection to the machine is lost').waitFor();
  await page.getByText('What this page moved stops by itself within 1.5 s.').first().waitFor();
  await until(() => stopsOfSessions().length > 0);
  expect(await isMoving()).toBe(false);
  // A second window is for a busy computer.
  expect(stopsOfSessions()[0]).toBeLessThan(cutMs + 2 * windowMs);
  expect(await forward.isDisabled()).toBe(true);
  expect(await forward.getAttribute('aria-pressed')).toBe('false');
  await lookAtIt('lost');

  proxy.setFault({ kind: 'none' });
  proxy.dropAll();
  process.kill(engine, 'SIGCONT');
  await connection.getByText('Direct (WebRTC)').waitFor();
  await page.getByText('The connection to the machine is lost').waitFor({ state: 'detached' });
  // The mouse still holds the button.
  expect(await isMoving()).toBe(false);
  await page.mouse.up();
  await pressed(page, forward);
  await until(isMoving);
  await page.mouse.up();
  await until(async () => !(await isMoving()));
  expect(browser.faults.filter((fault) => !/^Failed to load resource/.test(fault))).toEqual([]);
});

test.each(['hidden', 'left'])('what the page moved is stopped when it is %s, before its session ends', async (how) => {
  await openControl();
  const earlier = stopsOfSessions().length;
  const wheel = page.getByRole('region', { name: 'wheel' });
  await wheel.getByLabel('Turns', { exact: true }).fill('100000');
  await wheel.getByRole('button', { name: 'Go' }).click();
  await until(isMoving);
  if (how === 'left') await page.goto('about:blank');
  else
    await page.evaluate(`
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
      document.dispatchEvent(new Event('visibilitychange'));
    `);
  await until(async () => !(await isMoving()));
  expect(stopsOfSessions().length).toBe(earlier);
});
