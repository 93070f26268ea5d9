/**
 * Random damage, from a seed, to payloads of a running cloud and to the stores of a killed one: pictures, rows of the ingest log and tails
 * of the write-ahead logs. Every later answer is correct, or an error that names the damage.
 */
import { randomBytes } from 'node:crypto';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { asPlatformError, type PlatformError } from '@platform/base';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { DataSyncService, DataType, SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { connect, type Link } from '@platform/rpc/client';
import { rollingSeed, temporaryDirectory } from '@platform/testkit';
import { deserialize, serialize } from 'bson';
import { expect, test } from 'vitest';
import { openControlClient } from '../../../apps/cloud/src/admin/control-channel.ts';
import { CloudUnderFire, linkTo, pauseMs, seededRandom } from '../crash/cloud-under-load.ts';
import { complaints } from './complaints.ts';
import { oneOf } from './damage.ts';
import { damageFile, fileDamages } from './damage-files.ts';
import { damageLog, logDamages } from './damage-log.ts';

const { FAULT_DAMAGES = '60' } = process.env;
const damages = Number(FAULT_DAMAGES);
const seed = rollingSeed();
/** A start takes time: in a short run, each kind of store damage occurs once. */
const restarts = Math.max(logDamages.length, Math.round(damages / 20));
const uploads = 8;
const each = 25;

/** Sum and number of the first readings of an installation, as a query returns them. */
const totalsOf = (readings: number): string =>
  JSON.stringify(readings === 0 ? [] : [{ _id: null, n: readings, sum: (readings * (readings + 1)) / 2 }]);

interface Sender {
  readings(count: number): Promise<void>;
  picture(): Promise<{ readonly id: string; readonly bytes: Buffer }>;
}

function senderOf(cloud: CloudUnderFire, link: Link): Sender {
  const { partId } = cloud.demo;
  const client = link.client(DataSyncService);
  const stream = randomBytes(16);
  let [seq, n] = [0n, 0];
  const metadata = (type: DataType) => ({
    ...{ partId, componentType: 'core:component:sensor', componentName: 'c', methodName: 'Readings', type },
    identity: { stream, seq: ++seq, floor: seq },
  });
  return {
    async readings(count) {
      const time = timestampFromMs(Date.now());
      for (let i = 0; i < count; i++)
        await client.dataCaptureUpload({
          metadata: metadata(DataType.TABULAR_SENSOR),
          sensorContents: Array.from({ length: each }, () =>
            create(SensorDataSchema, {
              metadata: { timeRequested: time, timeReceived: time },
              data: { case: 'struct', value: { readings: { n: ++n } } },
            }),
          ),
        });
    },
    async picture() {
      const bytes = randomBytes(6_000);
      const { binaryDataId: id } = await client.dataCaptureUpload({
        metadata: metadata(DataType.BINARY_SENSOR),
        sensorContents: [{ data: { case: 'binary', value: bytes } }],
      });
      return { id, bytes };
    },
  };
}

const totals = [
  { $match: { component_name: 'c' } },
  { $group: { _id: null, n: { $sum: 1 }, sum: { $sum: '$data.readings.n' } } },
];

/** The cloud's answer, or its error. */
async function askTotals(cloud: CloudUnderFire): Promise<string | PlatformError> {
  await using link = linkTo(cloud);
  const { organizationId } = cloud.demo;
  try {
    const { rawData } = await link
      .client(DataService)
      .tabularDataByMQL({ organizationId, mqlBinary: totals.map((stage) => serialize(stage)) });
    return JSON.stringify(rawData.map((row) => deserialize(row)));
  } catch (caught) {
    return asPlatformError(caught);
  }
}

test(`D33 after ${damages} random damages to payloads none is served, the doctor finds all, and restored payloads are served`, {
  timeout: 300_000 + damages * 2_000,
}, async () => {
  const random = seededRandom(seed);
  await using cloud = await CloudUnderFire.start();
  const { partId, partSecret } = cloud.demo;
  await using part = connect({
    baseUrl: cloud.url,
    credentials: { entity: partId, type: 'robot-secret', payload: partSecret },
  });
  const sender = senderOf(cloud, part);
  const pictures = new Map<string, Buffer>();
  for (let i = 0; i < 6; i++) {
    const { id, bytes } = await sender.picture();
    pictures.set(id, bytes);
  }
  await using link = linkTo(cloud);
  const client = link.client(DataService);
  /** Ids that do not return their upload, and whether the error names them. */
  const wrongOnes = async (ids: Iterable<string> = pictures.keys()): Promise<string[]> => {
    const wrong: string[] = [];
    for (const id of ids) {
      const bytes = pictures.get(id);
      const answer = await client.binaryDataByIDs({ binaryDataIds: [id], includeBinary: true }).then(
        ({ data: [found] }) => (bytes?.equals(found?.binary ?? new Uint8Array()) ? 'right' : 'other bytes'),
        (caught: unknown) => {
          const { code, message } = asPlatformError(caught);
          return code === 'data_loss' && message.includes(id) ? 'named' : message;
        },
      );
      if (answer === 'named') wrong.push(id);
      else expect(answer).toBe('right');
    }
    return wrong;
  };
  expect(await wrongOnes()).toEqual([]);
  const directory = join(cloud.directory, 'blobs');
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)));
  expect(files).toHaveLength(pictures.size);
  for (let i = 0; i < damages; i++) {
    const kind = oneOf(fileDamages, random);
    const damage = await damageFile(directory, files, kind, random);
    const wrong = await wrongOnes();
    expect(wrong.length, damage.what).toBe(kind.startsWith('exchanged') ? 2 : 1);
    const found = (await complaints(cloud.directory)).join('\n');
    for (const id of wrong) expect(found, damage.what).toContain(id);
    await damage.undo();
    expect(await wrongOnes(wrong), `${damage.what}, undone`).toEqual([]);
  }
  expect(await wrongOnes()).toEqual([]);
});

test(`D33 none of ${restarts} random damages to the ingest log and to tails of write-ahead logs leads to a wrong answer`, {
  timeout: 300_000 + restarts * 30_000,
}, async () => {
  const random = seededRandom(seed);
  await using golden = await temporaryDirectory();
  await using first = await CloudUnderFire.start();
  await first.firstStartOver();
  // A clean stop writes everything from the first start into the file itself, so a lost tail does not remove it.
  await first.stop();
  await using cloud = await CloudUnderFire.startOn(first.directory, { PLATFORM_SEAL_AGE: '1s' });
  const { partId, partSecret } = cloud.demo;
  const credentials = { entity: partId, type: 'robot-secret', payload: partSecret };
  {
    await using part = connect({ baseUrl: cloud.url, credentials });
    await senderOf(cloud, part).readings(uploads);
  }
  await sealedUpTo(cloud, uploads);
  await cloud.kill();
  await using later = await CloudUnderFire.startOn(cloud.directory, { PLATFORM_SEAL_AGE: '1h' });
  {
    await using part = connect({ baseUrl: later.url, credentials });
    const more = senderOf(later, part);
    await more.readings(uploads);
  }
  await later.kill();
  // The space that it reserves is most of the directory, and is reserved again.
  rmSync(join(later.directory, 'ballast'), { force: true });
  cpSync(later.directory, golden.path, { recursive: true });

  // The second half counts from 1 again.
  const half = (each * uploads * (each * uploads + 1)) / 2;
  const right = (count: number): string => {
    const rest = (count - uploads) * each;
    return JSON.stringify([{ _id: null, n: count * each, sum: half + (rest * (rest + 1)) / 2 }]);
  };
  const whole = right(2 * uploads);
  const prefixes = Array.from({ length: 2 * uploads + 1 }, (_, count) =>
    count <= uploads ? totalsOf(count * each) : right(count),
  );
  const unsealed = Array.from({ length: uploads }, (_, i) => uploads + 1 + i);
  const tally = { right: 0, named: 0, recovered: 0 };
  for (let i = 0; i < restarts; i++) {
    const kind = i < logDamages.length ? (logDamages[i] ?? '') : oneOf(logDamages, random);
    for (const name of readdirSync(later.directory)) rmSync(join(later.directory, name), { recursive: true });
    cpSync(golden.path, later.directory, { recursive: true });
    const damage = await damageLog(later.directory, kind, unsealed, random);
    if (damage.finds !== null)
      expect((await complaints(later.directory)).join('\n'), damage.what).toMatch(damage.finds);
    await later.start();
    const answer = await askTotals(later);
    if (answer === whole && damage.finds === null) tally.right++;
    else if (typeof answer === 'string') {
      // A lost tail that nothing else refers to goes unnoticed: the log ends with its last complete commit.
      expect(damage.finds, `${damage.what}: ${answer}`).toBe(null);
      expect(prefixes, `${damage.what}: ${answer}`).toContain(answer);
      tally.recovered++;
    } else {
      expect([damage.what, answer.code, answer.message]).toEqual([
        damage.what,
        'data_loss',
        expect.stringMatching(/ingest log at positions? /),
      ]);
      tally.named++;
    }
    await later.kill();
  }
  console.log(`FAULT_SEED=${seed}: ${restarts} damages to stores: ${JSON.stringify(tally)}`);
  expect(tally.named).toBeGreaterThan(0);
});

async function sealedUpTo({ directory }: CloudUnderFire, position: number): Promise<void> {
  await using control = await openControlClient(join(directory, 'control.sock'));
  for (;;) {
    const status = (await control?.call('status')) as { sealedPosition: number; retainedBytes: number };
    // The log must be truncated as well: that reveals a catalog that lost its end.
    if (status.sealedPosition >= position && status.retainedBytes === 0) return;
    await pauseMs(100);
  }
}
