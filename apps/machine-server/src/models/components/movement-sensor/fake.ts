/**
 * `core:builtin:fake`: a movement sensor with settable values.
 *
 * Attributes: `latitude` and `longitude` (degrees, default 0), `altitude_m` (default 0), `compass_heading_deg` (default 0),
 * `linear_velocity` (m/s), `angular_velocity` (degrees/s), `linear_acceleration` (m/s²), each `{x, y, z}`, and `orientation`
 * `{o_x, o_y, o_z, theta}`. DoCommand `{"set": {…}}` sets any of them. See fake-model.ts for `errors` and `delays_ms`.
 */
import type { Clock } from '@platform/base';
import type { JsonObject } from '@platform/machine-config/schema';
import { type MovementSensor, movementSensor } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { readAttributes } from '../../attributes.ts';
import { fakeModel } from '../../fake/fake-model.ts';

const number = { kind: 'float', default: 0 } as const;
const vector = { kind: 'object', of: { x: { kind: 'float' }, y: { kind: 'float' }, z: { kind: 'float' } } } as const;
const fields = {
  latitude: { kind: 'float', default: 0, min: -90, max: 90 },
  longitude: { kind: 'float', default: 0, min: -180, max: 180 },
  altitude_m: number,
  compass_heading_deg: { kind: 'float', default: 0, min: 0, max: 360 },
  linear_velocity: vector,
  angular_velocity: vector,
  linear_acceleration: vector,
  orientation: {
    kind: 'object',
    of: { o_x: { kind: 'float' }, o_y: { kind: 'float' }, o_z: { kind: 'float' }, theta: { kind: 'float' } },
  },
} as const;

export const createFakeMovementSensor: (clock: Clock) => Model = fakeModel<MovementSensor, typeof fields>({
  type: movementSensor,
  fields,
  make(start) {
    let values = start;
    const vectorOf = (key: 'linear_velocity' | 'angular_velocity' | 'linear_acceleration') => {
      const { x = 0, y = 0, z = 0 } = (values[key] ?? {}) as Readonly<Record<string, number>>;
      return { x, y, z };
    };
    const orientation = () => {
      const {
        o_x: oX = 0,
        o_y: oY = 0,
        o_z: oZ = 1,
        theta = 0,
      } = (values.orientation ?? {}) as Readonly<Record<string, number>>;
      return { oX, oY, oZ, theta };
    };
    const position = () => ({ latitude: values.latitude, longitude: values.longitude });
    return {
      getPosition: async () => ({ coordinate: position(), altitudeM: values.altitude_m }),
      getLinearVelocity: async () => ({ linearVelocity: vectorOf('linear_velocity') }),
      getAngularVelocity: async () => ({ angularVelocity: vectorOf('angular_velocity') }),
      getLinearAcceleration: async () => ({ linearAcceleration: vectorOf('linear_acceleration') }),
      getCompassHeading: async () => ({ value: values.compass_heading_deg }),
      getOrientation: async () => ({ orientation: orientation() }),
      getProperties: async () => ({
        linearVelocitySupported: true,
        angularVelocitySupported: true,
        orientationSupported: true,
        positionSupported: true,
        compassHeadingSupported: true,
        linearAccelerationSupported: true,
      }),
      getAccuracy: async () => ({
        accuracy: {},
        positionHdop: 1,
        positionVdop: 1,
        positionNmeaGgaFix: 4,
        compassDegreesError: 0,
      }),
      readings: () => ({
        position: position(),
        altitude: values.altitude_m,
        linear_velocity: vectorOf('linear_velocity'),
        angular_velocity: vectorOf('angular_velocity'),
        linear_acceleration: vectorOf('linear_acceleration'),
        compass: values.compass_heading_deg,
        orientation: orientation(),
      }),
      async doCommand(command) {
        const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
        const { set = {} } = command;
        values = readAttributes(fields, { ...given, ...(set as JsonObject) } as JsonObject);
        return command;
      },
    };
  },
});
