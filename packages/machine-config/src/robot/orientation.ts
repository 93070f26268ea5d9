/**
 * Orientations in a document: `{type, value}`. The message keeps each form as it is. The pose of a geometry has only one form, the
 * orientation vector in degrees: the direction of the z axis, and a rotation about it (rotations z, y, z).
 */
import type { Json, JsonObject } from '../schema.ts';

type Values = Readonly<Record<string, number>>;
interface Form {
  /** The oneof case in the message. */
  readonly case: string;
  /** Key of the document → field of the message. */
  readonly fields: Readonly<Record<string, string>>;
}

const vector = { x: 'x', y: 'y', z: 'z', th: 'theta' };
const forms: Readonly<Record<string, Form>> = {
  '': { case: 'noOrientation', fields: {} },
  ov_radians: { case: 'vectorRadians', fields: vector },
  ov_degrees: { case: 'vectorDegrees', fields: vector },
  euler_angles: { case: 'eulerAngles', fields: { roll: 'roll', pitch: 'pitch', yaw: 'yaw' } },
  axis_angles: { case: 'axisAngles', fields: vector },
  quaternion: { case: 'quaternion', fields: { w: 'w', x: 'x', y: 'y', z: 'z' } },
};

export const orientationTypes: readonly string[] = Object.keys(forms).filter((name) => name !== '');

export interface OrientationCase {
  readonly case: string;
  readonly value: Values;
}

/** Undefined if it is not an orientation of a known type with numbers. */
export function orientationInit(orientation: JsonObject): OrientationCase | undefined {
  const form = forms[String(orientation['type'] ?? '')];
  if (form === undefined) return undefined;
  const given = (orientation['value'] ?? {}) as JsonObject;
  const value: Record<string, number> = {};
  for (const [key, field] of Object.entries(form.fields)) {
    const number = given[key] ?? given[key.toUpperCase()] ?? 0;
    if (typeof number !== 'number') return undefined;
    value[field] = number;
  }
  return { case: form.case, value };
}

export function orientationOf({ case: name, value }: OrientationCase): JsonObject {
  const [type, form] = Object.entries(forms).find(([, each]) => each.case === name) ?? ['', undefined];
  if (form === undefined || type === '') return { type };
  const values: Record<string, Json> = {};
  for (const [key, field] of Object.entries(form.fields)) values[key] = value[field] ?? 0;
  return { type, value: values };
}

export interface OrientationVector {
  readonly oX: number;
  readonly oY: number;
  readonly oZ: number;
  /** Degrees. */
  readonly theta: number;
}

const degrees = 180 / Math.PI;

/** Converts any form to an orientation vector in degrees. */
export function orientationVectorOf(orientation: OrientationCase | undefined): OrientationVector {
  const { x = 0, y = 0, z = 0, theta = 0 } = orientation?.value ?? {};
  if (orientation?.case === 'vectorDegrees') return { oX: x, oY: y, oZ: z, theta };
  if (orientation?.case === 'vectorRadians') return { oX: x, oY: y, oZ: z, theta: theta * degrees };
  const q = quaternionOf(orientation);
  const zz = 1 - 2 * (q.x ** 2 + q.y ** 2);
  // At a pole the two rotations about z coincide: theta gets both.
  if (1 - Math.abs(zz) < 1e-9) {
    const yx = 2 * (q.x * q.y + q.w * q.z);
    const diagonal = zz > 0 ? 1 - 2 * (q.y ** 2 + q.z ** 2) : 1 - 2 * (q.x ** 2 + q.z ** 2);
    return { oX: 0, oY: 0, oZ: Math.sign(zz), theta: Math.atan2(yx, diagonal) * degrees };
  }
  return {
    oX: 2 * (q.x * q.z + q.w * q.y),
    oY: 2 * (q.y * q.z - q.w * q.x),
    oZ: zz,
    theta: Math.atan2(2 * (q.y * q.z + q.w * q.x), -2 * (q.x * q.z - q.w * q.y)) * degrees,
  };
}

interface Quaternion {
  readonly w: number;
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

function quaternionOf(orientation: OrientationCase | undefined): Quaternion {
  const { w = 0, x = 0, y = 0, z = 0, theta = 0, roll = 0, pitch = 0, yaw = 0 } = orientation?.value ?? {};
  switch (orientation?.case) {
    case 'quaternion':
      return unit({ w, x, y, z });
    case 'axisAngles': {
      const length = Math.hypot(x, y, z);
      const s = length === 0 ? 0 : Math.sin(theta / 2) / length;
      return unit({ w: length === 0 ? 1 : Math.cos(theta / 2), x: x * s, y: y * s, z: z * s });
    }
    case 'eulerAngles': {
      const [cr, sr] = [Math.cos(roll / 2), Math.sin(roll / 2)];
      const [cp, sp] = [Math.cos(pitch / 2), Math.sin(pitch / 2)];
      const [cy, sy] = [Math.cos(yaw / 2), Math.sin(yaw / 2)];
      return {
        w: cr * cp * cy + sr * sp * sy,
        x: sr * cp * cy - cr * sp * sy,
        y: cr * sp * cy + sr * cp * sy,
        z: cr * cp * sy - sr * sp * cy,
      };
    }
    default:
      return { w: 1, x: 0, y: 0, z: 0 };
  }
}

function unit({ w, x, y, z }: Quaternion): Quaternion {
  const length = Math.hypot(w, x, y, z);
  return length === 0 ? { w: 1, x: 0, y: 0, z: 0 } : { w: w / length, x: x / length, y: y / length, z: z / length };
}
