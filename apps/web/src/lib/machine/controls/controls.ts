/** The controls of a component type; loaded when a card shows them. Types without an entry have only readings or `DoCommand`. */
import type { Component } from 'svelte';

export type Answer = Readonly<Record<string, unknown>>;

export interface ControlProps {
  /** For labels. */
  readonly name: string;
  /** Such as `motor`. */
  readonly type: string;
  /**
   * Calls a method of the component; undefined: it failed, and the card shows why. What it moves stops when this tab no longer reaches the
   * machine. @param held aborts when the movement is no longer wanted: then it is not sent
   */
  readonly act: (method: string, fields?: object, held?: AbortSignal) => Promise<Answer | undefined>;
  /** Stops the component; sent even while the page closes, and again until the machine has answered. */
  readonly stop: () => Promise<Answer | undefined>;
}

type Loader = () => Promise<{ readonly default: Component<ControlProps> }>;

export const controls: Readonly<Record<string, Loader>> = {
  arm: () => import('./Joints.svelte'),
  base: () => import('./BasePad.svelte'),
  button: () => import('./PushButton.svelte'),
  camera: () => import('./CameraImages.svelte'),
  encoder: () => import('./Position.svelte'),
  gantry: () => import('./Joints.svelte'),
  gripper: () => import('./Gripper.svelte'),
  motor: () => import('./Motor.svelte'),
  servo: () => import('./Servo.svelte'),
  switch: () => import('./SwitchPositions.svelte'),
};

/** Component types that move while a button is held. */
export const heldTypes: ReadonlySet<string> = new Set(['base', 'motor']);
