/** A machine's data as its owner sees it in the cloud: kept as configured, counted, and missing readings with their reason. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { captureFileBytes } from '@platform/capture-file';
import { DataType, SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { openCloud } from '@platform/sdk/cloud';
import type { ViamClient } from '@viamrobotics/sdk';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type CommandLine, openCommandLine } from '../cli/command-line.ts';
import { signInPublicClient } from '../clients/public-client.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { type MachineProcess, startMachine } from './start-machine.ts';

let cloud: CloudProcess;
let machine: MachineProcess;
let client: ViamClient;
let cli: CommandLine;
beforeAll(async () => {
  cloud = await startCloud();
  client = await signInPublicClient(cloud);
  cli = await openCommandLine({
    PLATFORM_URL: cloud.url,
    PLATFORM_API_KEY_ID: cloud.keyId,
    PLATFORM_API_KEY: cloud.key,
  });
  await save();
  const { partId: id, partSecret: secret, url: app_address } = cloud;
  machine = await startMachine({ cloud: { id, secret, app_address, refresh_interval: '200ms' } });
});
afterAll(async () => {
  await machine[Symbol.asyncDispose]();
  await cli[Symbol.asyncDispose]();
  await cloud[Symbol.asyncDispose]();
});

const [api, servo] = ['core:component:sensor', 'core:component:servo'];
const dayMs = 86_400_000;

/** Saves a configuration that captures a sensor, and a servo that always fails. */
async function save({ ofResource = {}, ofMethod = {} } = {}): Promise<void> {
  const capturing = (ofResource: object, ofMethod: object): object => ({
    service_configs: [
      {
        type: 'data_manager',
        attributes: {
          ...ofResource,
          capture_methods: [{ method: 'Readings', capture_frequency_hz: 10, ...ofMethod }],
        },
      },
    ],
  });
  const model = 'core:builtin:fake';
  const errors = { GetPosition: 'stuck' };
  const components = [
    { name: 'load', api, model, ...capturing(ofResource, ofMethod) },
    { name: 'valve', api: servo, model, attributes: { errors }, ...capturing({}, { method: 'Position' }) },
  ];
  const services = [
    {
      ...{ name: 'data', api: 'core:service:data_manager', model: 'core:builtin:builtin' },
      attributes: { sync_interval_mins: 0.005 },
    },
  ];
  await using owner = openCloud({ url: cloud.url, keyId: cloud.keyId, key: cloud.key });
  const robotConfigJson = JSON.stringify({ components, services });
  await owner.app.updateRobotPart({ id: cloud.partId, name: 'main', robotConfigJson });
}

/** Counts the readings of a component by their age in days. */
async function ages(component: string, hot = false): Promise<Map<number, number>> {
  const stages = [
    { $match: { part_id: cloud.partId, component_name: component } },
    { $project: { _id: 0, at: '$time_received' } },
  ];
  const rows = await client.dataClient.tabularDataByMQL(cloud.organizationId, stages, hot);
  const days = rows.map((row: unknown) =>
    Math.round((Date.now() - Date.parse(String(Reflect.get(Object(row), 'at')))) / dayMs),
  );
  return new Map([...Map.groupBy(days, (day: number) => day)].map(([day, all]) => [day, all.length]));
}

/** Leaves a file in the capture directory, as an earlier process would, with readings that are this many days old. */
function leaveCaptured(component: string, days: number, readings: number): void {
  const at = new Date(Date.now() - days * dayMs);
  const reading = toBinary(
    SensorDataSchema,
    create(SensorDataSchema, {
      metadata: { timeRequested: timestampFromDate(at), timeReceived: timestampFromDate(at) },
      data: { case: 'struct', value: { readings: { days } } },
    }),
  );
  const header = create(CaptureFileHeaderSchema, {
    ...{ stream: new Uint8Array(16).fill(days), seq: 1n, partId: cloud.partId },
    metadata: { componentType: api, componentName: component, methodName: 'Readings', type: DataType.TABULAR_SENSOR },
  });
  const folder = join(machine.home, 'capture', api.replaceAll(':', '_'), component, 'Readings');
  mkdirSync(folder, { recursive: true });
  const stamp = at.toISOString().replaceAll(':', '_').replace('Z', '000Z');
  const bytes = captureFileBytes(
    header,
    Array.from({ length: readings }, () => reading),
  );
  writeFileSync(join(folder, `${stamp}_${'0'.repeat(8)}_1_${readings}.capture`), bytes);
}

const waitFor = <T>(step: () => Promise<T>): Promise<T> => vi.waitFor(step, { timeout: 240_000, interval: 200 });

test('recent_data_store and retention_policy of a captured method, edited while the machine captures, determine what queries find', async () => {
  leaveCaptured('load', 3, 5);
  const fresh = await waitFor(async () => {
    const found = await ages('load');
    expect(found.get(3)).toBe(5);
    expect(found.get(0)).toBeGreaterThan(10);
    return found.get(0) ?? 0;
  });
  expect(await ages('load', true)).toEqual(new Map());
  await save({ ofMethod: { recent_data_store: { stored_hours: 24 } } });
  const hot = await ages('load', true);
  expect(hot.get(0)).toBeGreaterThanOrEqual(fresh);
  expect(hot.has(3)).toBe(false);
  expect((await ages('load')).get(3)).toBe(5);

  await save({ ofResource: { retention_policy: { days: 2 } } });
  const kept = await ages('load');
  expect(kept.has(3)).toBe(false);
  expect(kept.get(0)).toBeGreaterThanOrEqual(hot.get(0) ?? 0);
  expect(await ages('load', true)).toEqual(new Map());
  // The machine continues as before.
  await waitFor(async () => expect((await ages('load')).get(0)).toBeGreaterThan((kept.get(0) ?? 0) + 20));
  expect(machine.process.lines.filter(({ msg }) => msg === 'running')).toHaveLength(1);
});

test('machines status counts captured, sent and missed readings of each resource; data gaps shows what is missing, and why', async () => {
  const robot = await client.appClient.getRobot(cloud.machineId);
  const machineName = String(robot?.name);
  const rows = (await cli.ok(['machines', 'status', machineName, '--resources', '--json'])).json<
    Record<string, unknown>[]
  >();
  const of = (name: string) => rows.find(({ resource }) => resource === name);
  const load = of(`${api}/load`);
  expect(Number(load?.['captured'])).toBeGreaterThan(10);
  expect(Number(load?.['uploaded_readings'])).toBeGreaterThan(10);
  const valve = of(`${servo}/valve`);
  expect(valve).toMatchObject({ captured: null, missed: expect.any(Number), uploaded_readings: null });

  await waitFor(async () => {
    const args = ['data', 'gaps', '--part', cloud.partId, '--reason', 'failed', '--json'];
    const gaps = (await cli.ok(args)).json<Record<string, unknown>[]>();
    expect(gaps[0]).toMatchObject({ reason: 'failed', resource: 'valve', type: servo, method: 'Position' });
    expect(Number(gaps[0]?.['readings'])).toBeGreaterThanOrEqual(Number(valve?.['missed']));
    expect(new Set(gaps.map(({ resource }) => resource))).toEqual(new Set(['valve']));
  });
});
