/** A cloud that answers a real machine-server with garbage, and sends garbage over its links, beside a canary at the machine's own port. */
import { readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  faultProgress,
  processTree,
  proportionalBytes,
  reportFault,
  spawnChild,
  temporaryDirectory,
} from '@platform/testkit';
import { expect, test } from 'vitest';
import { partId } from '../../../apps/machine-server/src/testing/fake-cloud.ts';
import { program } from '../../../tools/bundles/program.ts';
import { readFaultSettings } from '../crash/fault-settings.ts';
import { expectShortWaits, operationCalls, startWaits } from './waits.ts';

const { garbage, longestWaitMs } = readFaultSettings();
/** A machine-server waits up to seconds between its connections. All kinds go to its links in `packages/rpc/src/link/hostile-servers.test.ts`. */
const kinds = Math.max(100, Math.ceil(garbage / 20));
const flags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];
const hostileCloud = fileURLToPath(new URL('./hostile-cloud-process.ts', import.meta.url));
const machineServer = program('machine-server');
const mostGrowth = 256 * 1024 * 1024;
/** Open files of a machine-server with a few connections; one that garbage leaves behind would be left hundreds of times. */
const mostFiles = 64;

const document = {
  components: [
    {
      name: 'it',
      api: 'core:component:sensor',
      model: 'core:builtin:fake',
      service_configs: [
        {
          type: 'data_manager',
          attributes: { capture_methods: [{ method: 'Readings', capture_frequency_hz: 10, additional_params: {} }] },
        },
      ],
    },
  ],
  services: [
    {
      name: 'data',
      api: 'core:service:data_manager',
      model: 'core:builtin:builtin',
      attributes: { sync_interval_mins: 0.005 },
    },
  ],
};

test('a cloud that answers with garbage, and sends garbage over links, delays no stop of a machine, which goes on to upload', async () => {
  await using cloud = spawnChild(process.execPath, [...flags, hostileCloud, JSON.stringify(document)]);
  const { port } = await cloud.waitForLine((line) => 'port' in line);
  await using home = await temporaryDirectory('machine-');
  const file = home.file('credentials.json');
  const app_address = `http://127.0.0.1:${port}`;
  writeFileSync(
    file,
    JSON.stringify({ cloud: { id: partId, secret: 'secret', app_address, refresh_interval: '200ms' } }),
  );
  await using machine = spawnChild(process.execPath, [...flags, machineServer, '-config', file], {
    env: { PLATFORM_HOME: home.path, PLATFORM_BIND_ADDRESS: '127.0.0.1:0' },
  });
  const running = await machine.waitForLine(({ msg }) => msg === 'running');
  await using waits = await startWaits({
    url: `http://127.0.0.1:${running['port']}`,
    calls: [{ path: '/platform.robot.v1.RobotService/StopAll' }, ...operationCalls],
    pid: machine.pid,
  });
  const ask = async (): Promise<Record<string, number>> => {
    const index = cloud.lines.length;
    cloud.writeLine({});
    await cloud.waitForLine((line) => line === cloud.lines[index]);
    return cloud.lines[index] as Record<string, number>;
  };
  const bytes = (): number => processTree(machine.pid).reduce((sum, each) => sum + proportionalBytes(each), 0);
  let [held, growth] = [0, 0];
  let sent = await ask();
  while ((sent['connections'] ?? 0) < kinds) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    sent = await ask();
    await waits.note(`to kind ${sent['connections']}`);
    // The known kinds contain the largest.
    if ((sent['connections'] ?? 0) < 300) held = Math.max(held, bytes());
    growth = Math.max(growth, bytes() - held);
    faultProgress('kinds of garbage from the cloud', sent['connections'] ?? 0, kinds);
  }
  const before = sent['uploads'] ?? 0;
  await expect.poll(async () => (await ask())['uploads'], { timeout: 120_000 }).toBeGreaterThan(before);
  const files = readdirSync(`/proc/${machine.pid}/fd`).length;
  const unforeseen = machine.lines.filter(({ level }) => level === 'error').map(({ msg, error }) => `${msg}: ${error}`);
  reportFault('garbageFromCloud', {
    ...sent,
    ...waits.figures,
    growth,
    files,
    unforeseen: unforeseen.slice(0, 20),
  });
  expect(waits.figures.failures).toEqual({});
  expect(growth).toBeLessThanOrEqual(mostGrowth);
  expect(files).toBeLessThanOrEqual(mostFiles);
  expect(sent['links']).toBeGreaterThan(0);
  expectShortWaits(waits.figures, longestWaitMs);
});
