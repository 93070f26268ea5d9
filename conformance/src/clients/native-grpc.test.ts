/** @grpc/grpc-js with messages of @grpc/proto-loader: an implementation that shares no code with ours, under both names of each method. */
import { createHash, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import { deserialize, serialize } from 'bson';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { Peer } from './grpc-peer.ts';

let cloud: CloudProcess;

beforeAll(async () => {
  cloud = await startCloud();
});
afterAll(async () => {
  await cloud[Symbol.asyncDispose]();
});

const spelling = { viam: 'rdk', platform: 'core' } as const;

function uploadRequest(
  component: string,
  type: string,
  values: readonly number[],
  partId: string = cloud.partId,
): object {
  const seconds = Date.UTC(2026, 0, 2) / 1000;
  return {
    metadata: {
      part_id: partId,
      component_type: 'core:component:sensor',
      component_name: component,
      method_name: 'Readings',
      type,
      file_extension: '.dat',
    },
    sensor_contents: values.map((value, index) => ({
      metadata: {
        time_requested: { seconds: seconds + index },
        time_received: { seconds: seconds + index, nanos: 1000 },
      },
      struct: { fields: { readings: { structValue: { fields: { value: { numberValue: value } } } } } },
    })),
  };
}

describe.each(['viam', 'platform'] as const)('native gRPC under /%s.', (prefix) => {
  test('signs in, lists the organization, uploads and queries', async () => {
    using peer = await new Peer(cloud.target, prefix).signIn(cloud.keyId, 'api-key', cloud.key);
    const { organizations } = await peer.call('platform.app.v1.AppService', 'ListOrganizations', {});
    expect(organizations).toMatchObject([{ id: cloud.organizationId }]);

    const component = `grpc-${randomUUID()}`;
    const uploaded = await peer.call(
      'platform.app.datasync.v1.DataSyncService',
      'DataCaptureUpload',
      uploadRequest(component, 'DATA_TYPE_TABULAR_SENSOR', [1, 2]),
    );
    expect(uploaded['file_id']).not.toBe('');
    const stages = [{ $match: { component_name: component } }, { $sort: { 'data.readings.value': -1 } }];
    const answer = await peer.call('platform.app.data.v1.DataService', 'TabularDataByMQL', {
      organization_id: cloud.organizationId,
      mql_binary: stages.map((stage) => serialize(stage)),
    });
    const rows = (answer['raw_data'] as Buffer[]).map((row) => deserialize(row));
    expect(rows).toMatchObject([
      { component_type: `${spelling[prefix]}:component:sensor`, data: { readings: { value: 2 } } },
      { component_type: `${spelling[prefix]}:component:sensor`, data: { readings: { value: 1 } } },
    ]);
  });

  test('uploads a file, and a large binary reading in chunks; both answers contain the id of the stored data', async () => {
    using peer = await new Peer(cloud.target, prefix).signIn(cloud.partId, 'robot-secret', cloud.partSecret);
    const sync = 'platform.app.datasync.v1.DataSyncService';
    const common = {
      part_id: cloud.partId,
      component_type: `${spelling[prefix]}:component:camera`,
      component_name: `camera-${randomUUID()}`,
    };
    const chunk = Buffer.alloc(64 * 1024, randomUUID());
    const file = { ...common, type: 'DATA_TYPE_FILE', file_name: 'notes.txt', file_extension: '.txt' };
    const stored = await peer.send(sync, 'FileUpload', [
      { metadata: file },
      ...Array(3).fill({ file_contents: { data: chunk } }),
    ]);
    const image = {
      ...common,
      method_name: 'ReadImage',
      type: 'DATA_TYPE_BINARY_SENSOR',
      file_extension: '.jpg',
      mime_type: 'image/jpeg',
    };
    const times = { time_requested: { seconds: 1_767_312_000 }, time_received: { seconds: 1_767_312_000 } };
    const first = { metadata: { upload_metadata: image, sensor_metadata: times } };
    const streamed = await peer.send(sync, 'StreamingDataCaptureUpload', [first, ...Array(20).fill({ data: chunk })]);
    const ids = [stored, streamed].flatMap((answer) => [answer['file_id'], answer['binary_data_id']]);
    expect(ids.filter((id) => typeof id === 'string' && id !== '')).toHaveLength(4);
    expect(stored['binary_data_id']).not.toBe(streamed['binary_data_id']);
  });

  test('R20 creates a package, which a part lists and downloads with its own credentials, and deletes it', async () => {
    const service = 'platform.app.packages.v1.PackageService';
    using owner = await new Peer(cloud.target, prefix).signIn(cloud.keyId, 'api-key', cloud.key);
    using part = await new Peer(cloud.target, prefix).signIn(cloud.partId, 'robot-secret', cloud.partSecret);
    const archive = gzipSync(Buffer.from(`a module ${randomUUID()}`));
    const name = `tool-${randomUUID()}`;
    const info = { organization_id: cloud.organizationId, name, version: '1.0.0', type: 'PACKAGE_TYPE_MODULE' };
    const pieces = [archive.subarray(0, 7), archive.subarray(7)].map((contents) => ({ contents }));
    const created = await owner.send(service, 'CreatePackage', [{ info }, ...pieces]);
    expect(created).toEqual({ id: `${cloud.organizationId}/${name}`, version: '1.0.0' });

    const checksum = createHash('sha256').update(archive).digest('hex');
    const listed = await part.call(service, 'ListPackages', { organization_id: cloud.organizationId, name });
    expect(listed['packages']).toMatchObject([{ id: created['id'], info, checksum, url: '' }]);
    const named = { id: created['id'], version: '1.0.0' };
    const got = await part.call(service, 'GetPackage', { ...named, include_url: true });
    const { url } = got['package'] as { readonly url: string };
    const answer = await fetch(url, { headers: { part_id: cloud.partId, secret: cloud.partSecret } });
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(archive);

    await expect(part.call(service, 'DeletePackage', named)).rejects.toMatchObject({ code: status.PERMISSION_DENIED });
    await owner.call(service, 'DeletePackage', named);
    await expect(part.call(service, 'GetPackage', named)).rejects.toMatchObject({ code: status.NOT_FOUND });
    expect((await fetch(url, { headers: { part_id: cloud.partId, secret: cloud.partSecret } })).status).toBe(404);
  });

  test('D2 a part reads its configuration in its own spelling', async () => {
    using peer = await new Peer(cloud.target, prefix).signIn(cloud.partId, 'robot-secret', cloud.partSecret);
    const { config } = await peer.call('platform.app.v1.RobotService', 'Config', { id: cloud.partId });
    const name = spelling[prefix];
    expect(config).toMatchObject({
      // Plaintext like the cloud itself, so the machine needs no certificate.
      cloud: {
        id: cloud.partId,
        location_secrets: [{}],
        signaling_address: cloud.target,
        signaling_insecure: true,
      },
      components: [{ name: 'host', api: `${name}:component:sensor`, model: `${name}:builtin:host-telemetry` }],
      services: [{ api: `${name}:service:data_manager`, model: `${name}:builtin:builtin` }],
    });
  });

  test('D6 a part reads the keys that its machine accepts, as public servers parse them, without those of the organization', async () => {
    using owner = await new Peer(cloud.target, prefix).signIn(cloud.keyId, 'api-key', cloud.key);
    const app = 'platform.app.v1.AppService';
    const role = { identity_type: 'api-key', authorization_type: 'role', authorization_id: 'robot_operator' };
    const on = { resource_type: 'robot', resource_id: cloud.machineId, organization_id: cloud.organizationId };
    const made = await owner.call(app, 'CreateKey', { name: randomUUID(), authorizations: [{ ...role, ...on }] });
    const [id, key] = [String(made['id']), made['key']];
    using peer = await new Peer(cloud.target, prefix).signIn(cloud.partId, 'robot-secret', cloud.partSecret);
    const handlers = async (): Promise<unknown> => {
      const { config } = await peer.call('platform.app.v1.RobotService', 'Config', { id: cloud.partId });
      return (config as { auth?: { handlers?: unknown } | null }).auth?.handlers;
    };
    const ids = { listValue: { values: expect.arrayContaining([expect.objectContaining({ stringValue: id })]) } };
    await expect.poll(handlers).toMatchObject([
      {
        type: 'CREDENTIALS_TYPE_API_KEY',
        config: { fields: { [id]: { stringValue: key }, keys: ids } },
      },
    ]);
    expect(JSON.stringify(await handlers())).not.toContain(cloud.key);
    await owner.call(app, 'DeleteKey', { id });
    await expect.poll(async () => JSON.stringify(await handlers()) ?? '').not.toContain(id);
  });

  test('D4 errors of the caller have their codes', async () => {
    using stranger = new Peer(cloud.target, prefix);
    await expect(stranger.call('platform.app.v1.AppService', 'ListOrganizations', {})).rejects.toMatchObject({
      code: 16,
    });
    using peer = await new Peer(cloud.target, prefix).signIn(cloud.keyId, 'api-key', cloud.key);
    const sync = 'platform.app.datasync.v1.DataSyncService';
    const badType = uploadRequest(`bad-${randomUUID()}`, 'DATA_TYPE_FILE', [1]);
    await expect(peer.call(sync, 'DataCaptureUpload', badType)).rejects.toMatchObject({ code: 3 });
    const elsewhere = uploadRequest('elsewhere', 'DATA_TYPE_TABULAR_SENSOR', [1], randomUUID());
    await expect(peer.call(sync, 'DataCaptureUpload', elsewhere)).rejects.toMatchObject({
      code: expect.toBeOneOf([5, 7]),
    });
    const unknown = peer.call('proto.rpc.v1.ExternalAuthService', 'AuthenticateTo', { entity: 'x' });
    await expect(unknown).rejects.toMatchObject({ code: 12, details: expect.stringContaining('AuthenticateTo') });
  });
});

describe('GET /api/json1/config', () => {
  const get = (partId: string, headers: Record<string, string>): Promise<Response> =>
    fetch(`${cloud.url}/api/json1/config?id=${partId}&client=true`, { headers });

  test('D32 the body can start a server: it contains the part, its secret or key, and this address', async () => {
    const response = await get(cloud.partId, { key_id: cloud.keyId, key: cloud.key });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ cloud: { id: cloud.partId, app_address: cloud.url } });
  });

  test('D32 is 401 without a key or with a wrong one, 404 for a part that the key may not see', async () => {
    const statuses = await Promise.all([
      get(cloud.partId, {}),
      get(cloud.partId, { key_id: cloud.keyId, key: 'wrong' }),
      get(randomUUID(), { key_id: cloud.keyId, key: cloud.key }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([401, 401, 404]);
  });
});
