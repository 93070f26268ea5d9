/** D48: stops, heartbeats and capture ticks of a machine-server whose cloud answers with what is large, well-formed, and changes all the time. */
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { StopRequestSchema } from '@platform/proto/platform/component/motor/v1/motor';
import { RobotService, SendSessionHeartbeatRequestSchema } from '@platform/proto/platform/robot/v1/robot';
import { connect } from '@platform/rpc/client';
import { faultProgress, reportFault, spawnChild, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { partId } from '../../../apps/machine-server/src/testing/fake-cloud.ts';
import { program } from '../../../tools/bundles/program.ts';
import { readFaultSettings } from '../crash/fault-settings.ts';
import { longestDelay } from './capture-ticks.ts';
import { encodedCall } from './encoded-call.ts';
import type { LargeCloudReport } from './large-cloud-process.ts';
import { largeDocuments, ticksHz } from './large-documents.ts';
import { expectShortWaits, longestWait, startWaits } from './waits.ts';

const { requests, longestWaitMs } = readFaultSettings();
const flags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];
const largeCloud = fileURLToPath(new URL('./large-cloud-process.ts', import.meta.url));
const machineServer = program('machine-server');
/** How often each configuration is changed. */
const changes = Math.max(2, Math.ceil(requests / 400));

test('D48 no configuration and no other answer of the cloud, however large, delays a stop, a heartbeat or a capture tick', async () => {
  await using cloud = spawnChild(process.execPath, [...flags, largeCloud]);
  const { port: cloudPort } = await cloud.waitForLine((line) => 'port' in line);
  const ask = async (change: object = {}): Promise<LargeCloudReport> => {
    const index = cloud.lines.length;
    cloud.writeLine(change);
    await cloud.waitForLine((line) => line === cloud.lines[index]);
    return cloud.lines[index] as unknown as LargeCloudReport;
  };
  await ask({ serve: largeDocuments[0]?.name });
  await using home = await temporaryDirectory('machine-');
  const file = home.file('credentials.json');
  const app_address = `http://127.0.0.1:${cloudPort}`;
  writeFileSync(
    file,
    JSON.stringify({ cloud: { id: partId, secret: 'secret', app_address, refresh_interval: '200ms' } }),
  );
  await using machine = spawnChild(process.execPath, [...flags, machineServer, '-config', file], {
    env: { PLATFORM_HOME: home.path, PLATFORM_BIND_ADDRESS: '127.0.0.1:0' },
  });
  const { port } = await machine.waitForLine(({ msg }) => msg === 'running');
  const url = `http://127.0.0.1:${port}`;
  await using link = connect({ baseUrl: url });
  const { id } = await link.client(RobotService).startSession({});
  await using waits = await startWaits({
    ...{ url, pid: machine.pid },
    calls: [
      encodedCall('/platform.component.motor.v1.MotorService/Stop', StopRequestSchema, { name: 'motor' }),
      { path: '/platform.robot.v1.RobotService/StopAll' },
      encodedCall('/platform.robot.v1.RobotService/SendSessionHeartbeat', SendSessionHeartbeatRequestSchema, { id }),
    ],
  });
  const ticks: number[] = [];
  const sent = { configs: 0, uploads: 0, logs: 0, commands: 0 };
  const look = async (change?: object): Promise<LargeCloudReport> => {
    const report = await ask(change);
    ticks.push(...report.ticks);
    for (const key of Object.keys(sent) as (keyof typeof sent)[]) sent[key] += report[key];
    return report;
  };
  /** Until the cloud has answered this many requests of a kind. */
  const until = async (what: keyof typeof sent, count: number): Promise<void> => {
    for (const wanted = sent[what] + count; sent[what] < wanted; await look()) await sleep(200);
  };
  await look();
  await waits.discard();
  const beganMs = Date.now();
  for (const [index, { name }] of largeDocuments.entries()) {
    await look({ serve: name });
    // The last one has been applied when the next one is asked for.
    await until('configs', changes + 1);
    await waits.note(name);
    faultProgress('large configurations of a machine-server', index + 1, largeDocuments.length);
  }
  await look({ serve: largeDocuments[0]?.name, isPadded: true });
  for (const what of ['commands', 'uploads', 'logs'] as const) {
    await until(what, changes);
    await waits.note(`padded answers, ${what}`);
  }
  const endedMs = Date.now();
  await look({ isPadded: false });
  // Those taken last arrive last.
  await until('uploads', 10);
  const taken = ticks.filter((time) => time >= beganMs && time <= endedMs).toSorted((a, b) => a - b);
  const tickDelayMs = longestDelay(taken, 1_000 / ticksHz);
  const { figures } = waits;
  const late = taken.slice(1).flatMap((time, at) => {
    const waitMs = time - (taken[at] as number) - 1_000 / ticksHz;
    return waitMs > 250 ? [{ atMs: time - beganMs, waitMs }] : [];
  });
  reportFault('largeCloud', { ...sent, ...figures, ticks: taken.length, tickDelayMs, late: late.slice(0, 20) });
  expect(Object.keys(figures.failures).filter((call) => !call.includes('SendSessionHeartbeat'))).toEqual([]);
  if (longestWaitMs === Number.POSITIVE_INFINITY) return;
  expect(figures.failures).toEqual({});
  expectShortWaits(figures, longestWaitMs);
  expect(tickDelayMs).toBeLessThanOrEqual(longestWait(figures, longestWaitMs));
});
