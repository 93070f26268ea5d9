/** The unmodified public TypeScript client in a real Chromium reaches a machine by its name over WebRTC. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ConnectedMachine,
  connecting,
  openSdkPage,
  type SdkPage,
  startConnectedMachine,
} from './start-chromium-machine.ts';

let connected: ConnectedMachine;
let open: SdkPage;

beforeAll(async () => {
  connected = await startConnectedMachine();
  open = await openSdkPage();
});
afterAll(async () => {
  await open?.[Symbol.asyncDispose]();
  await connected?.[Symbol.asyncDispose]();
});

test('D40 createRobotClient connects over WebRTC', async () => {
  const started = await open
    .run<object>(`
    ${connecting(connected)}
    const names = await robot.resourceNames();
    return { platform: (await robot.getVersion()).platform, names: names.length, ice: robot.peerConn?.iceConnectionState };
  `)
    .catch((caught) => ({ caught: String(caught), log: connected.machine.logged().slice(-4000) }));
  console.log(started);
  expect(started).toMatchObject({ platform: 'machine-server' });
});
