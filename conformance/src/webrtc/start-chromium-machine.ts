/** A cloud, its machine with a fake of every type, and a page of a real Chromium with the public npm SDK. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@platform/base';
import { openCloud } from '@platform/sdk/cloud';
import type { Page } from 'playwright-core';
import { fakesOfEveryType } from '../machine/start-machine.ts';
import { openBrowser } from '../open-browser.ts';
import { type MachineProcess, startMachine } from '../remote/start-machine.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';

const sdk = readFileSync(
  fileURLToPath(import.meta.resolve('@viamrobotics/sdk')).replace(/main\.es\.js$/, 'main.umd.js'),
);

export interface ConnectedMachine extends AsyncDisposable {
  readonly cloud: CloudProcess;
  readonly machine: MachineProcess;
  /** The full name of its part. */
  readonly host: string;
}

/** @param more for its configuration, besides fakes of every type. @param settings of the cloud */
export async function startConnectedMachine(
  more: object = {},
  settings: Readonly<Record<string, string>> = {},
): Promise<ConnectedMachine> {
  await using starting = new AsyncDisposableStack();
  const cloud = starting.use(await startCloud(settings));
  const { url, keyId, key, partId } = cloud;
  await using client = openCloud({ url, keyId, key });
  const { part } = await client.app.getRobotPart({ id: partId });
  const document = JSON.stringify({ ...fakesOfEveryType(), ...more });
  await client.app.updateRobotPart({ id: partId, name: part?.name ?? '', robotConfigJson: document });
  const machine = starting.use(await startMachine(cloud, url));
  const robot = client.machine(partId);
  while ((await robot.resourceNames().catch(() => [])).length < 20) await systemClock.sleep(50);
  robot[Symbol.dispose]();
  const running = starting.move();
  return { cloud, machine, host: part?.fqdn ?? '', [Symbol.asyncDispose]: () => running.disposeAsync() };
}

export interface SdkPage extends AsyncDisposable {
  readonly page: Page;
  /** Runs a function body in the page; `VIAM` is the SDK, and `robot` what `connect` has opened. */
  run<T>(body: string): Promise<T>;
}

/** A page of another origin than the cloud's, as somebody's own. @param flags of the browser */
export async function openSdkPage(flags: readonly string[] = []): Promise<SdkPage> {
  await using starting = new AsyncDisposableStack();
  const server = createServer((request, response) => {
    const isSdk = request.url === '/sdk.js';
    response.writeHead(200, { 'content-type': isSdk ? 'text/javascript' : 'text/html' });
    response.end(isSdk ? sdk : '<!doctype html><script src="/sdk.js"></script>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  starting.defer(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  const { page, ...browser } = starting.use(await openBrowser(flags));
  void browser;
  const address = server.address();
  await page.goto(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`);
  const running = starting.move();
  return {
    page,
    run: (body) =>
      page.evaluate(`(async () => { const VIAM = window.sdk ?? window.VIAM; ${body} })()`) as Promise<never>,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Connects the page's `robot` by the name of the machine, as the public client does it. */
export function connecting({ cloud, host }: ConnectedMachine): string {
  const credentials = { type: 'api-key', authEntity: cloud.keyId, payload: cloud.key };
  const options = { host, signalingAddress: cloud.url, credentials, noReconnect: true };
  return `window.robot = await VIAM.createRobotClient(${JSON.stringify(options)});`;
}
