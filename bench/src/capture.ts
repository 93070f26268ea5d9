import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nodeFlags } from '@platform/machine-server/node-flags';
import { cpuSeconds } from '@platform/testkit';
import { thriftyEnvironment } from '../../apps/cli/bin/become-node.js';
import { program } from '../../tools/bundles/program.ts';
import { startProcess } from './cloud/server-process.ts';
import { countReadings, startCloud } from './cloud/start-cloud.ts';
import { captureConfiguration } from './readings/part-configuration.ts';

const sensors = 10;
const readingsPerSecond = 1_000;
const warmUpMs = 8_000;
const measuredMs = 24_000;
/** Longer than a sync interval. */
const untilSyncedMs = 10_000;

/** Share of a core that the machine-server uses while it captures and syncs 1,000 readings/s. */
export async function measureCapture(): Promise<Readonly<Record<string, number>>> {
  await using cloud = await startCloud(captureConfiguration(sensors, readingsPerSecond));
  const home = join(cloud.folder, 'machine');
  mkdirSync(home);
  const credentials = join(home, 'credentials.json');
  const content = { cloud: { id: cloud.partId, secret: cloud.partSecret, app_address: cloud.url } };
  writeFileSync(credentials, JSON.stringify(content), { mode: 0o600 });
  const entry = program('machine-server');
  const args = [...process.execArgv, ...nodeFlags, entry, '-config', credentials];
  await using machine = startProcess(process.execPath, args, { ...thriftyEnvironment, PLATFORM_HOME: home });
  await sleep(warmUpMs);
  const [before, from] = [cpuSeconds(machine.pid), new Date()];
  await sleep(measuredMs);
  const [after, to] = [cpuSeconds(machine.pid), new Date()];
  await sleep(untilSyncedMs);
  const seconds = (to.getTime() - from.getTime()) / 1_000;
  const captured = await countReadings(cloud, { time_received: { $gte: from, $lt: to } });
  return { percent_of_a_core: ((after - before) / seconds) * 100, readings_stored_per_s: captured / seconds };
}
