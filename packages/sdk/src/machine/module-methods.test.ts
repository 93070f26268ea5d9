import { PlatformError } from '@platform/base';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { expect, test } from 'vitest';
import { moduleMethods } from './module-methods.ts';
import type { Machine } from './open-machine.ts';

/** A machine with these types, by API, each with its service; its reflection fails with this code. */
function machineWith(types: Readonly<Record<string, string>>, code: 'not_found' | 'permission_denied'): Machine {
  const resourceRpcSubtypes = Object.entries(types).map(([api, protoService]) => {
    const [namespace, type, subtype] = api.split(':');
    return { subtype: { namespace, type, subtype }, protoService };
  });
  async function* serverReflectionInfo(): AsyncGenerator<object> {
    yield* [];
    throw new PlatformError(code, 'no description');
  }
  const robot = { resourceRPCSubtypes: async () => ({ resourceRpcSubtypes }) };
  const client = (service: object) => (service === RobotService ? robot : { serverReflectionInfo });
  return { robot, client } as unknown as Machine;
}
const namesOf = async (types: Readonly<Record<string, string>>): Promise<string[]> =>
  (await moduleMethods(machineWith(types, 'not_found'))).map(({ name }) => name);

test('methods are named after the last part of the type, or after the whole type if that name is taken', async () => {
  expect(
    await namesOf({
      'core:component:motor': 'platform.component.motor.v1.MotorService',
      'acme:component:motor': 'acme.motor.v1.MotorService',
      'acme:component:widget': 'acme.widget.v1.WidgetService',
      'acme:component:lamp': 'acme.lamp.v1.LampService',
      'acme:service:lamp': 'acme.lamps.v1.LampService',
    }),
  ).toEqual(
    ['acme:component:motor', 'widget', 'acme:component:lamp', 'acme:service:lamp'].flatMap((type) => [
      ...[`${type}.DoCommand`, `${type}.GetStatus`],
    ]),
  );
});

test('a machine cannot present services of the cloud, or invalid services, as its own types', async () => {
  expect(
    await namesOf({
      'acme:component:a': 'platform.app.v1.AppService',
      'acme:component:b': 'viam.app.v1.AppService',
      'acme:component:c': 'proto.rpc.v1.AuthService',
      'acme:component:d': 'no service',
      'acme:component:': 'acme.short.v1.ShortService',
      'acme:component:e f': 'acme.space.v1.SpaceService',
    }),
  ).toEqual([]);
});

test('a type without a description has the methods of all types; other errors of the machine are reported', async () => {
  const types = { 'acme:component:widget': 'acme.widget.v1.WidgetService' };
  expect(await namesOf(types)).toEqual(['widget.DoCommand', 'widget.GetStatus']);
  await expect(moduleMethods(machineWith(types, 'permission_denied'))).rejects.toThrow('no description');
});
