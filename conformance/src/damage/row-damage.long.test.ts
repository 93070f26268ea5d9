/**
 * Random damage to rows of the metadata of a running cloud, from a seed: of each checked table that has rows, one is deleted, moved,
 * pointed at another's value, or emptied of its checksum. Every answer is right, or DATA_LOSS; the doctor names the table; and when the
 * damage is undone, everything is answered again.
 */
import { randomBytes } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { asPlatformError } from '@platform/base';
import { DataService, TagsFilterType } from '@platform/proto/platform/app/data/v1/data';
import { DatasetService } from '@platform/proto/platform/app/dataset/v1/dataset';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { type Client, connect, type Link } from '@platform/rpc/client';
import { rollingSeed } from '@platform/testkit';
import { expect, test } from 'vitest';
import { migrations } from '../../../apps/cloud/src/metadata/migrations.ts';
import { checkedTablesOf } from '../../../apps/cloud/src/metadata/row-checks/checked-tables-of.ts';
import { CloudUnderFire, pauseMs, seededRandom } from '../crash/cloud-under-load.ts';
import { complaints } from './complaints.ts';
import { damageRow, rowDamages } from './damage-rows.ts';

const { FAULT_DAMAGES = '60' } = process.env;
/** In a short run, each kind occurs once in each table. */
const rounds = Math.max(1, Math.round(Number(FAULT_DAMAGES) / 200));
const tables = checkedTablesOf(migrations);
const seed = rollingSeed();

type Credentials = NonNullable<Parameters<typeof connect>[0]['credentials']>;

/** Over which a pass of questions is asked. */
interface Askers {
  readonly owner: Link;
  readonly part: Link;
}

type Questions = Readonly<Record<string, (askers: Askers) => Promise<unknown>>>;

/** @returns the ids */
async function uploadPictures(cloud: CloudUnderFire): Promise<readonly string[]> {
  const { partId, partSecret } = cloud.demo;
  await using part = connect({
    baseUrl: cloud.url,
    credentials: { entity: partId, type: 'robot-secret', payload: partSecret },
  });
  const stream = randomBytes(16);
  const ids: string[] = [];
  for (let n = 1; n <= 4; n++) {
    const { binaryDataId } = await part.client(DataSyncService).dataCaptureUpload({
      metadata: {
        ...{ partId, componentType: 'core:component:camera', componentName: `cam${n % 2}`, methodName: 'GetImages' },
        ...{ type: DataType.BINARY_SENSOR, identity: { stream, seq: BigInt(n), floor: BigInt(n) } },
      },
      sensorContents: [
        {
          metadata: { timeReceived: timestampFromMs(Date.UTC(2026, 9, 1, n)) },
          data: { case: 'binary', value: randomBytes(1_000) },
        },
      ],
    });
    ids.push(binaryDataId);
  }
  return ids;
}

async function addLabels(asked: Client<typeof DataService>, pictures: readonly string[]): Promise<void> {
  await asked.addTagsToBinaryDataByIDs({ binaryDataIds: pictures.slice(0, 3), tags: ['sharp'] });
  await asked.addTagsToBinaryDataByIDs({ binaryDataIds: pictures.slice(1, 2), tags: ['dark'] });
  for (const [n, binaryDataId] of pictures.slice(0, 2).entries())
    await asked.addBoundingBoxToImageByID({ binaryDataId, label: `bolt ${n}`, xMaxNormalized: 1, yMaxNormalized: 0.5 });
}

/** Bytes of logs, and of a query, that count as usage. */
async function use(cloud: CloudUnderFire, link: Link): Promise<void> {
  const { organizationId, partId, partSecret } = cloud.demo;
  await using part = connect({
    baseUrl: cloud.url,
    credentials: { entity: partId, type: 'robot-secret', payload: partSecret },
  });
  await part.client(DataSyncService).dataCaptureUpload({
    metadata: {
      ...{ partId, componentType: 'core:component:sensor', componentName: 'cpu', methodName: 'Readings' },
      ...{ type: DataType.TABULAR_SENSOR, identity: { stream: randomBytes(16), seq: 1n, floor: 1n } },
    },
    sensorContents: [
      {
        metadata: { timeReceived: timestampFromMs(Date.UTC(2026, 9, 1)) },
        data: { case: 'struct', value: { n: 1 } },
      },
    ],
  });
  await part.client(RobotService).log({ id: partId, logs: [{ message: 'counted', level: 'info' }] });
  await link.client(DataService).tabularDataBySQL({ organizationId, sqlQuery: 'select * from readings' });
  // It is written a little later.
  for (let tries = 0; tries < 100; tries++) {
    const { limits } = await link.client(FleetService).listLimits({ organizationId });
    if (limits.some(({ used = 0n }) => used > 0n)) return;
    await pauseMs(100);
  }
  throw new Error('expected the bytes that a query has scanned, found none');
}

/** One that imports another one, with two revisions and a tag. @returns its id */
async function addFragments(app: Client<typeof AppService>, organizationId: string): Promise<string> {
  const { fragment: inner } = await app.createFragment({ name: 'inner', organizationId, config: {} });
  const config = { fragments: [inner?.id ?? ''] };
  const { fragment: outer } = await app.createFragment({ name: 'outer', organizationId, config });
  const id = outer?.id ?? '';
  await app.updateFragment({ id, name: 'outer', config: { ...config, debug: true } });
  const { fragment: third } = await app.createFragment({ name: 'third', organizationId, config });
  for (const fragmentId of [id, third?.id ?? ''])
    await app.setFragmentTag({ fragmentId, tag: 'stable', revision: '1' });
  return id;
}

/** What is asked while rows are damaged. */
interface Filled {
  readonly keyOfOwner: Credentials;
  readonly organizationId: string;
  readonly locationId: string;
  readonly robotId: string;
  readonly secondPart: string;
  readonly fragmentId: string;
  readonly pictures: readonly string[];
  readonly datasetId: string;
}

async function fill(cloud: CloudUnderFire): Promise<Filled> {
  const { organizationId } = cloud.demo;
  // Only the first start shows the key.
  const keyOfOwner = { entity: String(cloud.ready['keyId']), type: 'api-key', payload: String(cloud.ready['key']) };
  await using link = connect({ baseUrl: cloud.url, credentials: keyOfOwner });
  const app = link.client(AppService);
  const { locations } = await app.listLocations({ organizationId });
  const locationId = locations[0]?.id ?? '';
  const { id: robotId } = await app.newRobot({ name: 'second', location: locationId });
  const { partId: secondPart } = await app.newRobotPart({ robotId, partName: 'arm' });
  const fragmentId = await addFragments(app, organizationId);
  for (const debug of [true, false])
    await app.updateRobotPart({
      ...{ id: secondPart, name: 'arm' },
      robotConfigJson: JSON.stringify({
        ...{ debug, fragments: [{ id: fragmentId, version: 'stable' }] },
        data_retention_policy: { days: 3_000 },
      }),
    });
  await app.createLocation({ organizationId, name: 'Yard' });
  await app.createKey({
    name: 'reader',
    authorizations: [
      {
        authorizationType: 'role',
        authorizationId: 'organization_operator',
        resourceType: 'organization',
        resourceId: organizationId,
        organizationId,
      },
    ],
  });
  const pictures = await uploadPictures(cloud);
  const { id: datasetId } = await link.client(DatasetService).createDataset({ name: 'first', organizationId });
  await link.client(DatasetService).createDataset({ name: 'second', organizationId });
  await addLabels(link.client(DataService), pictures);
  await use(cloud, link);
  await link.client(DataService).addBinaryDataToDatasetByIDs({ datasetId, binaryDataIds: pictures.slice(0, 2) });
  return { keyOfOwner, organizationId, locationId, robotId, secondPart, fragmentId, pictures, datasetId };
}

function questionsOf(cloud: CloudUnderFire, filled: Filled): Questions {
  const { organizationId, locationId, robotId, secondPart, fragmentId, pictures, datasetId } = filled;
  const ofData =
    (ask: (data: Client<typeof DataService>) => Promise<unknown>) =>
    ({ owner }: Askers) =>
      ask(owner.client(DataService));
  const ofApp =
    (ask: (app: Client<typeof AppService>) => Promise<unknown>) =>
    ({ owner }: Askers) =>
      ask(owner.client(AppService));
  return {
    pictures: ofData(async (asked) => {
      const filter = { organizationIds: [organizationId] };
      const { data } = await asked.binaryDataByFilter({ dataRequest: { filter, limit: 100n } });
      return data.map(({ metadata }) => [
        ...[metadata?.binaryDataId, metadata?.captureMetadata?.componentName, metadata?.captureMetadata?.tags],
        metadata?.annotations?.bboxes.map(({ id, label, xMaxNormalized }) => [id, label, xMaxNormalized]),
      ]);
    }),
    'pictures with a tag': ofData(async (asked) => {
      const filter = { tagsFilter: { type: TagsFilterType.MATCH_BY_OR, tags: ['sharp'] } };
      const { data } = await asked.binaryDataByFilter({ dataRequest: { filter, limit: 100n } });
      return data.map(({ metadata }) => metadata?.binaryDataId);
    }),
    bytes: ofData(async (asked) => {
      const { data } = await asked.binaryDataByIDs({ binaryDataIds: [...pictures], includeBinary: true });
      return data.map(({ binary }) => Buffer.from(binary).toString('base64'));
    }),
    datasets: async ({ owner }) => {
      const found = await owner.client(DatasetService).listDatasetsByOrganizationID({ organizationId });
      return found.datasets.map(({ id, name }) => [id, name]);
    },
    'pictures of a dataset': ofData(async (asked) => {
      const { data } = await asked.binaryDataByFilter({ dataRequest: { filter: { datasetId }, limit: 100n } });
      return data.map(({ metadata }) => metadata?.binaryDataId);
    }),
    locations: ofApp(async (app) => {
      const found = await app.listLocations({ organizationId });
      return found.locations.map(({ id, name, parentLocationId }) => [id, name, parentLocationId]);
    }),
    machines: ofApp(async (app) => {
      const { robots } = await app.listRobots({ locationId });
      return robots.map(({ id, name }) => [id, name]);
    }),
    parts: ofApp(async (app) => {
      const { parts } = await app.getRobotParts({ robotId });
      return parts.map(({ id, name, mainPart, secret, robotConfigJson }) => [
        ...[id, name, mainPart, secret, robotConfigJson],
      ]);
    }),
    fragments: ofApp(async (app) => {
      const { fragments } = await app.listFragments({ organizationId });
      return fragments.map(({ id, name, visibility, fragmentConfigJson }) => [
        ...[id, name, visibility, fragmentConfigJson],
      ]);
    }),
    'a fragment by its tag': ofApp(async (app) => {
      const { fragment, tags } = await app.getFragment({ id: fragmentId, version: 'stable' });
      return [fragment?.fragmentConfigJson, tags.map(({ tag, revision }) => [tag, revision])];
    }),
    'history of a configuration': ofApp(async (app) => {
      const { history } = await app.getRobotPartHistory({ id: secondPart });
      return history.map(({ old, editedBy }) => [old?.robotConfigJson, editedBy]);
    }),
    'scanned bytes': async ({ owner }) => {
      const { limits } = await owner.client(FleetService).listLimits({ organizationId });
      return limits.map(({ name, used }) => [name, used]);
    },
    'the part itself': async ({ part }) => {
      const found = await part.client(AppService).getRobotPart({ id: cloud.demo.partId });
      return found.part?.id;
    },
  };
}

/** The answers to all questions, by their names, over two new connections. */
async function answersTo(questions: Questions, cloud: CloudUnderFire, filled: Filled): Promise<Record<string, string>> {
  const { url: baseUrl, demo } = cloud;
  await using owner = connect({ baseUrl, credentials: filled.keyOfOwner });
  const ofPart = { entity: demo.partId, type: 'robot-secret', payload: demo.partSecret };
  await using part = connect({ baseUrl, credentials: ofPart });
  const asked = Object.entries(questions).map(async ([name, ask]) => [name, await answerOf(ask({ owner, part }))]);
  return Object.fromEntries(await Promise.all(asked));
}

/** The answer as text; `data_loss` and the like for errors. */
async function answerOf(asked: Promise<unknown>): Promise<string> {
  return asked.then(
    (answer) => JSON.stringify(answer, (_, each) => (typeof each === 'bigint' ? String(each) : each)),
    (caught: unknown) => {
      const { code, message } = asPlatformError(caught);
      return code === 'data_loss' ? code : `${code}: ${message}`;
    },
  );
}

test(`D33 ${rounds * rowDamages.length} damages to rows of each checked table lead to no wrong answer, and the doctor names all of them`, {
  timeout: 300_000 + rounds * 600_000,
}, async () => {
  const random = seededRandom(seed);
  await using cloud = await CloudUnderFire.start();
  await cloud.firstStartOver();
  const filled = await fill(cloud);
  const { robotId } = filled;
  const questions = questionsOf(cloud, filled);
  const answers = (): Promise<Record<string, string>> => answersTo(questions, cloud, filled);
  const right = await answers();
  const refused = Object.entries(right).filter(([, answer]) => answer.startsWith('data_loss') || /^\w+: /.test(answer));
  expect(refused).toEqual([]);
  expect(await complaints(cloud.directory)).toEqual([]);

  const tally = { damages: 0, right: 0, refused: 0, tables: new Set<string>() };
  const wrong: string[] = [];
  const askAll = async (what: string): Promise<void> => {
    for (const [name, answer] of Object.entries(await answers())) {
      if (answer === 'data_loss') tally.refused++;
      else if (answer === right[name]) tally.right++;
      else wrong.push(`${what}: ${name} was answered ${answer.slice(0, 300)}`);
    }
  };
  // Callers are known for two seconds.
  const requireAnswered = (what: string): Promise<void> =>
    expect.poll(answers, { interval: 500, message: `${what}, undone` }).toEqual(right);
  for (let round = 0; round < rounds; round++)
    for (const table of tables) {
      for (const kind of rowDamages) {
        const damage = damageRow(cloud.directory, table, kind, random);
        if (damage === undefined) continue;
        tally.damages++;
        tally.tables.add(table.table);
        await askAll(damage.what);
        if (!(await complaints(cloud.directory)).some((one) => one.includes(table.table)))
          wrong.push(`${damage.what}: not found by the doctor`);
        await damage.undo();
        await requireAnswered(damage.what);
      }
      expect(await complaints(cloud.directory), `damages to ${table.table}, undone`).toEqual([]);
    }

  // Machines and parts are read once, at the start.
  let undo = async (): Promise<void> => {};
  for (const name of ['machines', 'parts'])
    for (const kind of rowDamages) {
      const table = tables.find((each) => each.table === name);
      await cloud.stop();
      await undo();
      const of = name === 'machines' ? 'id' : 'machine_id';
      const damage = table && damageRow(cloud.directory, table, kind, random, (row) => row[of] === robotId);
      await cloud.start();
      undo = async () => damage?.undo();
      if (damage === undefined) continue;
      tally.damages++;
      const before = tally.refused;
      await askAll(damage.what);
      if (tally.refused === before) wrong.push(`${damage.what}: nothing was refused after a restart`);
    }
  await cloud.stop();
  await undo();
  await cloud.start();
  await requireAnswered('all');
  console.log(
    `FAULT_SEED=${seed}: ${tally.damages} damages to rows of ${tally.tables.size} tables (${[...tally.tables].join(', ')}): ${tally.right} answers right, ${tally.refused} refused, ${wrong.length} wrong`,
  );
  expect(wrong).toEqual([]);
  expect(tally.refused).toBeGreaterThan(tally.tables.size);
  expect(tally.tables.size).toBeGreaterThanOrEqual(14);
});
