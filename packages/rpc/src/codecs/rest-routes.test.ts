import { DataSyncService } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { expect, test } from 'vitest';
import { methodPath } from '../core/binding.ts';
import { matchRest, restRoutes } from './rest-routes.ts';

const methods = [AuthService, DataSyncService, SensorService, RobotService].flatMap((service) => service.methods);

test('every REST route maps to a unary method, and its path segments to request fields', () => {
  for (const route of restRoutes) {
    const method = methods.find((candidate) => methodPath(candidate) === route.method);
    expect([route.method, method?.methodKind]).toEqual([route.method, 'unary']);
    const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const fields = method?.input.fields.map((field) => field.name) ?? [];
    expect(names.filter((name) => name !== undefined && !fields.includes(name))).toEqual([]);
  }
});

test('a path segment is decoded, and an empty or broken one matches nothing', () => {
  const path = (name: string) => `/platform/api/v1/component/sensor/${name}/readings`;
  expect(matchRest(path('a%2Fb'))?.fields).toEqual({ name: 'a/b' });
  expect(matchRest(path(''))).toBeUndefined();
  expect(matchRest(path('%E0%A4%A'))).toBeUndefined();
  expect(matchRest(`${path('a')}/more`)).toBeUndefined();
});
