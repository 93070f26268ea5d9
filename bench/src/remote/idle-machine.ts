/** The memory of a machine-server that nobody calls, beside that of another checkout. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nodeFlags } from '@platform/machine-server/node-flags';
import { processTree, proportionalBytes } from '@platform/testkit';
import { thriftyEnvironment } from '../../../apps/cli/bin/become-node.js';
import { findBundles } from '../../../tools/bundles/find-bundles.js';
import { program } from '../../../tools/bundles/program.ts';
import { startProcess } from '../cloud/server-process.ts';
import { startCloud } from '../cloud/start-cloud.ts';
import { median } from '../figures/statistics.ts';
import type { Figure } from '../store/figure.ts';

const turns = 5;
const settleMs = 20_000;

/** @param before folder of another checkout. Undefined: no comparison */
export async function measureIdleMachine(before: string | undefined): Promise<Figure[]> {
  await using cloud = await startCloud({});
  const here = program('machine-server');
  const there = before === undefined ? undefined : bundleOf(before);
  const figures = { here: [] as number[], there: [] as number[] };
  let count = 0;
  const measure = async (entry: string): Promise<number> => {
    const home = join(cloud.folder, `machine-${++count}`);
    mkdirSync(home);
    const credentials = join(home, 'credentials.json');
    const content = { cloud: { id: cloud.partId, secret: cloud.partSecret, app_address: cloud.url } };
    writeFileSync(credentials, JSON.stringify(content), { mode: 0o600 });
    const env = { ...thriftyEnvironment, PLATFORM_HOME: home, PLATFORM_BIND_ADDRESS: '127.0.0.1:0' };
    await using machine = startProcess(process.execPath, [...nodeFlags, entry, '-config', credentials], env);
    await sleep(settleMs);
    return processTree(machine.pid).reduce((sum, pid) => sum + proportionalBytes(pid), 0) / 1e6;
  };
  for (let turn = 0; turn < turns; turn++) {
    if (there !== undefined) figures.there.push(await measure(there));
    figures.here.push(await measure(here));
  }
  const value = median(figures.here);
  if (there === undefined) return [{ name: 'a machine-server that nobody calls: memory', value, unit: 'MB' }];
  const was = median(figures.there);
  return [
    {
      ...{ name: 'a machine-server that nobody calls: memory beyond that of the other checkout', unit: 'MB', most: 2 },
      ...{ value: value - was, note: `${value.toFixed(1)} MB, before ${was.toFixed(1)} MB` },
    },
  ];
}

function bundleOf(checkout: string): string {
  const folder = findBundles(
    checkout,
    process.execPath,
    (line: string) => console.error(line),
    () => () => {},
  );
  if (folder === undefined) throw new Error(`expected programs of ${checkout}, which could not be bundled; see above`);
  return join(folder, 'machine-server.js');
}
