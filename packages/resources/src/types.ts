/** Every resource type: its interface, and its descriptor, which is the only value exported here. */

export { type Sensor, sensor } from './sensor.ts';
export { type Arm, arm } from './types/arm.ts';
export { type AudioIn, audioIn } from './types/audio-in.ts';
export { type AudioOut, audioOut } from './types/audio-out.ts';
export { type Base, base } from './types/base.ts';
export { type BaseRemoteControl, baseRemoteControl } from './types/base-remote-control.ts';
export { type Board, board } from './types/board.ts';
export { type Button, button } from './types/button.ts';
export { type Camera, camera } from './types/camera.ts';
export { type DataManager, dataManager } from './types/data-manager.ts';
export { type Discovery, discovery } from './types/discovery.ts';
export { type Encoder, encoder } from './types/encoder.ts';
export { type Gantry, gantry } from './types/gantry.ts';
export { type GenericComponent, genericComponent } from './types/generic-component.ts';
export { type GenericService, genericService } from './types/generic-service.ts';
export { type Gripper, gripper } from './types/gripper.ts';
export { type InputController, inputController } from './types/input-controller.ts';
export { type Motion, motion } from './types/motion.ts';
export { type Motor, motor } from './types/motor.ts';
export { type MovementSensor, movementSensor } from './types/movement-sensor.ts';
export { type Navigation, navigation } from './types/navigation.ts';
export { type PowerSensor, powerSensor } from './types/power-sensor.ts';
export { type Servo, servo } from './types/servo.ts';
export { type Shell, shell } from './types/shell.ts';
export { type Switch, switchType } from './types/switch.ts';
export { type Vision, vision } from './types/vision.ts';
