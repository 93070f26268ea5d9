/** Backs up a cloud during continuous writes and restores it elsewhere; the ledger of acknowledged readings decides. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DataSyncService, DataType, SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { connect } from '@platform/rpc/client';
import { Ledger, type LedgerRow, spawnChild } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { openTestStore } from '../../apps/cloud/src/metadata/testing/test-store.ts';
import { program } from '../../tools/bundles/program.ts';
import { CloudUnderFire, linkTo, pauseMs, query } from './crash/cloud-under-load.ts';

const adminEntry = program('admin-main');
const nodeFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];

type Environment = Readonly<Record<string, string>>;

function startAdmin(request: object, env: Environment = {}) {
  return spawnChild(process.execPath, [...nodeFlags, adminEntry, JSON.stringify(request)], { env });
}

/** Runs one command of `platform admin` and returns its answer. */
async function admin(request: object, env: Environment = {}): Promise<Readonly<Record<string, unknown>>> {
  await using child = startAdmin(request, env);
  await child.exited;
  const result = child.lines[0]?.['result'];
  if (typeof result !== 'object' || result === null)
    throw new Error(`expected a result, found ${JSON.stringify(child.lines)} ${child.stderr}`);
  return { ...result };
}

/** Where an installation keeps metadata and log: the environment for its cloud and for `platform admin`. */
const stores: Readonly<Record<string, () => Promise<Environment>>> = {
  SQLite: async () => ({}),
  // A database of its own on a server that the tests of this process share.
  Postgres: async () => {
    const store = await openTestStore('postgres');
    onTestFinished(() => store[Symbol.asyncDispose]());
    return { PLATFORM_DATABASE_URL: store.database ?? '' };
  },
};

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'backup-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Uploads readings of the ledger until told to stop, and records acknowledgements. */
async function upload(cloud: CloudUnderFire, ledger: Ledger, component: string, stopped: () => boolean): Promise<void> {
  const { partId, partSecret } = cloud.demo;
  await using link = connect({
    baseUrl: cloud.url,
    credentials: { entity: partId, type: 'robot-secret', payload: partSecret },
  });
  const client = link.client(DataSyncService);
  const stream = randomBytes(16);
  for (let seq = 1n; !stopped(); seq++) {
    const readings = Array.from({ length: 20 }, () => ledger.next(partId, component));
    const now = timestampFromMs(Date.now());
    await client.dataCaptureUpload({
      metadata: {
        ...{ partId, componentType: 'core:component:sensor', componentName: component, methodName: 'Readings' },
        type: DataType.TABULAR_SENSOR,
        identity: { stream, seq, floor: seq },
      },
      sensorContents: readings.map(({ seq: number, hash }) =>
        create(SensorDataSchema, {
          metadata: { timeRequested: now, timeReceived: now },
          data: { case: 'struct', value: { readings: { number, hash } } },
        }),
      ),
    });
    ledger.acknowledge(readings);
  }
}

async function rowsOf(cloud: CloudUnderFire): Promise<LedgerRow[]> {
  await using link = linkTo(cloud);
  const rows = await query(link, cloud.demo.organizationId, [
    { $match: { method_name: 'Readings' } },
    { $project: { part_id: 1, component_name: 1, 'data.readings': 1 } },
  ]);
  return rows.map((row) => {
    const { number, hash } = (row['data'] as { readings: { number: number; hash: string } }).readings;
    return { machine: String(row['part_id']), component: String(row['component_name']), seq: Number(number), hash };
  });
}

test.each([
  ['SQLite', 'SQLite'],
  ['Postgres', 'Postgres'],
  ['SQLite', 'Postgres'],
])(
  'I15 a backup under load on %s holds every reading acknowledged before it once; the cloud restored on %s accepts uploads and continues',
  async (from, to) => {
    const backups = directory();
    const restored = join(directory(), 'data');
    const [first = {}, elsewhere = {}] = [await stores[from]?.(), await stores[to]?.()];
    await using cloud = await CloudUnderFire.start(first);
    const before = new Ledger();
    let stop = false;
    // The backup must contain readings acknowledged before it began; the load continues with further numbers.
    const uploads = ['a', 'b', 'c'].map((component) => upload(cloud, before, component, () => stop));
    while (before.check([]).acknowledged < 1_000) await pauseMs(50);
    const mustBeThere = before.check([]).lost;
    const destination = join(backups, 'b');
    const request = { command: 'backup', dataDirectory: cloud.directory, destination, withInstanceKey: true };
    const report = await admin(request, first);
    const acknowledgedMeanwhile = before.check([]).acknowledged - mustBeThere.length;
    stop = true;
    await Promise.all(uploads);
    expect(report).toMatchObject({ destination, instanceKey: 'included' });
    expect(acknowledgedMeanwhile).toBeGreaterThan(0);

    const { warnings } = await admin({ command: 'restore', source: destination, dataDirectory: restored }, elsewhere);
    expect(String(warnings)).toContain('Machines delete what the cloud has acknowledged');
    await using second = await CloudUnderFire.startOn(restored, elsewhere);
    const rows = await rowsOf(second);
    const found = new Set(rows.map(({ component, seq }) => `${component} ${seq}`));
    const { duplicated, bad, phantom } = before.check(rows);
    expect(mustBeThere.filter(({ component, seq }) => !found.has(`${component} ${seq}`))).toEqual([]);
    expect({ duplicated, bad, phantom }).toEqual({ duplicated: [], bad: [], phantom: [] });
    console.log(
      `${mustBeThere.length} acknowledged before, ${acknowledgedMeanwhile} meanwhile, ${rows.length} restored`,
    );

    const after = new Ledger('after');
    let ended = false;
    const again = upload(second, after, 'd', () => ended);
    while (after.check([]).acknowledged < 100) await pauseMs(20);
    ended = true;
    await again;
    const fresh = (await rowsOf(second)).filter(({ component }) => component === 'd');
    expect(after.check(fresh)).toMatchObject({ lost: [], duplicated: [], bad: [], phantom: [] });
    await second.stop();
    await second.start();
    expect((await rowsOf(second)).length).toBe(rows.length + fresh.length);
  },
);

test.each(['SQLite', 'Postgres'])(
  'I15 after a backup on %s is killed, deletions still work, and the next backup succeeds',
  async (store) => {
    const env = (await stores[store]?.()) ?? {};
    await using cloud = await CloudUnderFire.start(env);
    const backups = directory();
    const ledger = new Ledger();
    let stop = false;
    const uploading = upload(cloud, ledger, 'a', () => stop);
    while (ledger.check([]).acknowledged < 500) await pauseMs(20);
    const killed = startAdmin(
      { command: 'backup', dataDirectory: cloud.directory, destination: join(backups, 'k') },
      env,
    );
    while (!killed.stderr.includes('copying')) await pauseMs(2);
    await killed.kill();
    const held = async () => (await admin({ command: 'status', dataDirectory: cloud.directory }, env))['deletionsHeld'];
    while ((await held()) === true) await pauseMs(20);
    const report = await admin(
      { command: 'backup', dataDirectory: cloud.directory, destination: join(backups, 'n') },
      env,
    );
    stop = true;
    await uploading;
    expect(Number(report['lastPosition'])).toBeGreaterThan(0);
  },
);

test.each(['SQLite', 'Postgres'])('I15 a stopped cloud on %s is backed up under its lock', async (store) => {
  const env = (await stores[store]?.()) ?? {};
  await using cloud = await CloudUnderFire.start(env);
  const { partId } = cloud.demo;
  await cloud.stop();
  const destination = join(directory(), 'b');
  expect(await admin({ command: 'backup', dataDirectory: cloud.directory, destination }, env)).toMatchObject({
    instanceKey: 'left-out',
  });
  expect(existsSync(join(destination, 'demo.json'))).toBe(false);
  await cloud.start();
  expect(cloud.demo.partId).toBe(partId);
});

test('D6 D5 the instance key is replaced in a running cloud: tokens, keys and part secrets continue, before and after a restart', async () => {
  await using cloud = await CloudUnderFire.start();
  const keyFile = join(cloud.directory, 'instance.key');
  const old = readFileSync(keyFile, 'utf8');
  await using link = linkTo(cloud);
  const ask = () => query(link, cloud.demo.organizationId, [{ $limit: 1 }]);
  await ask();
  const ledger = new Ledger();
  let stop = false;
  const uploading = upload(cloud, ledger, 'a', () => stop);
  expect(await admin({ command: 'rotate-instance-key', dataDirectory: cloud.directory })).toMatchObject({
    resealed: expect.any(Number),
  });
  await ask();
  await using signedInAfter = linkTo(cloud);
  await query(signedInAfter, cloud.demo.organizationId, [{ $limit: 1 }]);
  stop = true;
  await uploading;
  await cloud.stop();
  await cloud.start();
  expect(readFileSync(keyFile, 'utf8')).not.toContain(old.trim());
  await ask();
  stop = false;
  const again = upload(cloud, ledger, 'b', () => stop);
  await pauseMs(300);
  stop = true;
  await again;
  expect(ledger.check(await rowsOf(cloud))).toMatchObject({ lost: [], duplicated: [], bad: [], phantom: [] });
});
