import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { connect } from '@platform/rpc/client';
import { type Cloud, openCloud } from '@platform/sdk/cloud';
import { program } from '../../../tools/bundles/program.ts';
import { benchConfiguration } from '../readings/part-configuration.ts';
import { scratch } from './scratch.ts';
import { type ServerProcess, startProcess } from './server-process.ts';

export interface BenchCloud extends AsyncDisposable {
  readonly url: string;
  readonly organizationId: string;
  readonly partId: string;
  readonly partSecret: string;
  /** The owner's key. */
  readonly keyId: string;
  readonly key: string;
  /** Authenticated with it. */
  readonly client: Cloud;
  readonly process: ServerProcess;
  /** Folder on disk for other files of the bench. */
  readonly folder: string;
}

/** A new cloud in its own process, its data on disk, its part configured for the bench (triggers on). */
export async function startCloud(
  configuration: object | ((folder: string) => object) = benchConfiguration('gt'),
): Promise<BenchCloud> {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(scratch());
  const entry = program('cloud');
  const args = [
    ...process.execArgv,
    entry,
    '--data',
    join(folder, 'cloud'),
    '--port',
    '0',
    '--host',
    '127.0.0.1',
    '--json',
  ];
  const cloud = stack.use(startProcess(process.execPath, args, { PLATFORM_LOG_LEVEL: 'warn' }));
  const ready = (await cloud.event('ready')) as unknown as Omit<BenchCloud, 'client'>;
  const { url, organizationId, partId, keyId, key } = ready;
  const link = connect({ baseUrl: url, credentials: { entity: keyId, type: 'api-key', payload: key } });
  const content = typeof configuration === 'function' ? configuration(folder) : configuration;
  const robotConfigJson = JSON.stringify(content).replaceAll('http://TEST-INBOX', url);
  await link.client(AppService).updateRobotPart({ id: partId, name: 'bench', robotConfigJson });
  await link[Symbol.asyncDispose]();
  const client = stack.use(openCloud({ url, keyId, key, timeoutMs: 120_000 }));
  const kept = stack.move();
  const partSecret = partSecretOf(join(folder, 'cloud'));
  return {
    url,
    organizationId,
    partId,
    partSecret,
    ...{ keyId, key },
    client,
    process: cloud,
    folder,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The secret of the part that a first start registers. */
function partSecretOf(dataDir: string): string {
  const { partSecret } = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as { partSecret: string };
  return partSecret;
}

/** The number of readings, according to a query, of components that start with `bench` and match `more`. */
export async function countReadings(
  { client, organizationId }: BenchCloud,
  more: Readonly<Record<string, unknown>> = {},
): Promise<number> {
  const [row] = await client.queryMql(organizationId, [
    { $match: { component_name: { $gte: 'bench', $lt: 'bencha' }, ...more } },
    { $group: { _id: null, readings: { $sum: 1 } } },
  ]);
  return Number(row?.['readings'] ?? 0);
}
