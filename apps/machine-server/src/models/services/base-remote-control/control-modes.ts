/** Converts the controls of an input controller to the motion of a base. */
import type { Event } from '@platform/proto/platform/component/inputcontroller/v1/input_controller';

/** Shares of the maximum speed, from −1 to 1: to the right, forwards and up; and the turn to the left. */
export interface Throttle {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly turn: number;
}

export const standing: Throttle = { x: 0, y: 0, z: 0, turn: 0 };

/** The last value of each control; 0 before its first event. */
export class Controls {
  readonly #values = new Map<string, number>();

  get(control: string): number {
    return this.#values.get(control) ?? 0;
  }

  set(control: string, value: number): void {
    this.#values.set(control, value);
  }
}

type ControlEvent = Pick<Event, 'control' | 'event' | 'value'>;

export interface ControlMode {
  /** The controls that it uses. */
  readonly controls: readonly string[];
  /** Kinds of their events. */
  readonly events: readonly string[];
  /** Records an event. */
  readonly note: (controls: Controls, event: ControlEvent) => void;
  readonly throttle: (controls: Controls) => Throttle;
}

const within = (value: number): number => Math.max(-1, Math.min(1, value));
/** Sticks do not rest exactly in the middle; outside this range, there are steps of a tenth. */
const stick = (value: number): number =>
  Math.abs(value) <= 0.27 ? 0 : within((Math.sign(value) * Math.ceil(Math.abs(value) * 10)) / 10);

const positions = ['PositionChangeAbs'];
const noteValue = (controls: Controls, { control, value }: ControlEvent): void => controls.set(control, value);

/** How much a pull of a trigger changes the speed. */
const triggerStep = 0.05;

export const controlModes: Readonly<Record<string, ControlMode>> = {
  arrowControl: {
    controls: ['AbsoluteHat0X', 'AbsoluteHat0Y'],
    events: positions,
    note: noteValue,
    throttle: (of) => ({
      ...standing,
      y: within(-of.get('AbsoluteHat0Y')),
      turn: within(-of.get('AbsoluteHat0X')),
    }),
  },
  joystickControl: {
    controls: ['AbsoluteX', 'AbsoluteY'],
    events: positions,
    note: noteValue,
    throttle: (of) => ({ ...standing, y: stick(-of.get('AbsoluteY')), turn: stick(-of.get('AbsoluteX')) }),
  },
  /** Each event of a trigger makes it slower (left) or faster (right). */
  triggerSpeedControl: {
    controls: ['AbsoluteX', 'AbsoluteZ', 'AbsoluteRZ'],
    events: positions,
    note: (controls, event) => {
      const step = event.control === 'AbsoluteZ' ? -triggerStep : triggerStep;
      if (event.control === 'AbsoluteX') noteValue(controls, event);
      else controls.set('speed', within(controls.get('speed') + step));
    },
    throttle: (of) => ({ ...standing, y: of.get('speed'), turn: within(of.get('AbsoluteX')) }),
  },
  /** Two opposite buttons cancel each other out. */
  buttonControl: {
    controls: ['ButtonNorth', 'ButtonSouth', 'ButtonEast', 'ButtonWest'],
    events: ['ButtonPress', 'ButtonRelease'],
    note: (controls, { control, event }) => controls.set(control, event === 'ButtonPress' ? 1 : 0),
    throttle: (of) => ({
      ...standing,
      y: of.get('ButtonNorth') - of.get('ButtonSouth'),
      turn: of.get('ButtonWest') - of.get('ButtonEast'),
    }),
  },
  droneControl: {
    controls: ['AbsoluteX', 'AbsoluteY', 'AbsoluteRX', 'AbsoluteRY'],
    events: positions,
    note: noteValue,
    throttle: (of) => ({
      x: stick(of.get('AbsoluteRX')),
      y: stick(-of.get('AbsoluteRY')),
      z: stick(-of.get('AbsoluteY')),
      turn: stick(-of.get('AbsoluteX')),
    }),
  },
};
