import type { JsonObject } from '@bufbuild/protobuf';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { DataSyncService } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { expect, test } from 'vitest';
import { refusal, serve } from '../core/binding.ts';
import { describeCalls } from '../openapi.ts';

const never = (): never => {
  throw new Error('only described, never called');
};
const path = (service: { readonly typeName: string }, method: string) => `/${service.typeName}/${method}`;

test('implemented unary methods have a path; streaming ones are named; all others are left out', () => {
  const described = describeCalls(
    [
      serve(AppService, {
        getRobot: never,
        listRobots: refusal('ListRobots: call another'),
        tailRobotPartLogs: never,
      }),
    ],
    [],
  );
  expect(Object.keys(described.paths)).toEqual([path(AppService, 'GetRobot'), '/grpc.health.v1.Health/Check']);
  expect(described.services).toEqual(['grpc.health.v1.Health', AppService.typeName]);
  expect(described.streaming).toContain(path(AppService, 'TailRobotPartLogs'));
  expect(described.paths[path(AppService, 'GetRobot')]?.['post']).toEqual({
    operationId: 'platform.app.v1.AppService.GetRobot',
    summary: 'GetRobot',
    tags: ['platform.app.v1.AppService'],
    security: [{ bearer: [] }],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/platform.app.v1.GetRobotRequest' } } },
    },
    responses: {
      '200': {
        description: 'The answer.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/platform.app.v1.GetRobotResponse' } } },
      },
      default: { $ref: '#/components/responses/CallError' },
    },
  });
  expect(described.paths['/grpc.health.v1.Health/Check']?.['post']).toMatchObject({ security: [] });
});

test('schemas follow the JSON mapping: names, 64 bits, bytes, enums, lists, maps, oneofs, well-known types', () => {
  const { schemas } = describeCalls(
    [
      serve(AppService, { getRobotPart: never, listMachineSummaries: never }),
      serve(DataService, { binaryDataByFilter: never, addBoundingBoxToImageByID: never }),
      serve(DataSyncService, { dataCaptureUpload: never }),
    ],
    [],
  );
  const fields = (name: string) => (schemas[name] as { properties: Record<string, JsonObject> }).properties;
  expect(fields('platform.app.v1.RobotPart')).toMatchObject({
    locationId: { type: 'string' },
    mainPart: { type: 'boolean' },
    robotConfig: { type: 'object' },
    lastAccess: { type: 'string', format: 'date-time' },
    secrets: { type: 'array', items: { $ref: '#/components/schemas/platform.app.v1.SharedSecret' } },
    onlineState: { $ref: '#/components/schemas/platform.app.v1.OnlineState' },
    secondsSinceOnline: { type: 'string', format: 'int64' },
    userSuppliedInfo: { type: 'object' },
  });
  expect(fields('platform.app.datasync.v1.UploadMetadata')['methodParameters']).toEqual({
    type: 'object',
    additionalProperties: { type: 'object', properties: { '@type': { type: 'string' }, value: {} } },
  });
  expect(schemas['platform.app.v1.OnlineState']).toMatchObject({
    enum: expect.arrayContaining(['ONLINE_STATE_UNSPECIFIED', 'ONLINE_STATE_ONLINE']),
  });
  expect(fields('platform.app.v1.ViamServerVersion')['major']?.['description']).toBe(
    'At most one of major, minor is set.',
  );
  expect(fields('platform.app.data.v1.BinaryData')['binary']).toEqual({ type: 'string', contentEncoding: 'base64' });
  expect(fields('platform.app.data.v1.AddBoundingBoxToImageByIDRequest')['xMinNormalized']).toMatchObject({
    anyOf: [{ type: 'number', format: 'double' }, { enum: ['NaN', 'Infinity', '-Infinity'] }],
  });
});

test('REST routes of served methods have their own paths: segments and, for GET, fields of the query', () => {
  const { paths } = describeCalls(
    [serve(SensorService, { getReadings: never }), serve(DataSyncService, { dataCaptureUpload: never })],
    [path(SensorService, 'GetReadings')],
  );
  const rest = Object.keys(paths).filter((one) => !one.includes('.'));
  expect(rest).toEqual(['/datasync/v1/data_capture_upload', '/platform/api/v1/component/sensor/{name}/readings']);
  expect(paths['/datasync/v1/data_capture_upload']?.['post']).toMatchObject({
    operationId: 'platform.app.datasync.v1.DataSyncService.DataCaptureUpload.rest',
    security: [{ bearer: [] }],
    requestBody: { required: true },
  });
  const { get } = paths['/platform/api/v1/component/sensor/{name}/readings'] as { get: JsonObject };
  expect(get).toMatchObject({
    security: [],
    parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
    responses: { default: { $ref: '#/components/responses/RestError' } },
  });
  expect(get['requestBody']).toBeUndefined();
});
