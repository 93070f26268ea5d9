/** Binary data and datasets by the unmodified public TypeScript client against the real cloud, as a user writes it. */
import { randomUUID } from 'node:crypto';
import { appApi, dataApi, type ViamClient } from '@viamrobotics/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signInNativeClient, signInPublicClient } from './clients/public-client.ts';
import { type CloudProcess, startCloud } from './start-cloud.ts';

/** The fields that the tests read from BinaryData; TypeScript does not find the package's own declarations. */
interface FoundFile {
  readonly binary: Uint8Array;
  readonly metadata?: { readonly binaryDataId: string };
}

const found = ({ data }: { readonly data: readonly FoundFile[] }): readonly FoundFile[] => data;

let cloud: CloudProcess;
let client: ViamClient;

beforeAll(async () => {
  cloud = await startCloud();
  client = await signInPublicClient(cloud);
});
afterAll(async () => {
  await cloud[Symbol.asyncDispose]();
});

const start = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

/** A picture of the camera, a second later than the previous one. */
function upload(component: string, nth: number, tags: string[] = [], datasetIds: string[] = []): Promise<string> {
  const at = start + nth * 1_000;
  return client.dataClient.binaryDataCaptureUpload(
    new TextEncoder().encode(`picture ${nth}`),
    cloud.partId,
    'rdk:component:camera',
    component,
    'GetImages',
    '.jpg',
    [new Date(at), new Date(at + 5)],
    tags,
    datasetIds,
  );
}

test('pictures are found at once by their camera, page by page, with their bytes, in the client’s spelling', async () => {
  const { dataClient } = client;
  const component = `camera-${randomUUID()}`;
  const ids: string[] = [];
  for (let nth = 0; nth < 5; nth++) ids.push(await upload(component, nth, ['blue']));
  const filter = new dataApi.Filter({ componentName: component, componentType: 'rdk:component:camera' });
  const seen: string[] = [];
  for (let last = ''; ; ) {
    const page = await dataClient.binaryDataByFilter(filter, 2, dataApi.Order.ASCENDING, last);
    if (page.data.length === 0) break;
    seen.push(...page.data.map(({ binary }: FoundFile) => new TextDecoder().decode(binary)));
    ({ last } = page);
  }
  expect(seen).toEqual([0, 1, 2, 3, 4].map((nth) => `picture ${nth}`));
  const counted = await dataClient.binaryDataByFilter(filter, 50, dataApi.Order.UNSPECIFIED, '', false, true);
  expect(Number(counted.count)).toBe(5);

  const [first] = await dataClient.binaryDataByIds(ids.slice(0, 1));
  expect(first?.metadata).toMatchObject({ binaryDataId: ids[0], fileExt: '.jpg', datasetIds: [] });
  expect(first?.metadata?.captureMetadata).toMatchObject({
    organizationId: cloud.organizationId,
    locationId: cloud.locationId,
    robotId: cloud.machineId,
    partId: cloud.partId,
    componentType: 'rdk:component:camera',
    componentName: component,
    methodName: 'GetImages',
    mimeType: 'image/jpeg',
    tags: ['blue'],
  });
  expect(first?.metadata?.timeRequested?.toDate()).toEqual(new Date(start));
  expect(first?.metadata?.timeReceived?.toDate()).toEqual(new Date(start + 5));
  // Clients before binary_data_id identify files this way.
  const older = { fileId: ids[1] ?? '', organizationId: cloud.organizationId, locationId: cloud.locationId };
  const named = await dataClient.binaryDataByIds([new dataApi.BinaryID(older)], true);
  expect(named.map(({ binary }: FoundFile) => new TextDecoder().decode(binary))).toEqual(['picture 1']);
});

test('pictures, point clouds, videos and sounds come back byte for byte, with their extensions and MIME types', async () => {
  const { dataClient } = client;
  // Every byte value.
  const bytes = Uint8Array.from({ length: 200_003 }, (_, index) => (index * 7 + (index >> 8)) & 0xff);
  const component = `kinds-${randomUUID()}`;
  const kinds = [
    ['.jpeg', 'image/jpeg'],
    ['.png', 'image/png'],
    ['.pcd', 'pointcloud/pcd'],
    ['.mp4', 'video/mp4'],
    ['.wav', 'audio/wav'],
  ] as const;
  for (const [index, [extension, mimeType]] of kinds.entries()) {
    const times: [Date, Date] = [new Date(start + index), new Date(start + index + 1)];
    const of = ['rdk:component:camera', component, 'GetImages'] as const;
    const id = await dataClient.binaryDataCaptureUpload(bytes, cloud.partId, ...of, extension, times);
    const [stored] = await dataClient.binaryDataByIds([id]);
    expect(Buffer.from(stored?.binary ?? []).equals(bytes)).toBe(true);
    expect(stored?.metadata).toMatchObject({ fileExt: extension, captureMetadata: { mimeType } });
  }
});

test('a file that the client uploads in pieces comes back byte for byte, with its name, extension, resource and tags', async () => {
  const { dataClient } = await signInNativeClient(cloud);
  // More than a piece of the client; and an empty one.
  const large = Uint8Array.from({ length: 3_000_001 }, (_, index) => (index * 7 + (index >> 8)) & 0xff);
  for (const bytes of [large, new Uint8Array()]) {
    const componentName = `files-${randomUUID()}`;
    const id = await dataClient.fileUpload(bytes, cloud.partId, {
      ...{ componentType: 'rdk:component:camera', componentName, methodName: 'Log', tags: ['shift-1'] },
      ...{ fileName: 'logs/über 1', fileExtension: '.csv' },
    });
    const [stored] = await dataClient.binaryDataByIds([id]);
    expect(Buffer.from(stored?.binary ?? []).equals(bytes)).toBe(true);
    expect(stored?.metadata).toMatchObject({
      ...{ fileName: 'logs/über 1', fileExt: '.csv' },
      captureMetadata: { partId: cloud.partId, componentName, methodName: 'Log', tags: ['shift-1'] },
    });
  }
});

test('tags, bounding boxes and deletion work through the client', async () => {
  const { dataClient } = client;
  const component = `camera-${randomUUID()}`;
  const [one, two] = [await upload(component, 1, ['old']), await upload(component, 2)];
  const filter = new dataApi.Filter({ componentName: component });
  await dataClient.addTagsToBinaryDataByIds(['a', 'b'], [one]);
  await dataClient.addTagsToBinaryDataByFilter(['c'], filter);
  expect(Number(await dataClient.removeTagsFromBinaryDataByIds(['old'], [one, two]))).toBe(1);
  expect(Number(await dataClient.removeTagsFromBinaryDataByFilter(['c', 'b'], filter))).toBe(2);
  expect(await dataClient.tagsByFilter(filter)).toEqual(['a']);

  const box = await dataClient.addBoundingBoxToImageById(one, 'dog', 0.1, 0.2, 0.3, 0.4, 0.5);
  await dataClient.updateBoundingBox(one, box, 'wolf', 0, 0, 1, 1, 0.25);
  const [described] = await dataClient.binaryDataByIds([one]);
  expect(described?.metadata?.annotations?.bboxes).toMatchObject([
    { id: box, label: 'wolf', xMinNormalized: 0, xMaxNormalized: 1, confidence: 0.25 },
  ]);
  expect(await dataClient.boundingBoxLabelsByFilter(filter)).toEqual(['wolf']);
  await dataClient.removeBoundingBoxFromImageById(one, box);
  expect(await dataClient.boundingBoxLabelsByFilter(filter)).toEqual([]);

  expect(Number(await dataClient.deleteBinaryDataByIds([one]))).toBe(1);
  await expect(dataClient.binaryDataByIds([one])).rejects.toMatchObject({ code: 5 });
  expect(Number(await dataClient.deleteBinaryDataByFilter(filter))).toBe(1);
  expect((await dataClient.binaryDataByFilter(filter)).data).toEqual([]);
});

test('datasets are created, filled by hand and by uploads, and emptied', async () => {
  const { dataClient } = client;
  const name = `dataset ${randomUUID()}`;
  const id = await dataClient.createDataset(name, cloud.organizationId);
  const component = `camera-${randomUUID()}`;
  const [one, two] = [await upload(component, 1, [], [id]), await upload(component, 2)];
  await dataClient.addBinaryDataToDatasetByIds([two], id);
  const filter = new dataApi.Filter({ datasetId: id });
  const filesIn = async () =>
    found(await dataClient.binaryDataByFilter(filter))
      .map(({ metadata }) => metadata?.binaryDataId ?? '')
      .toSorted();
  expect(await filesIn()).toEqual([one, two].toSorted());
  await dataClient.renameDataset(id, `${name} again`);
  expect(await dataClient.listDatasetsByIds([id])).toMatchObject([{ id, name: `${name} again` }]);
  const listed = await dataClient.listDatasetsByOrganizationID(cloud.organizationId);
  expect(listed.map((dataset: { readonly id: string }) => dataset.id)).toContain(id);
  await dataClient.removeBinaryDataFromDatasetByIds([one], id);
  expect(await filesIn()).toEqual([two]);
  await dataClient.deleteDataset(id);
  expect(await filesIn()).toEqual([]);
  expect(await dataClient.binaryDataByIds([one, two])).toHaveLength(2);
});

test('a signed address gives the file to anyone, the metadata’s uri only to signed-in callers; both end with the file', async () => {
  const { dataClient } = client;
  const id = await dataClient.binaryDataCaptureUpload(
    new TextEncoder().encode('<b>report</b>'),
    cloud.partId,
    'rdk:component:camera',
    `camera-${randomUUID()}`,
    'GetImages',
    '.html',
    [new Date(start), new Date(start)],
  );
  const url = await dataClient.createBinaryDataSignedURL(id, 5);
  const signed = await fetch(url);
  expect([signed.status, await signed.text()]).toEqual([200, '<b>report</b>']);
  expect(Object.fromEntries(signed.headers)).toMatchObject({
    'content-disposition': `attachment; filename="${id}.html"; filename*=UTF-8''${id}.html`,
    'x-content-type-options': 'nosniff',
  });
  const part = await fetch(url, { headers: { range: 'bytes=3-8' } });
  expect([part.status, await part.text()]).toEqual([206, 'report']);

  const [described] = await dataClient.binaryDataByIds([id]);
  const uri = described?.metadata?.uri ?? '';
  const asOwner = await fetch(uri, { headers: { key_id: cloud.keyId, key: cloud.key } });
  expect([asOwner.status, await asOwner.text()]).toEqual([200, '<b>report</b>']);
  expect((await fetch(uri)).status).toBe(401);
  expect((await fetch(uri, { headers: { key_id: cloud.keyId, key: 'wrong' } })).status).toBe(401);
  const another = url.replace(/signature=./, (found: string) => `signature=${found.endsWith('_') ? '-' : '_'}`);
  expect((await fetch(another)).status).toBe(403);

  await dataClient.deleteBinaryDataByIds([id]);
  const gone = await fetch(uri, { headers: { key_id: cloud.keyId, key: cloud.key } });
  expect([(await fetch(url)).status, gone.status]).toEqual([404, 404]);
});

test('a signed address becomes invalid with the key that made it', async () => {
  const { appClient, dataClient } = client;
  const id = await upload(`camera-${randomUUID()}`, 1);
  const key = await appClient.createKey([
    new appApi.Authorization({
      authorizationType: 'role',
      authorizationId: 'robot_operator',
      resourceType: 'robot',
      resourceId: cloud.machineId,
      organizationId: cloud.organizationId,
    }),
  ]);
  const other = await signInPublicClient({ url: cloud.url, keyId: key.id, key: key.key });
  const url = await other.dataClient.createBinaryDataSignedURL(id);
  expect((await fetch(url)).status).toBe(200);
  await appClient.deleteKey(key.id);
  await expect.poll(async () => (await fetch(url)).status).toBe(404);
  expect((await fetch(await dataClient.createBinaryDataSignedURL(id))).status).toBe(200);
});
