import type { JsonObject } from '@bufbuild/protobuf';
import { BaseService } from '@platform/proto/platform/component/base/v1/base';
import { InputControllerService } from '@platform/proto/platform/component/inputcontroller/v1/input_controller';
import { BaseRemoteControlService } from '@platform/proto/platform/service/baseremotecontrol/v1/base_remote_control';
import { type Client, connect } from '@platform/rpc/client';
import { expect, onTestFinished, test } from 'vitest';
import { startFakeCloud } from '../../../testing/fake-cloud.ts';
import { createTestHome, patientClock, startTestServer, until } from '../../../testing/start-test-server.ts';

interface Rig {
  readonly base: Client<typeof BaseService>;
  readonly controller: Client<typeof InputControllerService>;
  /** The throttle that the service reports. */
  throttle(): Promise<unknown>;
  /** The status of the base. */
  ofBase(): Promise<JsonObject | undefined>;
  readonly logs: string;
}

const api = 'core:service:base_remote_control';
const controls = ['AbsoluteX', 'AbsoluteY', 'AbsoluteHat0X', 'AbsoluteHat0Y', 'ButtonNorth', 'ButtonSouth'];

/** A machine with a fake base, a fake input controller, and the service. */
async function startRig(attributes: JsonObject): Promise<Rig> {
  const fake = (type: string, more: JsonObject = {}): JsonObject => ({
    ...{ name: `my-${type}`, api: `core:component:${type}`, model: 'core:builtin:fake', attributes: more },
  });
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const cloud = stack.use(
    await startFakeCloud({
      components: [fake('base'), fake('input_controller', { controls })],
      services: [{ name: 'pilot', api, model: 'core:builtin:builtin', attributes }],
    }),
  );
  const home = stack.use(await createTestHome(cloud.url));
  const server = stack.use(await startTestServer(home, patientClock));
  const link = stack.use(connect({ baseUrl: `http://127.0.0.1:${server.serving.port}` }));
  await until('the configuration', () => cloud.logs.includes('configuration applied'));
  const pilot = link.client(BaseRemoteControlService);
  const base = link.client(BaseService);
  return {
    base,
    controller: link.client(InputControllerService),
    throttle: async () => (await pilot.getStatus({ name: 'pilot' })).result?.['throttle'],
    ofBase: async () => (await base.getStatus({ name: 'my-base' })).result,
    get logs() {
      return cloud.logs.join('\n');
    },
  };
}

const both = { base: 'my-base', input_controller: 'my-input_controller' };
const still = { x: 0, y: 0, z: 0, turn: 0 };

async function send({ controller }: Rig, control: string, event: string, value: number): Promise<void> {
  await controller.triggerEvent({ controller: 'my-input_controller', event: { control, event, value } });
}

test('arrows drive the base by power until they are released, and a controller that disconnects stops it', async () => {
  const rig = await startRig(both);
  const arrow = (control: string, value: number): Promise<void> => send(rig, control, 'PositionChangeAbs', value);
  await until('an event arrives', async () => {
    await arrow('AbsoluteHat0Y', -1);
    return JSON.stringify(await rig.throttle()) === JSON.stringify({ ...still, y: 1 });
  });
  expect(await rig.base.isMoving({ name: 'my-base' })).toMatchObject({ isMoving: true });
  await arrow('AbsoluteHat0X', 1);
  await until(
    'it turns',
    async () => JSON.stringify(await rig.throttle()) === JSON.stringify({ ...still, y: 1, turn: -1 }),
  );
  await send(rig, 'AbsoluteHat0Y', 'Disconnect', 0);
  await until('it stops', async () => !(await rig.base.isMoving({ name: 'my-base' })).isMoving);
  expect(await rig.throttle()).toEqual(still);
});

test('with two speeds the base is driven by speed, and opposite buttons cancel each other out', async () => {
  const speeds = { max_linear_mm_per_sec: 200, max_angular_deg_per_sec: 30 };
  const rig = await startRig({ ...both, ...speeds, control_mode: 'buttonControl' });
  const isAt = async (y: number): Promise<boolean> =>
    JSON.stringify(await rig.throttle()) === JSON.stringify({ ...still, y });
  await until('north drives', async () => {
    await send(rig, 'ButtonNorth', 'ButtonPress', 1);
    return isAt(1);
  });
  await send(rig, 'ButtonSouth', 'ButtonPress', 1);
  await until('both stand', () => isAt(0));
  await send(rig, 'ButtonNorth', 'ButtonRelease', 0);
  await until('south drives back', () => isAt(-1));
  const from = Number((await rig.ofBase())?.['distance_mm']);
  await until('the base moves', async () => Number((await rig.ofBase())?.['distance_mm']) < from);
});

test.each([
  [{ ...both, base: '' }, 'attributes.base: expected the name of a base, found none'],
  [{ ...both, control_mode: 'mouse' }, 'attributes.control_mode: expected one of arrowControl'],
  [
    { ...both, base: 'my-input_controller' },
    'attributes.base: expected the name of a base, found "my-input_controller"',
  ],
])('wrong attributes are reported: %j', async (attributes, message) => {
  const rig = await startRig(attributes);
  await until('the error', () => rig.logs.includes(message));
});
