/** Every fake over RPC: values that were set, moved or written are read back. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { ArmService } from '@platform/proto/platform/component/arm/v1/arm';
import { AudioInService } from '@platform/proto/platform/component/audioin/v1/audioin';
import { AudioOutService } from '@platform/proto/platform/component/audioout/v1/audioout';
import { BaseService } from '@platform/proto/platform/component/base/v1/base';
import { BoardService } from '@platform/proto/platform/component/board/v1/board';
import { ButtonService } from '@platform/proto/platform/component/button/v1/button';
import { CameraService } from '@platform/proto/platform/component/camera/v1/camera';
import { EncoderService, PositionType } from '@platform/proto/platform/component/encoder/v1/encoder';
import { GantryService } from '@platform/proto/platform/component/gantry/v1/gantry';
import { GenericService } from '@platform/proto/platform/component/generic/v1/generic';
import { GripperService } from '@platform/proto/platform/component/gripper/v1/gripper';
import { InputControllerService } from '@platform/proto/platform/component/inputcontroller/v1/input_controller';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { MovementSensorService } from '@platform/proto/platform/component/movementsensor/v1/movementsensor';
import { PowerSensorService } from '@platform/proto/platform/component/powersensor/v1/powersensor';
import { ServoService } from '@platform/proto/platform/component/servo/v1/servo';
import { SwitchService } from '@platform/proto/platform/component/switch/v1/switch';
import { BaseRemoteControlService } from '@platform/proto/platform/service/baseremotecontrol/v1/base_remote_control';
import { DiscoveryService } from '@platform/proto/platform/service/discovery/v1/discovery';
import { MotionService, PlanState } from '@platform/proto/platform/service/motion/v1/motion';
import { Mode, NavigationService } from '@platform/proto/platform/service/navigation/v1/navigation';
import { ShellService } from '@platform/proto/platform/service/shell/v1/shell';
import { VisionService } from '@platform/proto/platform/service/vision/v1/vision';
import { expect, test } from 'vitest';
import { until } from '../testing/start-test-server.ts';
import { name, startWithFakes } from '../testing/start-with-fakes.ts';

test('numbers that are not finite are refused with their field before anything moves, even in streams', async () => {
  const call = await startWithFakes();
  const motor = call(MotorService);
  await motor.setPower({ name, powerPct: 0.5 });
  const wrong = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of wrong) {
    const refused = { code: 'invalid_argument', message: expect.stringContaining(`finite number, found ${value}`) };
    const asked = [
      motor.setPower({ name, powerPct: value }),
      motor.goFor({ name, rpm: value, revolutions: 1 }),
      motor.setRPM({ name, rpm: value }),
      motor.resetZeroPosition({ name, offset: value }),
      call(BaseService).setVelocity({ name, linear: { y: value } }),
      call(GantryService).moveToPosition({ name, positionsMm: [0, value] }),
      call(BoardService).setPWM({ name, pin: '12', dutyCyclePct: value }),
    ];
    for (const each of asked) await expect(each).rejects.toMatchObject(refused);
  }
  expect(await motor.isPowered({ name })).toMatchObject({ isOn: true, powerPct: 0.5 });
  const { input } = ArmService.method.moveThroughJointPositionsStreamed;
  async function* batches(): AsyncGenerator<MessageInitShape<typeof input>, void> {
    yield { name, message: { case: 'init', value: {} } };
    const points = [{ positions: { values: [Number.NaN, 0, 0, 0, 0, 0] } }];
    yield { name, message: { case: 'batch', value: { points } } };
  }
  const moved = async () => {
    for await (const _ack of call(ArmService).moveThroughJointPositionsStreamed(batches()));
  };
  await expect(moved()).rejects.toThrow('batch.points[0].positions.values[0]: expected a finite number, found NaN');
});

test('fakes of components that move keep their values, and enforce their limits', async () => {
  const call = await startWithFakes();
  const motor = call(MotorService);
  await motor.setPower({ name, powerPct: 0.5 });
  expect(await motor.isPowered({ name })).toMatchObject({ isOn: true, powerPct: 0.5 });
  expect(await motor.isMoving({ name })).toMatchObject({ isMoving: true });
  await motor.stop({ name });
  await motor.resetZeroPosition({ name, offset: 0 });
  await motor.goFor({ name, rpm: -6_000, revolutions: 0.1 });
  expect((await motor.getPosition({ name })).position).toBeCloseTo(-0.1);
  await motor.goTo({ name, rpm: 6_000, positionRevolutions: 0.05 });
  expect((await motor.getPosition({ name })).position).toBeCloseTo(0.05);
  await expect(motor.goTo({ name, rpm: 0, positionRevolutions: 1 })).rejects.toMatchObject({
    code: 'invalid_argument',
  });
  expect(await motor.getProperties({ name })).toMatchObject({ positionReporting: true });
  expect((await motor.getStatus({ name })).result).toMatchObject({ is_moving: false });

  const endless = expect(motor.goFor({ name, rpm: 1, revolutions: 1_000 })).rejects.toMatchObject({ code: 'aborted' });
  await until('the motion', async () => (await motor.isMoving({ name })).isMoving);
  await motor.stop({ name });
  await endless;

  const servo = call(ServoService);
  await servo.move({ name, angleDeg: 90 });
  expect(await servo.getPosition({ name })).toMatchObject({ positionDeg: 90 });
  await expect(servo.move({ name, angleDeg: 200 })).rejects.toThrow('angle_deg: expected 0 to 180, found 200');

  const gantry = call(GantryService);
  await gantry.moveToPosition({ name, positionsMm: [50, 150] });
  expect(await gantry.getPosition({ name })).toMatchObject({ positionsMm: [50, 150] });
  await expect(gantry.moveToPosition({ name, positionsMm: [50, 250] })).rejects.toThrow('positions_mm[1]');
  expect(await gantry.home({ name })).toMatchObject({ homed: true });
  expect(await gantry.getPosition({ name })).toMatchObject({ positionsMm: [0, 0] });
  expect(await gantry.getLengths({ name })).toMatchObject({ lengthsMm: [100, 200] });

  const arm = call(ArmService);
  await arm.moveToPosition({ name, to: { x: 100, y: 200, z: 300, oZ: 1, theta: 45 } });
  const [x, y, z, theta] = [100, 200, 300, 45].map((value) => expect.closeTo(value, 6));
  expect((await arm.getEndPosition({ name })).pose).toMatchObject({ x, y, z, theta });
  await arm.moveToJointPositions({ name, positions: { values: [1, 2, 3, 4, 5, 6] } });
  expect((await arm.getJointPositions({ name })).positions?.values).toEqual([1, 2, 3, 4, 5, 6]);
  await expect(arm.moveToJointPositions({ name, positions: { values: [1] } })).rejects.toThrow('expected 6 angles');
  const { kinematicsData } = await arm.getKinematics({ name });
  expect(JSON.parse(new TextDecoder().decode(kinematicsData))).toMatchObject({ kinematic_param_type: 'SVA' });
  expect(await arm.get3DModels({ name })).toMatchObject({ models: {} });

  const base = call(BaseService);
  await base.moveStraight({ name, distanceMm: 5n, mmPerSec: 500 });
  await base.spin({ name, angleDeg: -1, degsPerSec: 90 });
  expect((await base.getStatus({ name })).result).toMatchObject({ distance_mm: 5, angle_deg: -1, is_moving: false });
  await base.setVelocity({ name, linear: { y: 100 } });
  expect(await base.isMoving({ name })).toMatchObject({ isMoving: true });
  await base.stop({ name });
  expect(await base.isMoving({ name })).toMatchObject({ isMoving: false });

  const gripper = call(GripperService);
  expect(await gripper.grab({ name })).toMatchObject({ success: true });
  expect(await gripper.isHoldingSomething({ name })).toMatchObject({ isHoldingSomething: true });
  await gripper.open({ name });
  expect(await gripper.isHoldingSomething({ name })).toMatchObject({ isHoldingSomething: false });
});

test('fakes of components that sense and switch keep their values', async () => {
  const call = await startWithFakes();
  const board = call(BoardService);
  const ticks: unknown[] = [];
  const watching = (async () => {
    for await (const { pinName, high } of board.streamTicks({ name, pinNames: ['door'] })) {
      ticks.push([pinName, high]);
      if (ticks.length === 2) return;
    }
  })();
  // The stream counts from the moment at which the board follows it.
  for (let high = true; ticks.length < 2; high = !high) await board.setGPIO({ name, pin: '11', high });
  await watching;
  await board.setGPIO({ name, pin: '11', high: true });
  expect(await board.getGPIO({ name, pin: '11' })).toMatchObject({ high: true });
  expect(
    Number((await board.getDigitalInterruptValue({ boardName: name, digitalInterruptName: 'door' })).value),
  ).toBeGreaterThan(1);
  await board.setPWM({ name, pin: '12', dutyCyclePct: 0.25 });
  expect(await board.pWM({ name, pin: '12' })).toMatchObject({ dutyCyclePct: 0.25 });
  await board.setPWMFrequency({ name, pin: '12', frequencyHz: 50n });
  expect(await board.pWMFrequency({ name, pin: '12' })).toMatchObject({ frequencyHz: 50n });
  const light = { boardName: name, analogReaderName: 'light' };
  expect(await board.readAnalogReader(light)).toMatchObject({ value: 7, maxRange: 10 });
  await board.writeAnalog({ name, pin: 'light', value: 3 });
  expect(await board.readAnalogReader(light)).toMatchObject({ value: 3, maxRange: 10 });
  await expect(board.readAnalogReader({ ...light, analogReaderName: 'x' })).rejects.toThrow('it has: light');

  const toggle = call(SwitchService);
  await toggle.setPosition({ name, position: 2 });
  expect(await toggle.getPosition({ name })).toMatchObject({ position: 2 });
  expect(await toggle.getNumberOfPositions({ name })).toMatchObject({
    numberOfPositions: 3,
    labels: ['off', 'low', 'high'],
  });
  await expect(toggle.setPosition({ name, position: 3 })).rejects.toThrow('expected 0 to 2, found 3');

  const button = call(ButtonService);
  await button.push({ name });
  expect((await button.getStatus({ name })).result).toEqual({ pushes: 1 });

  const encoder = call(EncoderService);
  await encoder.doCommand({ name, command: { set_ticks_per_sec: 100_000 } });
  await until('ticks', async () => (await encoder.getPosition({ name })).value > 0);
  const angle = await encoder.getPosition({ name, positionType: PositionType.ANGLE_DEGREES });
  expect(angle.positionType).toBe(PositionType.ANGLE_DEGREES);
  await encoder.doCommand({ name, command: { set_ticks_per_sec: 0 } });
  await encoder.resetPosition({ name });
  expect(await encoder.getPosition({ name })).toMatchObject({ value: 0 });

  const power = call(PowerSensorService);
  await power.doCommand({ name, command: { set: { volts: 5, amperes: 2 } } });
  expect(await power.getVoltage({ name })).toMatchObject({ volts: 5, isAc: false });
  expect(await power.getPower({ name })).toMatchObject({ watts: 10 });
  expect((await power.getReadings({ name })).readings['watts']?.kind.value).toBe(10);

  const movement = call(MovementSensorService);
  expect(await movement.getPosition({ name })).toMatchObject({ coordinate: { latitude: 48.1, longitude: 11.6 } });
  await movement.doCommand({ name, command: { set: { compass_heading_deg: 90 } } });
  expect(await movement.getCompassHeading({ name })).toMatchObject({ value: 90 });
  expect(await movement.getLinearVelocity({ name })).toMatchObject({ linearVelocity: { x: 0, y: 2, z: 0 } });
  expect(await movement.getProperties({ name })).toMatchObject({ orientationSupported: true });

  const controller = call(InputControllerService);
  const event = { control: 'ButtonStart', event: 'ButtonPress', value: 1 };
  await controller.triggerEvent({ controller: name, event });
  const { events } = await controller.getEvents({ controller: name });
  expect(events.find(({ control }) => control === 'ButtonStart')).toMatchObject(event);

  const generic = call(GenericService);
  expect((await generic.doCommand({ name, command: { hello: [1, 2] } })).result).toEqual({ hello: [1, 2] });
});

test('fakes of cameras and of sound return and accept bytes', async () => {
  const call = await startWithFakes();
  const camera = call(CameraService);
  const { images, responseMetadata } = await camera.getImages({ name });
  expect(images).toMatchObject([{ sourceName: 'color', mimeType: 'image/png' }]);
  expect(
    Buffer.from(images[0]?.image ?? [])
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG');
  expect(responseMetadata?.capturedAt).toBeDefined();
  await expect(camera.getImages({ name, filterSourceNames: ['depth'] })).rejects.toThrow('expected some of color');
  expect(await camera.getProperties({ name })).toMatchObject({ supportsPcd: true, mimeTypes: ['image/png'] });
  expect(Buffer.from((await camera.getPointCloud({ name })).pointCloud).toString()).toContain('POINTS 4');

  const chunks = [];
  for await (const chunk of call(AudioInService).getAudio({ name, durationSeconds: 0.2, requestId: 'r' }))
    chunks.push(chunk);
  expect(chunks.map(({ requestId, audio }) => [requestId, audio?.sequence, audio?.audioData.length])).toEqual([
    ['r', 0, 3_200],
    ['r', 1, 3_200],
  ]);

  const speaker = call(AudioOutService);
  await speaker.play({ name, audioData: new Uint8Array(10), audioInfo: { codec: 'pcm16' } });
  await expect(speaker.play({ name, audioInfo: { codec: 'mp3' } })).rejects.toThrow('expected pcm16, found "mp3"');
  await speaker.playStream(
    (async function* () {
      yield { payload: { case: 'init', value: { name } } } as const;
      yield { payload: { case: 'audioChunk', value: { audioData: new Uint8Array(5) } } } as const;
    })(),
  );
  expect((await speaker.getStatus({ name })).result).toEqual({ plays: 2, bytes: 15 });
});

test('fakes of services keep modes, waypoints and plans, and see the contents of their attributes', async () => {
  const call = await startWithFakes();
  const navigation = call(NavigationService);
  await navigation.setMode({ name, mode: Mode.WAYPOINT });
  expect(await navigation.getMode({ name })).toMatchObject({ mode: Mode.WAYPOINT });
  await navigation.addWaypoint({ name, location: { latitude: 1, longitude: 2 } });
  const { waypoints } = await navigation.getWaypoints({ name });
  expect(waypoints).toMatchObject([{ location: { latitude: 1, longitude: 2 } }]);
  await navigation.removeWaypoint({ name, id: waypoints[0]?.id ?? '' });
  expect((await navigation.getWaypoints({ name })).waypoints).toEqual([]);

  const motion = call(MotionService);
  const destination = { referenceFrame: 'world', pose: { x: 1, y: 2, z: 3, oZ: 1 } };
  expect(await motion.move({ name, componentName: 'arm', destination })).toMatchObject({ success: true });
  expect((await motion.getPose({ name, componentName: 'arm' })).pose).toMatchObject(destination);
  const plan = await motion.getPlan({ name, componentName: 'arm' });
  expect(plan.currentPlanWithStatus?.status?.state).toBe(PlanState.SUCCEEDED);

  const vision = call(VisionService);
  expect((await vision.getDetections3D({ name, cameraName: 'eye' })).detections3d).toMatchObject([
    {
      transforms: [
        {
          poseInObserverFrame: { referenceFrame: 'eye', pose: { x: 10, z: 500, oZ: 1 } },
          physicalObject: { geometryType: { value: { dimsMm: { x: 40, y: 40, z: 40 } } } },
        },
      ],
      classifications: [{ className: 'cup', confidence: 0.8 }],
    },
  ]);
  const captured = await vision.captureAllFromCamera({ name, cameraName: 'eye', returnDetections3d: true });
  expect(captured.detections3d).toMatchObject([{ classifications: [{ className: 'cup' }] }]);
  expect(await vision.getProperties({ name })).toMatchObject({ detections3dSupported: true });
  expect((await vision.getDetections({ name })).detections).toMatchObject([{ className: 'cat', xMax: 3n }]);
  const { classifications } = await vision.getClassifications({ name, n: 1 });
  expect(classifications).toMatchObject([{ className: 'bright', confidence: 1 }]);

  const { discoveries } = await call(DiscoveryService).discoverResources({ name });
  expect(discoveries).toMatchObject([{ name: 'found', api: 'rdk:component:camera', model: 'acme:cameras:usb' }]);
});

test('the fakes of base remote control and of the shell answer commands; the shell returns what is typed', async () => {
  const call = await startWithFakes();
  const command = { turn: 'left' };
  expect((await call(BaseRemoteControlService).doCommand({ name, command })).result).toEqual(command);
  const shell = call(ShellService);
  expect((await shell.doCommand({ name, command })).result).toEqual(command);
  async function* typed() {
    yield { name, dataIn: 'id' };
  }
  const shown: string[] = [];
  for await (const { dataOut } of shell.shell(typed())) shown.push(dataOut);
  expect(shown).toEqual(['id']);
});
