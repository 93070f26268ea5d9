import type { Clock } from '@platform/base';
import type { Model } from '../graph/model.ts';
import type { Kernel } from '../hardware/kernel.ts';
import { createFakeArm } from './components/arm/fake.ts';
import { createFakeAudioIn } from './components/audio-in/fake.ts';
import { createFakeAudioOut } from './components/audio-out/fake.ts';
import { createFakeBase } from './components/base/fake.ts';
import { createFakeBoard } from './components/board/fake.ts';
import { createGpioBoard } from './components/board/gpio.ts';
import { createFakeButton } from './components/button/fake.ts';
import { createFakeCamera } from './components/camera/fake.ts';
import { createFfmpegCamera } from './components/camera/ffmpeg.ts';
import { createImageFileCamera } from './components/camera/image-file.ts';
import { createMjpegCamera } from './components/camera/mjpeg.ts';
import { createFakeEncoder } from './components/encoder/fake.ts';
import { createIncrementalEncoder } from './components/encoder/incremental.ts';
import { createSingleEncoder } from './components/encoder/single.ts';
import { createFakeGantry } from './components/gantry/fake.ts';
import { createFakeGeneric } from './components/generic/fake.ts';
import { createFakeGripper } from './components/gripper/fake.ts';
import { createFakeInputController } from './components/input-controller/fake.ts';
import { createFakeMotor } from './components/motor/fake.ts';
import { createGpioMotor } from './components/motor/gpio.ts';
import { createFakeMovementSensor } from './components/movement-sensor/fake.ts';
import { createNmea } from './components/movement-sensor/nmea.ts';
import { createFakePowerSensor } from './components/power-sensor/fake.ts';
import { createIna } from './components/power-sensor/ina.ts';
import { createCommandSensor } from './components/sensor/command.ts';
import { createFakeSensor } from './components/sensor/fake.ts';
import { hostTelemetry } from './components/sensor/host-telemetry.ts';
import { createHttpSensor } from './components/sensor/http.ts';
import { createModbusSensor } from './components/sensor/modbus.ts';
import { createMqttSensor } from './components/sensor/mqtt.ts';
import { createFakeServo } from './components/servo/fake.ts';
import { gpioServo } from './components/servo/gpio.ts';
import { createFakeSwitch } from './components/switch/fake.ts';
import { createBaseRemoteControl } from './services/base-remote-control/builtin.ts';
import { createDataManager, type DataManagerParts } from './services/data-manager.ts';
import { createFakeDiscovery } from './services/discovery/fake.ts';
import { createFakeGenericService } from './services/generic/fake.ts';
import { createFakeMotion } from './services/motion/fake.ts';
import { createFakeNavigation } from './services/navigation/fake.ts';
import { createShell } from './services/shell/shell.ts';
import { createFakeVision } from './services/vision/fake.ts';
import type { Trust } from './untrusted.ts';

const fakes = [
  createFakeArm,
  createFakeAudioIn,
  createFakeAudioOut,
  createFakeBase,
  createFakeBoard,
  createFakeButton,
  createFakeCamera,
  createFakeDiscovery,
  createFakeEncoder,
  createFakeGantry,
  createFakeGeneric,
  createFakeGenericService,
  createFakeGripper,
  createFakeInputController,
  createFakeMotion,
  createFakeMotor,
  createFakeMovementSensor,
  createFakeNavigation,
  createFakePowerSensor,
  createFakeSensor,
  createFakeServo,
  createFakeSwitch,
  createFakeVision,
];

/** The parts of this computer that models of real devices need. */
export interface Surroundings extends Trust {
  readonly kernel: () => Promise<Kernel>;
}

function realModels(clock: Clock, surroundings: Surroundings): readonly Model[] {
  const { kernel } = surroundings;
  return [
    createCommandSensor(clock, surroundings),
    createFfmpegCamera(clock, surroundings),
    createGpioBoard(clock, kernel),
    createGpioMotor(clock),
    createHttpSensor(clock),
    createImageFileCamera(clock),
    ...createIna(kernel),
    createIncrementalEncoder(clock),
    createMjpegCamera(clock),
    createModbusSensor(clock, kernel),
    createMqttSensor(clock),
    createNmea(clock, kernel),
    createShell(clock, surroundings),
    createSingleEncoder(clock),
    gpioServo,
    hostTelemetry,
  ];
}

/** Every built-in model of the machine-server; `built-in-models.schema.json` of `@platform/machine-config` describes them to the cloud. */
export function builtInModels(
  clock: Clock,
  dataManager: () => DataManagerParts,
  surroundings: Surroundings,
): readonly Model[] {
  return [
    ...fakes.map((fake) => fake(clock)),
    ...realModels(clock, surroundings),
    createBaseRemoteControl(clock),
    createDataManager(dataManager),
  ];
}
