import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeFlags } from '@platform/machine-server/node-flags';
import { thriftyEnvironment } from '../../../apps/cli/bin/become-node.js';
import { program } from '../../../tools/bundles/program.ts';
import { startProcess } from '../cloud/server-process.ts';
import { type BenchCloud, startCloud } from '../cloud/start-cloud.ts';

export interface SyncMachine extends AsyncDisposable {
  readonly pid: number;
  readonly cloud: BenchCloud;
  /** PLATFORM_HOME. */
  readonly home: string;
}

/** A cloud, and a machine-server that runs `configuration`. @param prepare called before the machine-server starts */
export async function startSyncMachine(
  configuration: (folder: string) => object,
  prepare: (home: string, cloud: BenchCloud) => void | Promise<void> = () => {},
): Promise<SyncMachine> {
  await using stack = new AsyncDisposableStack();
  const cloud = stack.use(await startCloud(configuration));
  const home = join(cloud.folder, 'machine');
  mkdirSync(home);
  const credentials = join(home, 'credentials.json');
  const content = { cloud: { id: cloud.partId, secret: cloud.partSecret, app_address: cloud.url } };
  writeFileSync(credentials, JSON.stringify(content), { mode: 0o600 });
  await prepare(home, cloud);
  const entry = program('machine-server');
  const args = [...process.execArgv, ...nodeFlags, entry, '-config', credentials];
  const env = { ...thriftyEnvironment, PLATFORM_HOME: home, PLATFORM_BIND_ADDRESS: '127.0.0.1:0' };
  const { pid } = stack.use(startProcess(process.execPath, args, env));
  const kept = stack.move();
  return { pid, cloud, home, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
