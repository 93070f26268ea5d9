/** A running cloud whose readings are all in sealed files, with queries and their expected answers. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { DataSyncService, DataType, SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { connect, type Link } from '@platform/rpc/client';
import { deserialize, serialize } from 'bson';
import { openControlClient } from '../../../apps/cloud/src/admin/control-channel.ts';
import { CloudUnderFire, linkTo, pauseMs } from '../crash/cloud-under-load.ts';

export interface Question {
  readonly name: string;
  readonly pipeline: readonly object[];
  /** The answer that `ask` must return. */
  readonly right: string;
  /** Whether the answer needs every file. */
  readonly needsAll: boolean;
}

export interface FilledCloud extends AsyncDisposable {
  readonly cloud: CloudUnderFire;
  readonly questions: readonly Question[];
  /** The rows as text for comparison. @throws the cloud's error */
  ask(question: Question): Promise<string>;
}

const dayMs = 86_400_000;
const days = 8;
const rounds = 2;

/** @param random determines the values. */
export async function fillCloud(random: (from: number, to: number) => number): Promise<FilledCloud> {
  const cloud = await CloudUnderFire.start({ PLATFORM_SEAL_AGE: '1s' });
  const readings = await upload(cloud, random);
  const { organizationId } = cloud.demo;
  const link: Link = linkTo(cloud);
  const client = link.client(DataService);
  return {
    cloud,
    questions: questionsOf(readings),
    async ask({ pipeline }) {
      const { rawData } = await client.tabularDataByMQL({
        organizationId,
        mqlBinary: pipeline.map((stage) => serialize(stage)),
      });
      return JSON.stringify(rawData.map((row) => deserialize(row)));
    },
    async [Symbol.asyncDispose]() {
      await link[Symbol.asyncDispose]();
      await cloud[Symbol.asyncDispose]();
    },
  };
}

interface Made {
  readonly n: number;
  readonly day: string;
  readonly component: string;
  readonly value: number;
}

/** Makes several uploads for each day, so that a day has several files; one of them has several blocks. */
async function upload(cloud: CloudUnderFire, random: (from: number, to: number) => number): Promise<Made[]> {
  const { partId, partSecret } = cloud.demo;
  await using link = connect({
    baseUrl: cloud.url,
    credentials: { entity: partId, type: 'robot-secret', payload: partSecret },
  });
  const client = link.client(DataSyncService);
  const stream = randomBytes(16);
  const todayMs = Math.floor(Date.now() / dayMs) * dayMs;
  const made: Made[] = [];
  let seq = 0n;
  for (let round = 0; round < rounds; round++) {
    for (let day = 0; day < days; day++) {
      const componentName = `c${day % 3}`;
      const startMs = todayMs - (day + 1) * dayMs + round * 3_600_000;
      const isLarge = round === 0 && day === 0;
      const sensorContents = Array.from({ length: isLarge ? 2_000 : 100 }, (_, i) => {
        const value = Math.floor(random(0, 1e6));
        const time = timestampFromMs(startMs + i * 1_000);
        const n = made.length + 1;
        made.push({ n, day: new Date(startMs).toISOString().slice(0, 10), component: componentName, value });
        const text = isLarge ? randomBytes(900).toString('base64') : `t${value % 13}`;
        return create(SensorDataSchema, {
          metadata: { timeRequested: time, timeReceived: time },
          data: { case: 'struct', value: { readings: { n, value, text } } },
        });
      });
      seq += 1n;
      await client.dataCaptureUpload({
        metadata: {
          ...{ partId, componentType: 'core:component:sensor', componentName, methodName: 'Readings' },
          type: DataType.TABULAR_SENSOR,
          identity: { stream, seq, floor: seq },
        },
        sensorContents,
      });
    }
    // Later uploads are sealed into other files.
    await allSealed(cloud);
  }
  return made;
}

async function allSealed({ directory }: CloudUnderFire): Promise<void> {
  await using control = await openControlClient(join(directory, 'control.sock'));
  for (;;) {
    const status = (await control?.call('status')) as { lastPosition: number; sealedPosition: number };
    if (status.sealedPosition === status.lastPosition) return;
    await pauseMs(100);
  }
}

function questionsOf(made: readonly Made[]): Question[] {
  const value = '$data.readings.value';
  const totals = { n: { $sum: 1 }, sum: { $sum: value }, least: { $min: value }, last: { $max: '$data.readings.n' } };
  const totalsOf = (rows: readonly Made[]) => ({
    n: rows.length,
    sum: rows.reduce((sum, row) => sum + row.value, 0),
    least: rows.reduce((least, row) => Math.min(least, row.value), Number.POSITIVE_INFINITY),
    last: rows.reduce((last, row) => Math.max(last, row.n), 0),
  });
  const ofDays = [...new Set(made.map(({ day }) => day))].toSorted().map((day): Question => {
    const rows = made.filter((row) => row.day === day);
    const pipeline = [{ $match: { capture_day: day } }, { $group: { _id: null, ...totals } }];
    return {
      name: `totals of ${day}`,
      pipeline,
      right: JSON.stringify([{ _id: null, ...totalsOf(rows) }]),
      needsAll: false,
    };
  });
  const components = [...new Set(made.map(({ component }) => component))].toSorted();
  const few = made.filter(({ value: found }) => found < 20_000).toSorted((a, b) => a.n - b.n);
  return [
    {
      name: 'totals',
      pipeline: [{ $group: { _id: null, ...totals } }],
      right: JSON.stringify([{ _id: null, ...totalsOf(made) }]),
      needsAll: true,
    },
    {
      name: 'totals by component',
      pipeline: [{ $group: { _id: '$component_name', ...totals } }, { $sort: { _id: 1 } }],
      right: JSON.stringify(
        components.map((_id) => ({ _id, ...totalsOf(made.filter((row) => row.component === _id)) })),
      ),
      needsAll: true,
    },
    {
      name: 'rows below a bound',
      pipeline: [
        { $match: { 'data.readings.value': { $lt: 20_000 } } },
        { $sort: { 'data.readings.n': 1 } },
        { $project: { n: '$data.readings.n', value, day: '$capture_day', component: '$component_name' } },
      ],
      right: JSON.stringify(few.map(({ n, value: found, day, component }) => ({ n, value: found, day, component }))),
      needsAll: true,
    },
    ...ofDays,
  ];
}
