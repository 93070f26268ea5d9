/** I13 I14: the cloud as a process on a data directory whose disk has no free byte, or no free inode. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { asPlatformError } from '@platform/base';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { connect, type Link } from '@platform/rpc/client';
import {
  type ChildProcess,
  freePort,
  spawnChild,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@platform/testkit';
import { afterAll, expect, test } from 'vitest';
import { program } from '../../tools/bundles/program.ts';
import { CloudUnderFire, countOf, type Demo, pauseMs, uploadUntil } from './crash/cloud-under-load.ts';

const main = program('cloud');
const nodeFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];

const fills = {
  bytes: 'for bytes in 65536 4096; do dd if=/dev/zero bs=$bytes >> "$1/filler/0" 2> /dev/null; done',
  inodes: 'n=0; while true > "$1/filler/$n"; do n=$((n + 1)); done 2> /dev/null',
};

/**
 * Mounts a disk that exists as long as the process, copies a data directory onto it without its ballast, fills the rest, and then starts
 * the cloud.
 */
const onFullDisk = (fill: string): string => `
  mount -t tmpfs -o size=80m,nr_inodes=2000 none "$1" && cp -a "$2/." "$1" && rm -rf "$1/ballast" "$1/$4" || exit 9
  mkdir "$1/filler"; ${fill}
  exec "$0" ${nodeFlags.join(' ')} "$3" --data "$1" --port "$5"`;

interface FullDisk extends AsyncDisposable {
  readonly process: ChildProcess;
  /** Authenticated as the owner. */
  readonly link: Link;
  makeRoom(): void;
}

async function startOnFullDisk(
  of: CloudUnderFire,
  directory: TemporaryDirectory,
  filled: keyof typeof fills,
  removed: string,
): Promise<FullDisk> {
  const port = await freePort();
  const process_ = spawnChild(
    'unshare',
    [
      '-rm',
      'sh',
      '-c',
      onFullDisk(fills[filled]),
      process.execPath,
      directory.path,
      of.directory,
      main,
      removed,
      String(port),
    ],
    { env: { PLATFORM_LOG_LEVEL: 'error' } },
  );
  const { keyId, key } = of.ready as { keyId: string; key: string };
  const link = connect({
    baseUrl: `http://127.0.0.1:${port}`,
    credentials: { entity: keyId, type: 'api-key', payload: key },
  });
  return {
    process: process_,
    link,
    makeRoom: () => rmSync(join('/proc', String(process_.pid), 'root', directory.path, 'filler'), { recursive: true }),
    async [Symbol.asyncDispose]() {
      await link[Symbol.asyncDispose]();
      await process_.kill('SIGTERM');
    },
  };
}

const isReady = (line: Readonly<Record<string, unknown>>): boolean => line['event'] === 'ready';

interface Killed {
  readonly cloud: CloudUnderFire;
  readonly demo: Demo;
  readonly readings: number;
}

/** The tests copy its data directory. */
let killed: Promise<Killed> | undefined;
const killedCloud = (): Promise<Killed> => (killed ??= killCloud());
afterAll(async () => (await killed)?.cloud[Symbol.asyncDispose]());

/** At least fifty readings, then a kill while some of them are unsealed. */
async function killCloud(): Promise<Killed> {
  const cloud = await CloudUnderFire.start();
  await cloud.firstStartOver();
  let batches = 0;
  const { acknowledged } = await uploadUntil(cloud, 'counter', () => ++batches > 5);
  for (const reserve of ['start-reserve', 'start-inodes/23'])
    while (!existsSync(join(cloud.directory, reserve))) await pauseMs(100);
  await cloud.kill();
  return { cloud, demo: cloud.demo, readings: acknowledged };
}

test.each([
  ['bytes', /512 MiB free on the disk/, /\d+ bytes are free.*uploads are refused until 536870912 bytes/],
  ['inodes', /256 free inodes on the disk/, /\d+ inodes are free.*uploads are refused until 256 inodes/],
] as const)(
  'I13 I14 on a disk without free %s the cloud starts, answers queries, accepts edits and deletions, refuses uploads, and says so',
  async (filled, refusal, said) => {
    const { cloud, demo, readings } = await killedCloud();
    await using directory = await temporaryDirectory();
    await using full = await startOnFullDisk(cloud, directory, filled, 'no-such-file');
    await full.process.waitForLine(isReady);
    const { link } = full;
    const { organizationId, partId } = demo;

    expect(await countOf(link, organizationId, 'counter')).toMatchObject({ distinct: readings, rows: readings });
    await link.client(AppService).updateOrganization({ organizationId, name: 'Renamed on a full disk' });
    const upload = link.client(DataSyncService).dataCaptureUpload({
      metadata: {
        partId,
        componentType: 'core:component:sensor',
        componentName: 'counter',
        methodName: 'Readings',
        type: DataType.TABULAR_SENSOR,
      },
      sensorContents: [{ data: { case: 'struct', value: { n: 1 } } }],
    });
    await expect(upload.catch((caught: unknown) => Promise.reject(asPlatformError(caught)))).rejects.toMatchObject({
      code: 'resource_exhausted',
      message: expect.stringMatching(refusal),
    });
    await link.client(DataService).deleteTabularData({ organizationId, deleteOlderThanDays: 0 });
    expect(await countOf(link, organizationId, 'counter')).toMatchObject({ rows: 0 });
    await expect
      .poll(() => full.process.stderr)
      .toMatch(new RegExp(`disk of ${directory.path} is full: ${said.source}`));
  },
);

test.each([
  ['bytes', 'start-reserve'],
  ['inodes', 'start-inodes'],
] as const)(
  'I13 I14 a start without free %s says how many it needs and where, and continues by itself when there are some',
  async (filled, reserve) => {
    const { cloud, demo, readings } = await killedCloud();
    await using directory = await temporaryDirectory();
    await using full = await startOnFullDisk(cloud, directory, filled, reserve);
    const waits = new RegExp(`disk of ${directory.path} is full: a start needs \\d+ ${filled}, \\d+ are free`);
    while (!waits.test(full.process.stderr)) {
      expect(await Promise.race([full.process.exited, pauseMs(50)])).toBeUndefined();
    }
    full.makeRoom();
    await full.process.waitForLine(isReady);
    expect(await countOf(full.link, demo.organizationId, 'counter')).toMatchObject({ rows: readings });
  },
);
