/** The unmodified public TypeScript client in a real Chromium reaches a machine by its name: over WebRTC, and without UDP through the relay. */

import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { openCloud } from '@platform/sdk/cloud';
import { resourceTypes } from '@platform/sdk/machine';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasFake } from '../../../apps/machine-server/src/testing/has-fake.ts';
import { driveEveryType, driven } from './drive-every-type.ts';
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

const drive = `return await (${driveEveryType})(VIAM, robot);`;

test('D40 createRobotClient connects over WebRTC, and reads and drives the fake of every component type', async () => {
  const types = resourceTypes.filter(({ api }) => api.includes(':component:') && hasFake(api));
  expect(Object.keys(driven).toSorted()).toEqual(types.map(({ api }) => api.split(':')[2]).toSorted());
  await open.run(connecting(connected));
  expect(await open.run('return robot.peerConn.iceConnectionState;')).toBe('connected');
  expect(await open.run(drive)).toEqual(driven);
  expect(connected.machine.logged()).toContain('a caller is connected over WebRTC');
  const failed = await open.run<string>(
    "return await new VIAM.MotorClient(robot, 'none').stop().catch((error) => error.message);",
  );
  expect(failed).toContain('this machine has no motor "none"');
  // What did not go through the cloud is in its audit trail, too.
  const { url, keyId, key, partId, organizationId } = connected.cloud;
  await using client = openCloud({ url, keyId, key });
  const audited = async (): Promise<unknown> => {
    const { entries } = await client.fleet.listAuditEntries({ organizationId, targetId: partId });
    const found = entries.find(({ action }) => action === 'MotorService.SetPower');
    return found && { by: found.actor?.id, ...JSON.parse(found.detail) };
  };
  const expected = { by: keyId, resource: 'it', count: 1, path: 'webrtc', reported_by: 'machine' };
  await expect.poll(audited).toMatchObject({ ...expected, arguments: expect.stringContaining('0.5') });
});

test('D40 a session stops the motor when its page is killed', async () => {
  const { url, keyId, key, partId } = connected.cloud;
  await using client = openCloud({ url, keyId, key });
  using machine = client.machine(partId, { session: false });
  const wheel = machine.client(MotorService);
  await using page = await openSdkPage();
  // This version never begins a session by itself.
  await page.run(`
    ${connecting(connected)}
    await robot.sessionManager.getSessionMetadata();
    await new VIAM.MotorClient(robot, 'it').setPower(0.5);
  `);
  expect(await wheel.isPowered({ name: 'it' })).toMatchObject({ isOn: true });
  await page.page.close();
  await expect.poll(async () => (await wheel.isPowered({ name: 'it' })).isOn).toBe(false);
  expect(connected.machine.logged()).toContain('because its heartbeats have stopped');
});

test('D40 where UDP is blocked, the same client reads and drives every type through the relay', async () => {
  await using page = await openSdkPage(['--force-webrtc-ip-handling-policy=disable_non_proxied_udp']);
  const refused = page.run(connecting(connected)).then(
    () => 'connected',
    () => 'refused',
  );
  const { url, keyId, key } = connected.cloud;
  const credentials = { type: 'api-key', authEntity: keyId, payload: key };
  const direct = JSON.stringify({ host: url.replace('127.0.0.1', 'localhost'), credentials, noReconnect: true });
  await page.run(`window.robot = new VIAM.RobotClient(); await robot.dial(${direct});`);
  expect(await page.run(drive)).toEqual(driven);
  expect(await refused).toBe('refused');
});
