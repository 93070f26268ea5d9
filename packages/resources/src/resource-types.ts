import type { ResourceDescriptor } from './resource-descriptor.ts';
import { sensor } from './sensor.ts';
import { arm } from './types/arm.ts';
import { audioIn } from './types/audio-in.ts';
import { audioOut } from './types/audio-out.ts';
import { base } from './types/base.ts';
import { baseRemoteControl } from './types/base-remote-control.ts';
import { board } from './types/board.ts';
import { button } from './types/button.ts';
import { camera } from './types/camera.ts';
import { discovery } from './types/discovery.ts';
import { encoder } from './types/encoder.ts';
import { gantry } from './types/gantry.ts';
import { genericComponent } from './types/generic-component.ts';
import { genericService } from './types/generic-service.ts';
import { gripper } from './types/gripper.ts';
import { inputController } from './types/input-controller.ts';
import { motion } from './types/motion.ts';
import { motor } from './types/motor.ts';
import { movementSensor } from './types/movement-sensor.ts';
import { navigation } from './types/navigation.ts';
import { powerSensor } from './types/power-sensor.ts';
import { servo } from './types/servo.ts';
import { shell } from './types/shell.ts';
import { switchType } from './types/switch.ts';
import { vision } from './types/vision.ts';

/** Every type that this version knows. */
export const resourceTypes: readonly ResourceDescriptor[] = [
  arm,
  audioIn,
  audioOut,
  base,
  baseRemoteControl,
  board,
  button,
  camera,
  discovery,
  encoder,
  gantry,
  genericComponent,
  genericService,
  gripper,
  inputController,
  motion,
  motor,
  movementSensor,
  navigation,
  powerSensor,
  sensor,
  servo,
  shell,
  switchType,
  vision,
];
