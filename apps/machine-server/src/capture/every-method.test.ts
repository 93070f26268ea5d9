import type { JsonObject } from '@bufbuild/protobuf';
import { captureMethodsOf } from '@platform/machine-config/capture-methods';
import { DataType, type SensorData } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { resourceTypes } from '@platform/resources';
import { expect, test } from 'vitest';
import { type FakeCloud, type StoredUpload, startFakeCloud } from '../testing/fake-cloud.ts';
import { hasFake } from '../testing/has-fake.ts';
import { createTestHome, startTestServer, until } from '../testing/start-test-server.ts';

const dataManager = {
  name: 'dm',
  api: 'core:service:data_manager',
  model: 'core:builtin:builtin',
  attributes: { sync_interval_mins: 0.002 },
};
const attributes: Readonly<Record<string, JsonObject>> = {
  board: { analogs: [{ name: 'light', value: 7, min: 0, max: 10, step: 1 }] },
  camera: { width_px: 8, height_px: 4, sources: ['left', 'right'] },
  gantry: { lengths_mm: [100] },
  vision: {
    detections: [
      { class_name: 'cat', confidence: 0.9, x_min: 32, y_min: 24, x_max: 160, y_max: 120 },
      { class_name: 'ghost', confidence: 0.1 },
    ],
    classifications: [{ class_name: 'bright', confidence: 0.8 }],
  },
};
const params: Readonly<Record<string, JsonObject>> = {
  DoCommand: { docommand_input: { a: 1 } },
  Analogs: { reader_name: 'light' },
  Gpios: { pin_name: '11' },
  CaptureAllFromCamera: { camera_name: 'eye' },
  GetAudio: { duration_seconds: 0.1 },
};
const pose = { pose: { x: 5, y: 0, z: 0, o_x: 0, o_y: 0, o_z: 1, theta: 0 } };
/** The minimum that is stored for each method; for binary ones, MIME type and extension. */
const stored: Readonly<Record<string, JsonObject>> = {
  GetWorldPose: pose,
  DoCommand: { a: 1 },
  'arm EndPosition': { pose: {} },
  'arm JointPositions': { positions: { values: [0, 0, 0, 0, 0, 0] } },
  'base Position': { position: { distance_mm: 0, angle_deg: 0 } },
  'board Analogs': { value: 7, step_size: 1 },
  'board Gpios': { high: false },
  'encoder TicksCount': { value: 0 },
  'gantry Lengths': { lengths_mm: [100] },
  'gantry Position': { positions_mm: [0] },
  'motor Position': { position: 0 },
  'motor IsPowered': { is_on: false, power_pct: 0 },
  'movement_sensor AngularVelocity': { angular_velocity: {} },
  'movement_sensor CompassHeading': { value: 0 },
  'movement_sensor LinearAcceleration': { linear_acceleration: {} },
  'movement_sensor LinearVelocity': { linear_velocity: {} },
  'movement_sensor Orientation': { orientation: {} },
  'movement_sensor Position': { coordinate: {} },
  'movement_sensor Readings': { readings: {} },
  'sensor Readings': { readings: {} },
  'power_sensor Voltage': { volts: expect.any(Number) },
  'power_sensor Current': { amperes: expect.any(Number) },
  'power_sensor Power': { watts: expect.any(Number) },
  'power_sensor Readings': { readings: {} },
  'servo Position': { position_deg: expect.any(Number) },
};
const binary: Readonly<Record<string, readonly [mimeType: string, extension: string]>> = {
  GetAudio: ['audio/wav', '.wav'],
  GetImages: ['image/png', '.png'],
  ReadImage: ['image/png', '.png'],
  NextPointCloud: ['pointcloud/pcd', '.pcd'],
  CaptureAllFromCamera: ['image/png', '.png'],
};

/** A machine with one fake of each type, named after it; it captures every method in the specification's table. */
function everything(spelled: (method: string) => string): { components: JsonObject[]; services: JsonObject[] } {
  const all = resourceTypes.flatMap(({ api }) => {
    const type = api.slice(api.lastIndexOf(':') + 1);
    if (!hasFake(api)) return [];
    const capture_methods = captureMethodsOf(api).map(({ name }) => ({
      ...{ method: spelled(name), capture_frequency_hz: 20, additional_params: params[name] ?? {} },
    }));
    const frame = { parent: 'world', translation: { x: 5, y: 0, z: 0 } };
    const resource: JsonObject = {
      ...{ name: type === 'generic' ? `${type}_${api.split(':')[1]}` : type, api, model: 'core:builtin:fake' },
      ...{ attributes: attributes[type] ?? {} },
      ...(api.includes(':component:') && { frame }),
      service_configs: [{ type: 'data_manager', attributes: { capture_methods } }],
    };
    return [resource];
  });
  const of = (kind: string): JsonObject[] => all.filter(({ api }) => String(api).split(':')[1] === kind);
  return { components: of('component'), services: [dataManager, ...of('service')] };
}

function uploadsOf(cloud: FakeCloud, api: string, method: string): StoredUpload[] {
  return cloud.stored.filter(({ metadata }) => metadata.componentType === api && metadata.methodName === method);
}

test('D12 every capture method in the table of resource types is captured, in the shape that public clients expect', async () => {
  await using cloud = await startFakeCloud(everything((method) => method));
  await using home = await createTestHome(cloud.url);
  await using server = await startTestServer(home);
  const apis = resourceTypes.map(({ api }) => api).filter(hasFake);
  let compared = 0;
  for (const api of apis) {
    const type = api.slice(api.lastIndexOf(':') + 1);
    for (const { name, kind } of captureMethodsOf(api)) {
      await until(`${api} ${name}`, () => uploadsOf(cloud, api, name).length > 0);
      const [upload] = uploadsOf(cloud, api, name);
      const { type: dataType, mimeType, fileExtension } = upload?.metadata ?? {};
      const [reading] = upload?.readings ?? [];
      compared++;
      if (kind === 'tabular') {
        expect([dataType, fileExtension]).toEqual([DataType.TABULAR_SENSOR, '.dat']);
        const wanted = stored[`${type} ${name}`] ?? stored[name];
        expect(reading?.data.case === 'struct' && reading.data.value, `${api} ${name}`).toMatchObject(wanted ?? {});
        expect(wanted, `${type} ${name} in \`stored\``).toBeDefined();
      } else {
        expect([dataType, mimeType, fileExtension]).toEqual([DataType.BINARY_SENSOR, ...(binary[name] ?? [])]);
        expect(upload?.readings.map(({ data }) => data.case)).toEqual(['binary']);
      }
    }
  }
  expect(compared).toBe(apis.flatMap((api) => captureMethodsOf(api)).length);
  expect(server.capture.errors()).toBe('');
  expect(cloud.breaches).toEqual([]);

  // The images of one call share both times, which differ from those of other calls; each image has its own upload.
  const images = (): StoredUpload[] => uploadsOf(cloud, 'core:component:camera', 'GetImages');
  const groups = (): SensorData[][] => [
    ...Map.groupBy(
      images().flatMap(({ readings }) => readings),
      ({ metadata }) => JSON.stringify([metadata?.timeRequested, metadata?.timeReceived], text),
    ).values(),
  ];
  const whole = (): SensorData[][] => groups().filter(({ length }) => length > 1);
  await until('the images of three calls', () => whole().length >= 3);
  for (const group of whole()) {
    const labels = group.flatMap(({ metadata }) => metadata?.annotations?.classifications.map(({ label }) => label));
    expect(group).toHaveLength(2);
    expect(new Set(labels)).toEqual(new Set(['left', 'right']));
  }
  expect(images().every(({ readings }) => readings.length === 1)).toBe(true);

  const [seen] = uploadsOf(cloud, 'core:service:vision', 'CaptureAllFromCamera').flatMap(({ readings }) => readings);
  expect(seen?.metadata?.annotations).toMatchObject({
    bboxes: [{ label: 'cat', xMinNormalized: 0.1, yMinNormalized: 0.1, xMaxNormalized: 0.5, yMaxNormalized: 0.5 }],
    classifications: [{ label: 'bright', confidence: 0.8 }],
  });
  const [sound] = uploadsOf(cloud, 'core:component:audio_in', 'GetAudio').flatMap(({ readings }) => readings);
  const wav = sound?.data.case === 'binary' ? Buffer.from(sound.data.value) : Buffer.alloc(0);
  expect([wav.toString('latin1', 0, 4), wav.readUInt32LE(24), wav.readUInt32LE(40)]).toEqual(['RIFF', 16_000, 3_200]);
});

function text(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

test('D12 methods are captured with and without Get, and GetImages honours filter_source_names', async () => {
  const document = everything((method) => (method.startsWith('Get') ? method.slice(3) : `Get${method}`));
  const only = document.components.filter(({ name }) => ['camera', 'sensor'].includes(String(name)));
  const [camera] = only.filter(({ name }) => name === 'camera') as [
    { service_configs: [{ attributes: { capture_methods: { method: string; additional_params: object }[] } }] },
  ];
  for (const entry of camera.service_configs[0].attributes.capture_methods)
    if (entry.method === 'Images') entry.additional_params = { filter_source_names: ['right'] };
  await using cloud = await startFakeCloud({ components: only, services: [dataManager] });
  await using home = await createTestHome(cloud.url);
  await using server = await startTestServer(home);
  for (const type of ['camera', 'sensor'])
    for (const { name } of captureMethodsOf(`core:component:${type}`))
      await until(`${type} ${name}`, () => uploadsOf(cloud, `core:component:${type}`, name).length > 0);
  const images = uploadsOf(cloud, 'core:component:camera', 'GetImages').flatMap(({ readings }) => readings);
  const labels = images.flatMap(({ metadata }) => metadata?.annotations?.classifications.map(({ label }) => label));
  expect(new Set(labels)).toEqual(new Set(['right']));
  expect(server.capture.errors()).toBe('');
});

test('a binary reading of more than 1 MB is sent in parts, and arrives unchanged', async () => {
  const capture_methods = [
    { method: 'GetAudio', capture_frequency_hz: 2, additional_params: { duration_seconds: 0.2 } },
  ];
  const microphone = {
    ...{ name: 'loud', api: 'core:component:audio_in', model: 'core:builtin:fake' },
    attributes: { sample_rate_hz: 192_000, num_channels: 16 },
    service_configs: [{ type: 'data_manager', attributes: { capture_methods } }],
  };
  await using cloud = await startFakeCloud({ components: [microphone], services: [dataManager] });
  await using home = await createTestHome(cloud.url);
  await using _server = await startTestServer(home);
  await until('a recording', () => cloud.stored.length > 0);
  const data = cloud.stored[0]?.readings[0]?.data;
  const wav = data?.case === 'binary' ? Buffer.from(data.value) : Buffer.alloc(0);
  const bytes = 0.2 * 192_000 * 16 * 2;
  expect([wav.length, wav.readUInt32LE(40)]).toEqual([44 + bytes, bytes]);
  expect(wav.readInt16LE(44 + 32 * 100)).toBe(wav.readInt16LE(44 + 32 * 100 + 30));
});
