/** The frame system of a running machine: over RPC, and captured. */

import { JointType } from '@platform/proto/platform/common/v1/common';
import { ArmService } from '@platform/proto/platform/component/arm/v1/arm';
import { GantryService } from '@platform/proto/platform/component/gantry/v1/gantry';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { connect, type Link } from '@platform/rpc/client';
import { expect, onTestFinished, test } from 'vitest';
import { type FakeCloud, startFakeCloud } from '../testing/fake-cloud.ts';
import { createTestHome, patientClock, startTestServer, until } from '../testing/start-test-server.ts';

const quarterAboutZ = { type: 'euler_angles', value: { roll: 0, pitch: 0, yaw: Math.PI / 2 } };
const document = {
  components: [
    {
      ...{ name: 'rail', api: 'core:component:gantry', model: 'core:builtin:fake' },
      attributes: { lengths_mm: [1_000, 1_000] },
      frame: { parent: 'world', translation: { x: 0, y: 0, z: 100 }, orientation: quarterAboutZ },
    },
    {
      ...{ name: 'picker', api: 'core:component:arm', model: 'core:builtin:fake' },
      frame: { parent: 'rail', geometry: { type: 'sphere', r: 5 } },
    },
    {
      ...{ name: 'thermometer', api: 'core:component:sensor', model: 'core:builtin:fake' },
      frame: { parent: 'picker', translation: { x: 1, y: 0, z: 0 } },
      service_configs: [
        {
          type: 'data_manager',
          attributes: { capture_methods: [{ method: 'GetWorldPose', capture_frequency_hz: 20 }] },
        },
      ],
    },
    { name: 'loose', api: 'core:component:sensor', model: 'core:builtin:fake', frame: { parent: 'nothing' } },
    { name: 'frameless', api: 'core:component:sensor', model: 'core:builtin:fake' },
  ],
  services: [
    {
      ...{ name: 'dm', api: 'core:service:data_manager', model: 'core:builtin:builtin' },
      attributes: { sync_interval_mins: 0.002 },
    },
  ],
};

async function start(): Promise<{ cloud: FakeCloud; link: Link }> {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const cloud = stack.use(await startFakeCloud(document));
  const home = stack.use(await createTestHome(cloud.url));
  const server = stack.use(await startTestServer(home, patientClock));
  const link = stack.use(connect({ baseUrl: `http://127.0.0.1:${server.serving.port}` }));
  await until('the configuration', () => cloud.logs.includes('configuration applied'));
  return { cloud, link };
}

const rounded = (pose: object | undefined): unknown =>
  JSON.parse(JSON.stringify(pose ?? {}), (_key, value) =>
    typeof value === 'number' ? Math.round(value * 1e6) / 1e6 + 0 : value,
  );

test('poses follow the frames of the configuration and their motion, over RPC and in captured data', async () => {
  const { cloud, link } = await start();
  const robot = link.client(RobotService);
  await link.client(GantryService).moveToPosition({ name: 'rail', positionsMm: [300, 20] });
  await link.client(ArmService).moveToPosition({ name: 'picker', to: { x: 7, y: 0, z: 0, oZ: 1 } });

  // The rail is turned: its x axis is the world's y axis, its y axis the world's −x.
  const { pose } = await robot.getPose({ componentName: 'thermometer' });
  expect(rounded(pose)).toMatchObject({ referenceFrame: 'world', pose: { x: -20, y: 308, z: 100, oZ: 1, theta: 90 } });
  const inRail = await robot.getPose({ componentName: 'thermometer', destinationFrame: 'rail' });
  expect(rounded(inRail.pose)).toMatchObject({ referenceFrame: 'rail', pose: { x: 8, y: 0, z: 0, theta: 0 } });
  const inOrigin = await robot.getPose({ componentName: 'picker', destinationFrame: 'rail_origin' });
  expect(rounded(inOrigin.pose?.pose)).toMatchObject({ x: 307, y: 20, z: 0 });

  const inWorld = await robot.transformPose({
    source: { referenceFrame: 'thermometer', pose: { x: 0, y: 2, z: 0, oZ: 1 } },
    destination: 'world',
  });
  expect(rounded(inWorld.pose?.pose)).toMatchObject({ x: -22, y: 308, z: 100 });
  const added = {
    referenceFrame: 'cup',
    poseInObserverFrame: { referenceFrame: 'thermometer', pose: { x: 10, oZ: 1 } },
  };
  const cup = await robot.getPose({ componentName: 'cup', supplementalTransforms: [added] });
  expect(rounded(cup.pose?.pose)).toMatchObject({ x: -20, y: 318, z: 100 });

  await until('a captured pose', () =>
    cloud.stored.some(({ metadata, readings }) => {
      const [value] = readings.flatMap(({ data }) => (data.case === 'struct' ? [rounded(data.value)] : []));
      return metadata.methodName === 'GetWorldPose' && JSON.stringify(value).includes('"y":308');
    }),
  );
  const captured = cloud.stored.flatMap(({ readings }) =>
    readings.flatMap(({ data }) => (data.case === 'struct' ? [rounded(data.value)] : [])),
  );
  expect(captured).toContainEqual({ pose: { x: -20, y: 308, z: 100, o_x: 0, o_y: 0, o_z: 1, theta: 90 } });
});

test('the frame system is listed parents first, with geometries and kinematics; errors name the frame', async () => {
  const { cloud, link } = await start();
  const robot = link.client(RobotService);
  const { frameSystemConfigs: listed } = await robot.frameSystemConfig({});
  expect(listed.map(({ frame }) => [frame?.poseInObserverFrame?.referenceFrame, frame?.referenceFrame])).toEqual([
    ['world', 'rail'],
    ['rail', 'picker'],
    ['picker', 'thermometer'],
  ]);
  expect(listed[0]?.kinematics).toMatchObject({ kinematic_param_type: 'SVA', joints: [{ type: 'prismatic' }, {}] });
  expect(listed[0]?.model).toMatchObject({ name: 'rail', joints: [{ id: 'axis0', type: JointType.PRISMATIC }, {}] });
  expect(listed[1]?.model).toMatchObject({ name: 'picker', outputFrames: ['wrist_yaw'] });
  expect(listed[2]?.model).toBeUndefined();
  expect(listed[1]).toMatchObject({
    frame: { physicalObject: { geometryType: { case: 'sphere', value: { radiusMm: 5 } } } },
    kinematics: {},
  });
  await until('the warning', () =>
    cloud.logs.includes('the frame "loose" does not reach world: its parent "nothing" has no frame'),
  );
  await expect(robot.getPose({ componentName: 'frameless' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(robot.getPose({ componentName: 'loose' })).rejects.toMatchObject({ code: 'failed_precondition' });
  await expect(robot.getPose({})).rejects.toThrow('component_name: expected');
  await expect(robot.transformPose({ destination: 'world' })).rejects.toThrow('source: expected a pose in a frame');
  const nameless = { poseInObserverFrame: { pose: { x: 1 } } };
  await expect(robot.frameSystemConfig({ supplementalTransforms: [nameless] })).rejects.toThrow(
    'supplemental_transforms',
  );
});
