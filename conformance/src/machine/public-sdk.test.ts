/** The unmodified public TypeScript client calls every type's fake, directly over gRPC-Web, and reads changes back. */
import * as sdk from '@viamrobotics/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fakesOfEveryType, type MachineProcess, startMachine } from './start-machine.ts';

const name = 'it';
let machine: MachineProcess;
let robot: sdk.RobotClient;

beforeAll(async () => {
  machine = await startMachine(fakesOfEveryType());
  // `createRobotClient` of this version takes only WebRTC for connected.
  robot = await new sdk.RobotClient().dial({ host: machine.url, noReconnect: true });
});
afterAll(async () => {
  await robot?.disconnect();
  await machine?.[Symbol.asyncDispose]();
});

/** Exports of the client that its types omit. */
interface Untyped {
  readonly Struct: { fromJson(value: object): never };
  readonly InputControllerClient: new (
    robot: sdk.RobotClient,
    name: string,
  ) => { triggerEvent(event: object): Promise<void>; getEvents(): Promise<object[]> };
}
const { Struct, InputControllerClient } = sdk as unknown as Untyped;
const struct = (value: object): never => Struct.fromJson(value);

test('the machine: names, types, status, version, metadata, operations, frames', async () => {
  const names = await robot.resourceNames();
  expect(names).toContainEqual(
    expect.objectContaining({ namespace: 'rdk', type: 'component', subtype: 'motor', name }),
  );
  const subtypes = await robot.resourceRPCSubtypes();
  expect(subtypes.map((each: { protoService: string }) => each.protoService)).toContain(
    'viam.component.motor.v1.MotorService',
  );
  const status = await robot.getMachineStatus();
  expect(status.resources.map((each: { state: number }) => each.state)).toEqual(
    status.resources.map(() => sdk.robotApi.ResourceStatus_State.READY),
  );
  expect(status.config?.revision).toMatch(/./);
  expect((await robot.getVersion()).platform).toBe('machine-server');
  expect(await robot.getCloudMetadata()).toMatchObject({ machinePartId: '' });
  expect(await robot.getModelsFromModules()).toEqual([]);

  const motion = new sdk.MotorClient(robot, name).goFor(1, 1_000).catch((caught: unknown) => String(caught));
  let operation: sdk.robotApi.Operation | undefined;
  await expect.poll(async () => (operation = (await robot.getOperations()).at(0))).toBeDefined();
  expect(operation).toMatchObject({ method: '/viam.component.motor.v1.MotorService/GoFor' });
  expect(operation?.arguments?.toJson()).toMatchObject({ name, rpm: 1, revolutions: 1_000 });
  await robot.cancelOperation(operation?.id ?? '');
  expect(await motion).toContain('cancelled by CancelOperation');
  await robot.blockForOperation(operation?.id ?? '');
  expect(await robot.getOperations()).toEqual([]);

  await new sdk.ArmClient(robot, name).moveToPosition({ x: 5, y: 0, z: 0, oX: 0, oY: 0, oZ: 1, theta: 0 } as never);
  expect(await robot.getPose('eye', 'world', [])).toMatchObject({
    referenceFrame: 'world',
    pose: { x: expect.closeTo(6, 6), y: expect.closeTo(2, 6), z: expect.closeTo(3, 6) },
  });
  const source = { referenceFrame: 'eye', pose: { x: 1, y: 0, z: 0, oX: 0, oY: 0, oZ: 1, theta: 0 } };
  expect(await robot.transformPose(source as never, 'world', [])).toMatchObject({
    pose: { x: expect.closeTo(7, 6), y: expect.closeTo(2, 6), z: expect.closeTo(3, 6) },
  });
  const frames = await robot.frameSystemConfig([]);
  expect(frames.map((each: { frame?: { referenceFrame: string } }) => each.frame?.referenceFrame)).toEqual([
    'it',
    'eye',
  ]);
  const cloud = Buffer.from('FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nPOINTS 1\nDATA ascii\n0 0 0\n');
  const moved = Buffer.from(await robot.transformPCD(cloud, 'eye', 'world'))
    .toString()
    .trim()
    .split('\n')
    .at(-1);
  expect(moved?.split(' ').map(Number)).toEqual([0.006, 0.002, 0.003].map((value) => expect.closeTo(value, 9)));
});

test('the public SDK drives an arm, a base, a gantry, a gripper, a motor and a servo', async () => {
  const arm = new sdk.ArmClient(robot, name);
  await arm.moveToPosition({ x: 100, y: 200, z: 300, oX: 0, oY: 0, oZ: 1, theta: 45 } as never);
  const [x, y, z, theta] = [100, 200, 300, 45].map((value) => expect.closeTo(value, 6));
  expect(await arm.getEndPosition()).toMatchObject({ x, y, z, theta });
  expect(JSON.stringify(await arm.getKinematics())).toContain('wrist_pitch');
  await arm.moveToJointPositions([1, 2, 3, 4, 5, 6]);
  expect((await arm.getJointPositions()).values).toEqual([1, 2, 3, 4, 5, 6]);
  await arm.stop();
  expect(await arm.isMoving()).toBe(false);
  expect(await arm.getGeometries()).toEqual([]);

  const base = new sdk.BaseClient(robot, name);
  await base.moveStraight(5, 500);
  await base.spin(1, 90);
  await base.setPower({ x: 0, y: 1, z: 0 } as never, { x: 0, y: 0, z: 0 } as never);
  expect(await base.isMoving()).toBe(true);
  await base.stop();
  await base.setVelocity({ x: 0, y: 100, z: 0 } as never, { x: 0, y: 0, z: 0 } as never);
  expect(await base.isMoving()).toBe(true);
  await base.stop();
  expect(await base.isMoving()).toBe(false);
  expect(await base.getProperties()).toMatchObject({ widthMeters: 0.5 });

  const gantry = new sdk.GantryClient(robot, name);
  await gantry.moveToPosition([50, 150], []);
  expect(await gantry.getPosition()).toEqual([50, 150]);
  expect(await gantry.home()).toBe(true);
  expect(await gantry.getPosition()).toEqual([0, 0]);
  expect(await gantry.getLengths()).toEqual([100, 200]);
  expect(JSON.stringify(await gantry.getKinematics())).toContain('prismatic');
  await gantry.stop();
  expect(await gantry.isMoving()).toBe(false);

  const gripper = new sdk.GripperClient(robot, name);
  await gripper.open();
  await gripper.grab();
  await gripper.stop();
  expect(await gripper.isMoving()).toBe(false);

  const motor = new sdk.MotorClient(robot, name);
  await motor.setPower(0.5);
  expect(await motor.isPowered()).toEqual([true, 0.5]);
  expect(await motor.isMoving()).toBe(true);
  await motor.setRPM(50);
  expect(await motor.isPowered()).toEqual([true, 0.5]);
  await motor.stop();
  await motor.resetZeroPosition(0);
  await motor.goFor(6_000, 0.1);
  expect(await motor.getPosition()).toBeCloseTo(0.1);
  await motor.goTo(6_000, 0.05);
  expect(await motor.getPosition()).toBeCloseTo(0.05);
  expect(await motor.getProperties()).toMatchObject({ positionReporting: true });

  const servo = new sdk.ServoClient(robot, name);
  await servo.move(90);
  expect(await servo.getPosition()).toBe(90);
  await servo.stop();
  expect(await servo.isMoving()).toBe(false);
});

test('board, button, encoder, input controller, switch', async () => {
  const board = new sdk.BoardClient(robot, name);
  await board.setGPIO('11', true);
  expect(await board.getGPIO('11')).toBe(true);
  expect(await board.getDigitalInterruptValue('door')).toBeGreaterThan(0);
  await board.setPWM('12', 0.25);
  expect(await board.getPWM('12')).toBe(0.25);
  await board.setPWMFrequency('12', 50);
  expect(await board.getPWMFrequency('12')).toBe(50);
  await board.writeAnalog('light', 3);
  expect(await board.readAnalogReader('light')).toMatchObject({ value: 3, maxRange: 10 });

  const button = new sdk.ButtonClient(robot, name);
  await button.push();
  const encoder = new sdk.EncoderClient(robot, name);
  await encoder.doCommand(struct({ set_ticks_per_sec: 100_000 }));
  await expect.poll(async () => (await encoder.getPosition())[0]).toBeGreaterThan(0);
  await encoder.doCommand(struct({ set_ticks_per_sec: 0 }));
  await encoder.resetPosition();
  expect((await encoder.getPosition())[0]).toBe(0);
  expect(await encoder.getProperties()).toMatchObject({ ticksCountSupported: true });

  const controller = new InputControllerClient(robot, name);
  const event = { control: 'ButtonStart', event: 'ButtonPress', value: 1 };
  await controller.triggerEvent(event);
  expect(await controller.getEvents()).toContainEqual(expect.objectContaining(event));

  const toggle = new sdk.SwitchClient(robot, name);
  await toggle.setPosition(2);
  expect(await toggle.getPosition()).toBe(2);
  expect(await toggle.getNumberOfPositions()).toEqual([3, ['off', 'low', 'high']]);
});

test('movement sensor, power sensor, sensor, generic', async () => {
  const movement = new sdk.MovementSensorClient(robot, name);
  expect(await movement.getPosition()).toMatchObject({ coordinate: { latitude: 48.1, longitude: 11.6 } });
  await movement.doCommand(struct({ set: { compass_heading_deg: 90 } }));
  expect(await movement.getCompassHeading()).toBe(90);
  expect(await movement.getLinearVelocity()).toMatchObject({ x: 0, y: 2, z: 0 });
  expect(await movement.getAngularVelocity()).toMatchObject({ x: 0, y: 0, z: 0 });
  expect(await movement.getLinearAcceleration()).toMatchObject({ x: 0 });
  expect(await movement.getOrientation()).toMatchObject({ oZ: 1 });
  expect(await movement.getProperties()).toMatchObject({ orientationSupported: true });
  expect(await movement.getAccuracy()).toBeDefined();
  expect(await movement.getReadings()).toMatchObject({ compass: 90 });

  const power = new sdk.PowerSensorClient(robot, name);
  await power.doCommand(struct({ set: { volts: 5, amperes: 2 } }));
  expect(await power.getVoltage()).toEqual([5, false]);
  expect(await power.getCurrent()).toEqual([2, false]);
  expect(await power.getPower()).toBe(10);
  expect(await power.getReadings()).toMatchObject({ watts: 10 });

  expect(await new sdk.SensorClient(robot, name).getReadings()).toMatchObject({ celsius: 21.5 });
  const generic = new sdk.GenericComponentClient(robot, name);
  expect(await generic.doCommand(struct({ hello: [1, 2] }))).toEqual({ hello: [1, 2] });
});

test('the public SDK reads a camera and an audio input, and plays on an audio output', async () => {
  const camera = new sdk.CameraClient(robot, 'eye');
  const { images } = await camera.getImages();
  expect(Buffer.from(images[0]?.image ?? []).toString('latin1', 1, 4)).toBe('PNG');
  expect(await camera.getProperties()).toMatchObject({ supportsPcd: true });
  expect(Buffer.from(await camera.getPointCloud()).toString()).toContain('POINTS 4');

  const microphone = new sdk.AudioInClient(robot, name);
  const sizes: number[] = [];
  for await (const { audioData } of microphone.getAudio('pcm16', 0.2)) sizes.push(audioData.length);
  expect(sizes).toEqual([3_200, 3_200]);
  expect(await microphone.getProperties()).toMatchObject({ supportedCodecs: ['pcm16'] });

  const speaker = new sdk.AudioOutClient(robot, name);
  await speaker.play(new Uint8Array(10), { codec: 'pcm16', sampleRateHz: 16_000, numChannels: 1 } as never);
  await expect(speaker.play(new Uint8Array(1), { codec: 'mp3' } as never)).rejects.toThrow('expected pcm16');
  expect(await speaker.getProperties()).toMatchObject({ supportedCodecs: ['pcm16'] });
});

test('discovery, generic service, motion, navigation, vision', async () => {
  const discovered = await new sdk.DiscoveryClient(robot, name).discoverResources();
  expect(discovered).toMatchObject([{ name: 'found', api: 'rdk:component:camera', model: 'acme:cameras:usb' }]);
  expect(await new sdk.GenericServiceClient(robot, name).doCommand(struct({ a: 1 }))).toEqual({ a: 1 });

  const motion = new sdk.MotionClient(robot, name);
  const destination = { referenceFrame: 'world', pose: { x: 1, y: 2, z: 3, oX: 0, oY: 0, oZ: 1, theta: 0 } };
  expect(await motion.move(destination as never, 'arm')).toBe(true);
  expect(await motion.getPose('arm', 'world', [])).toMatchObject({ pose: { x: 1, y: 2, z: 3 } });
  expect((await motion.getPlan('arm')).currentPlanWithStatus?.status).toBeDefined();
  expect((await motion.listPlanStatuses()).planStatusesWithIds).toHaveLength(1);
  await motion.stopPlan('arm');

  const navigation = new sdk.NavigationClient(robot, name);
  await navigation.setMode(sdk.navigationApi.Mode.WAYPOINT);
  expect(await navigation.getMode()).toBe(sdk.navigationApi.Mode.WAYPOINT);
  await navigation.addWayPoint({ latitude: 1, longitude: 2 } as never);
  const [point] = await navigation.getWayPoints();
  expect(point).toMatchObject({ location: { latitude: 1, longitude: 2 } });
  await navigation.removeWayPoint(point?.id ?? '');
  expect(await navigation.getWayPoints()).toEqual([]);
  // Of the replaced service, whose GetLocation and GetProperties had other messages.
  await expect(navigation.getLocation()).rejects.toThrow('expected the name of a saved location, found none');
  expect(await navigation.getProperties()).toBeDefined();

  const vision = new sdk.VisionClient(robot, name);
  expect(await vision.getDetectionsFromCamera('eye')).toMatchObject([{ className: 'cat' }]);
  expect(await vision.getClassificationsFromCamera('eye', 1)).toMatchObject([{ className: 'bright' }]);
  expect(await vision.getProperties()).toMatchObject({ detectionsSupported: true });
});

test('StopAll stops all motion, and an error reaches the client with its code and message', async () => {
  const motor = new sdk.MotorClient(robot, name);
  await motor.setPower(1);
  await robot.stopAll();
  expect(await motor.isMoving()).toBe(false);
  await expect(new sdk.MotorClient(robot, 'no such').stop()).rejects.toMatchObject({
    code: 5,
    message: expect.stringContaining('this machine has no motor "no such"'),
  });
});
