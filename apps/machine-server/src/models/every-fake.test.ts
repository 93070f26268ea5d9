/** What all fakes have in common: what they refuse, how they are made to fail and to wait, and how they are stopped. */
import type { JsonObject } from '@bufbuild/protobuf';
import { BaseService } from '@platform/proto/platform/component/base/v1/base';
import { ButtonService } from '@platform/proto/platform/component/button/v1/button';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { ServoService } from '@platform/proto/platform/component/servo/v1/servo';
import { SwitchService } from '@platform/proto/platform/component/switch/v1/switch';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { NavigationService } from '@platform/proto/platform/service/navigation/v1/navigation';
import { resourceTypes } from '@platform/resources';
import { expect, test } from 'vitest';
import { hasFake } from '../testing/has-fake.ts';
import { until } from '../testing/start-test-server.ts';
import { type Call, name, startWithFakes } from '../testing/start-with-fakes.ts';

test('a method that a fake does not have is UNIMPLEMENTED and not an empty answer, even with a delay', async () => {
  const unimplemented = { code: 'unimplemented' };
  const bare = (await startWithFakes({}))(NavigationService);
  await expect(bare.getPaths({ name })).rejects.toMatchObject(unimplemented);
  const delays = resourceTypes.map(({ api, service }): [string, JsonObject] => [
    api,
    api.endsWith(':sensor') ? {} : { delays_ms: Object.fromEntries(service.methods.map((method) => [method.name, 1])) },
  ]);
  const [plain, delayed] = [await startWithFakes({}), await startWithFakes(Object.fromEntries(delays))];
  let compared = 0;
  for (const { api, service } of resourceTypes.filter((type) => hasFake(type.api))) {
    const codeOf = async (call: Call, localName: string): Promise<unknown> => {
      const client = call(service) as unknown as Readonly<Record<string, (request: object) => Promise<unknown>>>;
      const failed = await client[localName]?.({ name, boardName: name, controller: name }).then(
        () => ({ code: 'ok' }),
        (caught: unknown) => caught,
      );
      return (failed as { readonly code: unknown }).code;
    };
    for (const { localName, methodKind } of service.methods) {
      if (methodKind !== 'unary' || (await codeOf(plain, localName)) !== 'unimplemented') continue;
      compared++;
      expect(await codeOf(delayed, localName), `${api} ${localName}`).toBe('unimplemented');
    }
  }
  expect(compared).toBeGreaterThan(0);
});

test('every method of every fake can be made to fail by configuration', async () => {
  const failing = Object.fromEntries(
    resourceTypes.map(({ api, service }): [string, JsonObject] => {
      const errors = service.methods.map(({ name: method }): [string, JsonObject] => [
        method,
        { code: 'NOT_FOUND', message: `${method} is broken` },
      ]);
      return [api, api.endsWith(':sensor') ? {} : { errors: Object.fromEntries(errors) }];
    }),
  );
  const call = await startWithFakes(failing);
  for (const { api, service } of resourceTypes) {
    if (!hasFake(api) || api.endsWith(':sensor')) continue;
    for (const { name: method, localName, methodKind } of service.methods) {
      if (methodKind !== 'unary') continue;
      const own = { name, boardName: name, controller: name };
      const client = call(service) as unknown as Readonly<Record<string, (request: object) => Promise<unknown>>>;
      await expect(client[localName]?.(own), `${api} ${method}`).rejects.toMatchObject({
        code: 'not_found',
        message: expect.stringContaining(`${method} is broken`),
      });
    }
  }
});

test('a fake waits as configured, and a wrong attribute is reported with its path', async () => {
  const call = await startWithFakes({
    button: { delays_ms: { Push: 50 }, errors: { GetStatus: 'worn out' } },
    servo: { min_angle_deg: 'x' },
    motor: { errors: { Fly: 'no' } },
    switch: { errors: { SetPosition: 5 } },
  });
  const started = performance.now();
  await call(ButtonService).push({ name });
  // Timers may fire a fraction of a millisecond early.
  expect(performance.now() - started).toBeGreaterThan(49);
  await expect(call(ButtonService).getStatus({ name })).rejects.toMatchObject({
    ...{ code: 'unavailable', message: expect.stringContaining('worn out') },
  });
  await expect(call(ServoService).getPosition({ name })).rejects.toThrow(
    'attributes.min_angle_deg: expected a number from 0 to 360, found "x"',
  );
  await expect(call(MotorService).isMoving({ name })).rejects.toThrow('attributes.errors: expected one of SetPower,');
  await expect(call(SwitchService).getPosition({ name })).rejects.toThrow('attributes.errors.SetPosition: expected');
});

test('a motor whose client disconnects is stopped; StopAll stops everything, and reports what it could not stop', async () => {
  const call = await startWithFakes({ gripper: { errors: { Stop: 'stuck' } } });
  const [robot, motor, base] = [call(RobotService), call(MotorService), call(BaseService)];
  const { id, heartbeatWindow } = await robot.startSession({ resume: '' });
  expect(heartbeatWindow).toMatchObject({ seconds: 2n });
  await motor.setPower({ name, powerPct: 1 }, { headers: { 'viam-sid': id } });
  expect((await robot.getSessions({})).sessions).toMatchObject([{ id }]);
  // A client without a session moves the base, which keeps moving.
  await base.setVelocity({ name, linear: { y: 10 } });
  await until('the stop', async () => !(await motor.isMoving({ name })).isMoving);
  await expect(robot.sendSessionHeartbeat({ id })).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(motor.setPower({ name, powerPct: 1 }, { headers: { 'viam-sid': id } })).rejects.toThrow(
    'SESSION_EXPIRED',
  );
  expect(await base.isMoving({ name })).toMatchObject({ isMoving: true });

  await expect(robot.stopAll({})).rejects.toThrow('could not be stopped: core:component:gripper/it: stuck');
  expect(await base.isMoving({ name })).toMatchObject({ isMoving: false });
});
