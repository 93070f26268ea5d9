/** Every resource type: its interface, and its descriptor, which is the only value exported here. */

import { create } from '@bufbuild/protobuf';
import { AudioOutService } from '@platform/proto/platform/component/audioout/v1/audioout';
import { BoardService } from '@platform/proto/platform/component/board/v1/board';
import { ButtonService } from '@platform/proto/platform/component/button/v1/button';
import { EncoderService } from '@platform/proto/platform/component/encoder/v1/encoder';
import { GantryService, GetPositionRequestSchema } from '@platform/proto/platform/component/gantry/v1/gantry';
import { GenericService as GenericComponentService } from '@platform/proto/platform/component/generic/v1/generic';
import { GripperService } from '@platform/proto/platform/component/gripper/v1/gripper';
import { InputControllerService } from '@platform/proto/platform/component/inputcontroller/v1/input_controller';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { MovementSensorService } from '@platform/proto/platform/component/movementsensor/v1/movementsensor';
import { PowerSensorService } from '@platform/proto/platform/component/powersensor/v1/powersensor';
import { ServoService } from '@platform/proto/platform/component/servo/v1/servo';
import { SwitchService } from '@platform/proto/platform/component/switch/v1/switch';
import { BaseRemoteControlService } from '@platform/proto/platform/service/baseremotecontrol/v1/base_remote_control';
import { DataManagerService } from '@platform/proto/platform/service/datamanager/v1/data_manager';
import { DiscoveryService } from '@platform/proto/platform/service/discovery/v1/discovery';
import { GenericService as GenericServiceOfWire } from '@platform/proto/platform/service/generic/v1/generic';
import { MotionService } from '@platform/proto/platform/service/motion/v1/motion';
import { ShellService } from '@platform/proto/platform/service/shell/v1/shell';
import { requiredText } from './params.ts';
import type { ResourceDescriptor } from './resource-descriptor.ts';
import { answerCapture, type ServiceResource, serviceType, svaOf } from './service-type.ts';

export { type Sensor, sensor } from './sensor.ts';
export { type Arm, arm } from './types/arm.ts';
export { type AudioIn, audioIn } from './types/audio-in.ts';
export { type Base, base } from './types/base.ts';
export { type Camera, camera } from './types/camera.ts';
export { type Navigation, navigation } from './types/navigation.ts';
export { type Vision, vision } from './types/vision.ts';

/** A sink of sound. */
export type AudioOut = ServiceResource<typeof AudioOutService, 'playStream'>;

export const audioOut: ResourceDescriptor<AudioOut, typeof AudioOutService> = serviceType({
  api: 'core:component:audio_out',
  service: AudioOutService,
  nameFields: ['init.name'],
  optional: ['playStream'],
  capturesCommands: false,
});

/** Drives a base with an input controller of the same machine. */
export type BaseRemoteControl = ServiceResource<typeof BaseRemoteControlService>;

export const baseRemoteControl: ResourceDescriptor<BaseRemoteControl, typeof BaseRemoteControlService> = serviceType({
  api: 'core:service:base_remote_control',
  service: BaseRemoteControlService,
});

/** A computer or controller with pins. */
export type Board = ServiceResource<typeof BoardService>;

export const board: ResourceDescriptor<Board, typeof BoardService> = serviceType({
  api: 'core:component:board',
  service: BoardService,
  nameFields: ['name', 'board_name'],
  captures: {
    Analogs: answerCapture(BoardService.method.readAnalogReader, (params) => ({
      analogReaderName: requiredText(params['reader_name'], 'reader_name'),
    })),
    Gpios: answerCapture(BoardService.method.getGPIO, (params) => ({
      pin: requiredText(params['pin_name'], 'pin_name'),
    })),
  },
});

/** Something that can be pushed. */
export type Button = ServiceResource<typeof ButtonService>;

export const button: ResourceDescriptor<Button, typeof ButtonService> = serviceType({
  api: 'core:component:button',
  service: ButtonService,
});

/** Captures data and syncs it. */
export type DataManager = ServiceResource<typeof DataManagerService>;

export const dataManager: ResourceDescriptor<DataManager, typeof DataManagerService> = serviceType({
  api: 'core:service:data_manager',
  service: DataManagerService,
});

/** Finds resources that could be configured. */
export type Discovery = ServiceResource<typeof DiscoveryService>;

export const discovery: ResourceDescriptor<Discovery, typeof DiscoveryService> = serviceType({
  api: 'core:service:discovery',
  service: DiscoveryService,
});

/** Counts rotation, in ticks or degrees. */
export type Encoder = ServiceResource<typeof EncoderService>;

export const encoder: ResourceDescriptor<Encoder, typeof EncoderService> = serviceType({
  api: 'core:component:encoder',
  service: EncoderService,
  captures: {
    TicksCount: answerCapture(EncoderService.method.getPosition),
  },
});

/** Linear axes. Lengths in mm. */
export type Gantry = ServiceResource<typeof GantryService>;

export const gantry: ResourceDescriptor<Gantry, typeof GantryService> = serviceType<Gantry, typeof GantryService>({
  api: 'core:component:gantry',
  service: GantryService,
  captures: {
    Lengths: answerCapture(GantryService.method.getLengths),
    Position: answerCapture(GantryService.method.getPosition),
  },
  motion: {
    kinematics: svaOf,
    joints: async (gantry, call) =>
      (await gantry.getPosition(create(GetPositionRequestSchema), call)).positionsMm ?? [],
  },
});

/** A component that only takes model-specific commands. */
export type GenericComponent = ServiceResource<typeof GenericComponentService>;

export const genericComponent: ResourceDescriptor<GenericComponent, typeof GenericComponentService> = serviceType({
  api: 'core:component:generic',
  service: GenericComponentService,
});

/** A service that only takes model-specific commands. */
export type GenericService = ServiceResource<typeof GenericServiceOfWire>;

export const genericService: ResourceDescriptor<GenericService, typeof GenericServiceOfWire> = serviceType({
  api: 'core:service:generic',
  service: GenericServiceOfWire,
});

/** Holds objects. */
export type Gripper = ServiceResource<typeof GripperService, 'getCurrentInputs' | 'goToInputs'>;

export const gripper: ResourceDescriptor<Gripper, typeof GripperService> = serviceType({
  api: 'core:component:gripper',
  service: GripperService,
  optional: ['getCurrentInputs', 'goToInputs'],
});

/** A gamepad or another device that a person operates. */
export type InputController = ServiceResource<typeof InputControllerService>;

export const inputController: ResourceDescriptor<InputController, typeof InputControllerService> = serviceType({
  api: 'core:component:input_controller',
  service: InputControllerService,
  nameFields: ['controller'],
});

/** Plans and runs motion. */
export type Motion = ServiceResource<typeof MotionService, 'tempStreamArmJointPositions'>;

export const motion: ResourceDescriptor<Motion, typeof MotionService> = serviceType({
  api: 'core:service:motion',
  service: MotionService,
  optional: ['tempStreamArmJointPositions'],
});

/** A rotating motor. Powers from −1 to 1, positions in revolutions, speeds in revolutions per minute. */
export type Motor = ServiceResource<typeof MotorService>;

export const motor: ResourceDescriptor<Motor, typeof MotorService> = serviceType({
  api: 'core:component:motor',
  service: MotorService,
  captures: {
    Position: answerCapture(MotorService.method.getPosition),
    IsPowered: answerCapture(MotorService.method.isPowered),
  },
});

/** Measures position, orientation and motion. Velocities in m/s and degrees/s, accelerations in m/s². */
export type MovementSensor = ServiceResource<typeof MovementSensorService>;

export const movementSensor: ResourceDescriptor<MovementSensor, typeof MovementSensorService> = serviceType({
  api: 'core:component:movement_sensor',
  service: MovementSensorService,
  captures: {
    AngularVelocity: answerCapture(MovementSensorService.method.getAngularVelocity),
    CompassHeading: answerCapture(MovementSensorService.method.getCompassHeading),
    LinearAcceleration: answerCapture(MovementSensorService.method.getLinearAcceleration),
    LinearVelocity: answerCapture(MovementSensorService.method.getLinearVelocity),
    Orientation: answerCapture(MovementSensorService.method.getOrientation),
    Position: answerCapture(MovementSensorService.method.getPosition),
  },
});

/** Measures voltage, current and power. */
export type PowerSensor = ServiceResource<typeof PowerSensorService>;

export const powerSensor: ResourceDescriptor<PowerSensor, typeof PowerSensorService> = serviceType({
  api: 'core:component:power_sensor',
  service: PowerSensorService,
  captures: {
    Voltage: answerCapture(PowerSensorService.method.getVoltage),
    Current: answerCapture(PowerSensorService.method.getCurrent),
    Power: answerCapture(PowerSensorService.method.getPower),
  },
});

/** A motor that keeps an angle, in degrees. */
export type Servo = ServiceResource<typeof ServoService>;

export const servo: ResourceDescriptor<Servo, typeof ServoService> = serviceType({
  api: 'core:component:servo',
  service: ServoService,
  captures: {
    Position: answerCapture(ServoService.method.getPosition),
  },
});

/** A shell of the machine, and copies of files. */
export type Shell = ServiceResource<typeof ShellService>;

export const shell: ResourceDescriptor<Shell, typeof ShellService> = serviceType({
  api: 'core:service:shell',
  service: ShellService,
  nameFields: ['name', 'metadata.name'],
});

/** A device with discrete positions, counted from 0. */
export type Switch = ServiceResource<typeof SwitchService>;

export const switchType: ResourceDescriptor<Switch, typeof SwitchService> = serviceType({
  api: 'core:component:switch',
  service: SwitchService,
});
