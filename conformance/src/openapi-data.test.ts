/** Every call of `/openapi.json` as plain JSON, over stored data of every capture method, with parameters that have a JSON form and without. */
import { create, type DescMethod, toBinary } from '@bufbuild/protobuf';
import { AnySchema } from '@bufbuild/protobuf/wkt';
import { capturedTypes, captureMethodsOf } from '@platform/machine-config/capture-methods';
import { DataCaptureUploadRequestSchema, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { methodsServed } from './access/matrix.ts';
import { type CloudProcess, startCloud } from './start-cloud.ts';

const data = '/platform.app.data.v1.DataService';
const upload = '/platform.app.datasync.v1.DataSyncService/DataCaptureUpload';
const methods = capturedTypes.flatMap((type) =>
  captureMethodsOf(`core:${type}`).map(({ name, kind }) => ({ componentType: `core:${type}`, methodName: name, kind })),
);
const known = { '@type': 'type.googleapis.com/google.protobuf.StringValue', value: 'A1' };
const unknown = { typeUrl: 'type.googleapis.com/acme.v1.Pin', value: Uint8Array.of(1, 2, 255) };

let cloud: CloudProcess;
let headers: Record<string, string>;
beforeAll(async () => {
  cloud = await startCloud();
  const credentials = { entity: cloud.keyId, credentials: { type: 'api-key', payload: cloud.key } };
  const body = (await (await send('/rpc/v1/authenticate', JSON.stringify(credentials))).json()) as object;
  headers = { authorization: `Bearer ${Reflect.get(body, 'accessToken')}` };
});
afterAll(() => cloud[Symbol.asyncDispose]());

const send = (path: string, body: string | Uint8Array<ArrayBuffer>, type = 'application/json'): Promise<Response> =>
  fetch(`${cloud.url}${path}`, { method: 'POST', headers: { ...headers, 'content-type': type }, body });

async function json(path: string, request: object): Promise<Record<string, unknown>> {
  const answer = await send(path, JSON.stringify(request));
  const text = await answer.text();
  expect(answer.status, `${path}: ${text}`).toBe(200);
  return JSON.parse(text);
}

async function uploadAll(): Promise<void> {
  for (const { componentType, methodName, kind } of methods) {
    const isTabular = kind === 'tabular';
    const about = { partId: cloud.partId, componentType, componentName: 'one', methodName };
    await json(upload, {
      metadata: {
        ...about,
        type: isTabular ? 'DATA_TYPE_TABULAR_SENSOR' : 'DATA_TYPE_BINARY_SENSOR',
        methodParameters: { known },
      },
      sensorContents: [isTabular ? { struct: { readings: { a: 1 } } } : { binary: 'AAEC' }],
    });
    // JSON cannot carry the parameters that modules invent.
    const request = create(DataCaptureUploadRequestSchema, {
      metadata: {
        ...about,
        type: isTabular ? DataType.TABULAR_SENSOR : DataType.BINARY_SENSOR,
        methodParameters: { unknown: create(AnySchema, unknown), broken: create(AnySchema, broken) },
      },
      sensorContents: [
        {
          data: isTabular
            ? { case: 'struct', value: { readings: { a: 1 } } }
            : { case: 'binary', value: Uint8Array.of(3) },
        },
      ],
    });
    const bytes = toBinary(DataCaptureUploadRequestSchema, request);
    expect((await send(upload, bytes, 'application/proto')).status).toBe(200);
  }
}
/** A type that has a JSON form, with bytes that are not of this type. */
const sorted = (texts: readonly string[]): string[] => texts.toSorted((a, b) => (a < b ? -1 : 1));
const broken = { typeUrl: 'type.googleapis.com/google.protobuf.StringValue', value: Uint8Array.of(255) };

test('the data of all 67 capture methods is uploaded and read in JSON, with all of its parameters', async () => {
  // The 67 of the specification, and two that public clients capture as well.
  expect(methods).toHaveLength(69);
  await uploadAll();
  const files = methods.filter(({ kind }) => kind === 'binary');
  const opaque = {
    unknown: {
      '@type': 'type.googleapis.com/google.protobuf.Struct',
      value: { type_url: unknown.typeUrl, value: 'AQL/' },
    },
    broken: {
      '@type': 'type.googleapis.com/google.protobuf.Struct',
      value: { type_url: broken.typeUrl, value: '/w==' },
    },
  };
  const filter = { organizationIds: [cloud.organizationId], partId: cloud.partId };
  let page: Record<string, unknown> = {};
  await vi.waitFor(
    async () => {
      page = await json(`${data}/BinaryDataByFilter`, { dataRequest: { filter, limit: 100 } });
      expect(page['data']).toHaveLength(2 * files.length);
    },
    { timeout: 240_000, interval: 200 },
  );
  type Listed = { metadata: { binaryDataId: string; captureMetadata: { methodParameters: object } } };
  const found = page['data'] as Listed[];
  const binaryDataIds = found.map(({ metadata }) => metadata.binaryDataId);
  const again = await json(`${data}/BinaryDataByIDs`, { binaryDataIds, includeBinary: true });
  for (const listed of [found, again['data'] as Listed[]]) {
    const parameters = listed.map(({ metadata }) => metadata.captureMetadata.methodParameters);
    expect(parameters.filter((one) => 'known' in one)).toEqual(files.map(() => ({ known })));
    expect(parameters.filter((one) => 'unknown' in one)).toEqual(files.map(() => opaque));
  }
  const request = { filter: { ...filter, componentName: 'one' }, limit: 1_000 };
  const rows = await json(`${data}/TabularDataByFilter`, { dataRequest: request });
  expect(rows['data']).toHaveLength(2 * (methods.length - files.length));
  const parameters = (rows['metadata'] as { methodParameters: object }[]).map((one) => one.methodParameters);
  const value = { '@type': 'type.googleapis.com/google.protobuf.Value', value: 'A1' };
  expect(parameters.filter((one) => 'known' in one)[0]).toEqual({ known: value });
  expect(parameters.filter((one) => 'unknown' in one)[0]).toEqual(opaque);
});

test('the paths of plain HTTP give the same rows and files: /api/query in JSON and NDJSON, and downloads', async () => {
  const { paths } = (await (await fetch(`${cloud.url}/openapi.json`)).json()) as { paths: object };
  expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/api/query', '/binary-data/{id}']));
  const tabular = methods.filter(({ kind }) => kind === 'tabular');
  const query = { organization_id: cloud.organizationId, sql: "SELECT * FROM readings WHERE component_name = 'one'" };
  const rows = async (format: string): Promise<Record<string, unknown>[]> => {
    const answer = await send('/api/query', JSON.stringify({ ...query, format }));
    const text = await answer.text();
    expect(answer.status, `${format}: ${text}`).toBe(200);
    return format === 'json'
      ? JSON.parse(text)
      : text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line));
  };
  const nameOf = (row: Record<string, unknown>): string => `${row['component_type']} ${row['method_name']}`;
  const expected = tabular.flatMap(({ componentType, methodName }) => Array(2).fill(`${componentType} ${methodName}`));
  for (const format of ['json', 'ndjson']) {
    const found = await rows(format);
    expect(sorted(found.map(nameOf)), format).toEqual(sorted(expected));
    for (const row of found) expect(row['data'], nameOf(row)).toEqual({ readings: { a: 1 } });
  }
  const filter = { organizationIds: [cloud.organizationId], partId: cloud.partId };
  const page = await json(`${data}/BinaryDataByFilter`, { dataRequest: { filter, limit: 100 } });
  const ids = (page['data'] as { metadata: { binaryDataId: string } }[]).map(({ metadata }) => metadata.binaryDataId);
  const files = await Promise.all(
    ids.map(async (id) => {
      const answer = await fetch(`${cloud.url}/binary-data/${id}`, { headers });
      return [answer.status, Buffer.from(await answer.arrayBuffer()).toString('base64')];
    }),
  );
  const half = methods.length - tabular.length;
  expect(sorted(files.map(String))).toEqual([...Array(half).fill('200,AAEC'), ...Array(half).fill('200,Aw==')]);
});

/** Whether it may be sent the ids of what this test needs. */
const reads = ({ name }: DescMethod): boolean =>
  /^(Get|List|Has|Check|Search|.*By(Filter|IDs|SQL|MQL)$)/.test(name) && !/^(Delete|Remove|Add)/.test(name);

test('no call of the document fails through a fault of the cloud', async () => {
  const document = (await (await fetch(`${cloud.url}/openapi.json`)).json()) as { paths: object };
  const calls = [...methodsServed().values()].filter(
    ({ parent, name }) => `/${parent.typeName}/${name}` in document.paths,
  );
  expect(calls.length).toBeGreaterThan(200);
  const { organizationId, locationId, machineId, partId } = cloud;
  const filter = { organizationIds: [organizationId] };
  const about = { partId, componentName: 'one', methodName: 'Readings', method: 'Readings' };
  const values: Readonly<Record<string, unknown>> = {
    ...{ organizationId, orgId: organizationId, locationId, robotId: machineId, machineId, ...about, filter },
    ...{ resourceName: 'one', resourceSubtype: 'core:component:sensor', dataRequest: { filter, limit: 1_000 } },
    ...{
      sqlQuery: 'SELECT * FROM readings',
      organizationIds: [organizationId],
      componentType: 'core:component:sensor',
    },
  };
  for (const method of calls.toSorted((a, b) => Number(reads(b)) - Number(reads(a)))) {
    const path = `/${method.parent.typeName}/${method.name}`;
    const fields = reads(method) ? method.input.fields.filter(({ localName }) => localName in values) : [];
    const request = Object.fromEntries(fields.map(({ localName }) => [localName, values[localName]]));
    const answer = await send(path, JSON.stringify(request));
    const text = await answer.text();
    expect.soft(text, `${path} ${JSON.stringify(request)}`).not.toMatch(/"code":"(internal|unknown|data_loss)"/);
    expect.soft([200, 400, 401, 403, 404, 409, 429, 501], `${path}: ${text}`).toContain(answer.status);
  }
});
