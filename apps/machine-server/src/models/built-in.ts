/**
 * Every built-in model of the machine-server. The module of a model is loaded when a resource first needs it: a machine uses a few of them.
 * `built-in-models.schema.json` of `@platform/machine-config` describes them to the cloud.
 */
import type { Clock } from '@platform/base';
import { baseRemoteControl, genericComponent, genericService } from '@platform/resources';
import type { Model } from '../graph/model.ts';
import type { Kernel } from '../hardware/kernel.ts';
import type { DataManagerParts } from './services/data-manager-methods.ts';
import type { Trust } from './untrusted.ts';

/** What models are made of. */
export interface ModelParts {
  readonly clock: Clock;
  readonly dataManager: () => DataManagerParts;
  /** The devices of this computer. */
  readonly kernel: () => Promise<Kernel>;
  readonly trust: Trust;
  /** PLATFORM_HOME. */
  readonly home: string;
}

export interface BuiltInModel extends Required<Pick<Model, 'api' | 'model' | 'dependencies' | 'build'>> {
  /** The model itself, with the table of its attributes. */
  load(): Promise<Model>;
}

/** By API and by the last part of the model's name. */
const loads: Readonly<Record<string, (parts: ModelParts) => Promise<Model>>> = {
  'core:component:arm/fake': async ({ clock }) => (await import('./components/arm/fake.ts')).createFakeArm(clock),
  'core:component:audio_in/fake': async ({ clock }) =>
    (await import('./components/audio-in/fake.ts')).createFakeAudioIn(clock),
  'core:component:audio_out/fake': async ({ clock }) =>
    (await import('./components/audio-out/fake.ts')).createFakeAudioOut(clock),
  'core:component:base/fake': async ({ clock }) => (await import('./components/base/fake.ts')).createFakeBase(clock),
  'core:component:board/fake': async ({ clock }) => (await import('./components/board/fake.ts')).createFakeBoard(clock),
  'core:component:board/gpio': async ({ clock, kernel }) =>
    (await import('./components/board/gpio.ts')).createGpioBoard(clock, kernel),
  'core:component:button/fake': async ({ clock }) =>
    (await import('./components/button/fake.ts')).createFakeButton(clock),
  'core:component:camera/fake': async ({ clock }) =>
    (await import('./components/camera/fake.ts')).createFakeCamera(clock),
  'core:component:camera/ffmpeg': async ({ clock, trust }) =>
    (await import('./components/camera/ffmpeg.ts')).createFfmpegCamera(clock, trust),
  'core:component:camera/image_file': async ({ clock }) =>
    (await import('./components/camera/image-file.ts')).createImageFileCamera(clock),
  'core:component:camera/mjpeg': async ({ clock }) =>
    (await import('./components/camera/mjpeg.ts')).createMjpegCamera(clock),
  'core:component:encoder/fake': async ({ clock }) =>
    (await import('./components/encoder/fake.ts')).createFakeEncoder(clock),
  'core:component:encoder/incremental': async ({ clock }) =>
    (await import('./components/encoder/incremental.ts')).createIncrementalEncoder(clock),
  'core:component:encoder/single': async ({ clock }) =>
    (await import('./components/encoder/single.ts')).createSingleEncoder(clock),
  'core:component:gantry/fake': async ({ clock }) =>
    (await import('./components/gantry/fake.ts')).createFakeGantry(clock),
  'core:component:generic/fake': async ({ clock }) =>
    (await import('./fake/fake-model.ts')).bareFake(genericComponent, clock),
  'core:component:gripper/fake': async ({ clock }) =>
    (await import('./components/gripper/fake.ts')).createFakeGripper(clock),
  'core:component:input_controller/fake': async ({ clock }) =>
    (await import('./components/input-controller/fake.ts')).createFakeInputController(clock),
  'core:component:motor/fake': async ({ clock }) => (await import('./components/motor/fake.ts')).createFakeMotor(clock),
  'core:component:motor/gpio': async ({ clock }) => (await import('./components/motor/gpio.ts')).createGpioMotor(clock),
  'core:component:movement_sensor/fake': async ({ clock }) =>
    (await import('./components/movement-sensor/fake.ts')).createFakeMovementSensor(clock),
  'core:component:movement_sensor/nmea': async ({ clock, kernel }) =>
    (await import('./components/movement-sensor/nmea.ts')).createNmea(clock, kernel),
  'core:component:power_sensor/fake': async ({ clock }) =>
    (await import('./components/power-sensor/fake.ts')).createFakePowerSensor(clock),
  'core:component:power_sensor/ina219': async ({ kernel }) =>
    (await import('./components/power-sensor/ina.ts')).createIna219(kernel),
  'core:component:power_sensor/ina226': async ({ kernel }) =>
    (await import('./components/power-sensor/ina.ts')).createIna226(kernel),
  'core:component:sensor/fake': async ({ clock }) =>
    (await import('./components/sensor/fake.ts')).createFakeSensor(clock),
  'core:component:sensor/command': async ({ clock, trust }) =>
    (await import('./components/sensor/command.ts')).createCommandSensor(clock, trust),
  'core:component:sensor/host-telemetry': async () =>
    (await import('./components/sensor/host-telemetry.ts')).hostTelemetry,
  'core:component:sensor/http': async ({ clock }) =>
    (await import('./components/sensor/http.ts')).createHttpSensor(clock),
  'core:component:sensor/modbus': async ({ clock, kernel }) =>
    (await import('./components/sensor/modbus.ts')).createModbusSensor(clock, kernel),
  'core:component:sensor/mqtt': async ({ clock }) =>
    (await import('./components/sensor/mqtt.ts')).createMqttSensor(clock),
  'core:component:servo/fake': async ({ clock }) => (await import('./components/servo/fake.ts')).createFakeServo(clock),
  'core:component:servo/gpio': async () => (await import('./components/servo/gpio.ts')).gpioServo,
  'core:component:switch/fake': async ({ clock }) =>
    (await import('./components/switch/fake.ts')).createFakeSwitch(clock),
  'core:service:base_remote_control/fake': async ({ clock }) =>
    (await import('./fake/fake-model.ts')).bareFake(baseRemoteControl, clock),
  'core:service:base_remote_control/builtin': async ({ clock }) =>
    (await import('./services/base-remote-control/builtin.ts')).createBaseRemoteControl(clock),
  'core:service:data_manager/builtin': async ({ dataManager }) =>
    (await import('./services/data-manager.ts')).createDataManager(dataManager),
  'core:service:discovery/fake': async ({ clock }) =>
    (await import('./services/discovery/fake.ts')).createFakeDiscovery(clock),
  'core:service:generic/fake': async ({ clock }) =>
    (await import('./fake/fake-model.ts')).bareFake(genericService, clock),
  'core:service:motion/fake': async ({ clock }) => (await import('./services/motion/fake.ts')).createFakeMotion(clock),
  'core:service:navigation/fake': async ({ clock }) =>
    (await import('./services/navigation/fake.ts')).createFakeNavigation(clock),
  'core:service:shell/fake': async ({ clock }) => (await import('./services/shell/fake.ts')).createFakeShell(clock),
  'core:service:shell/builtin': async ({ clock, kernel, trust, home }) =>
    (await import('./services/shell/shell.ts')).createShell(clock, { ...trust, kernel, home }),
  'core:service:vision/fake': async ({ clock }) => (await import('./services/vision/fake.ts')).createFakeVision(clock),
};

export function builtInModels(parts: ModelParts): readonly BuiltInModel[] {
  return Object.entries(loads).map(([name, load]) => {
    const [api = '', last] = name.split('/');
    let loaded: Promise<Model> | undefined;
    const once = (): Promise<Model> => (loaded ??= load(parts));
    return {
      api,
      model: `core:builtin:${last}`,
      load: once,
      async dependencies(config, signal) {
        const model = await once();
        return (await model.dependencies?.(config, signal)) ?? { required: [], optional: [] };
      },
      build: async (config, context) => (await once()).build(config, context),
    };
  });
}
