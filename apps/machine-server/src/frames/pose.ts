/** Poses in space: a point in mm and a rotation as a unit quaternion. Pure. */
import { orientationVectorOf, type Point } from '@platform/machine-config/frame';
import type { Pose } from '@platform/proto/platform/common/v1/common';

export interface Quaternion extends Point {
  readonly w: number;
}

/** Maps points of a frame to points of the frame that contains it. */
export interface RigidPose {
  readonly point: Point;
  readonly rotation: Quaternion;
}

/** A pose in the form of messages: mm, the direction of the z axis, and a rotation about that in degrees. */
export type PoseFields = Pick<Pose, 'x' | 'y' | 'z' | 'oX' | 'oY' | 'oZ' | 'theta'>;

export const identity: RigidPose = { point: { x: 0, y: 0, z: 0 }, rotation: { w: 1, x: 0, y: 0, z: 0 } };

const degrees = 180 / Math.PI;
/** Closer than this to the z axis, a direction counts as being on it. */
const pole = 1e-9;

/** The pose of `inner` in the frame in which `outer` is placed. */
export function compose(outer: RigidPose, inner: RigidPose): RigidPose {
  const moved = rotate(outer.rotation, inner.point);
  return {
    point: { x: outer.point.x + moved.x, y: outer.point.y + moved.y, z: outer.point.z + moved.z },
    rotation: multiply(outer.rotation, inner.rotation),
  };
}

export function invert({ point, rotation }: RigidPose): RigidPose {
  const { w, x, y, z } = rotation;
  const back = { w, x: -x, y: -y, z: -z };
  const moved = rotate(back, point);
  return { point: { x: -moved.x, y: -moved.y, z: -moved.z }, rotation: back };
}

export function placed({ point, rotation }: RigidPose, { x, y, z }: Point): Point {
  const moved = rotate(rotation, { x, y, z });
  return { x: point.x + moved.x, y: point.y + moved.y, z: point.z + moved.z };
}

/** @param angle in radians, about `axis` of any length other than 0 */
export function turn(axis: Point, angle: number): Quaternion {
  const scale = Math.sin(angle / 2) / (Math.hypot(axis.x, axis.y, axis.z) || 1);
  return { w: Math.cos(angle / 2), x: axis.x * scale, y: axis.y * scale, z: axis.z * scale };
}

/** An orientation without a direction points along z. */
export function rigidPose({ x, y, z, oX, oY, oZ, theta }: PoseFields): RigidPose {
  const length = Math.hypot(oX, oY, oZ);
  const [dx, dy, dz] = length === 0 ? [0, 0, 1] : [oX / length, oY / length, oZ / length];
  const longitude = 1 - Math.abs(dz) < pole ? 0 : Math.atan2(dy, dx);
  const latitude = Math.acos(Math.max(-1, Math.min(1, dz)));
  const [zAxis, yAxis] = [
    { x: 0, y: 0, z: 1 },
    { x: 0, y: 1, z: 0 },
  ];
  const tilted = multiply(turn(zAxis, longitude), turn(yAxis, latitude));
  return { point: { x, y, z }, rotation: multiply(tilted, turn(zAxis, theta / degrees)) };
}

export function poseFields({ point, rotation }: RigidPose): PoseFields {
  const { w, x, y, z } = rotation;
  return { ...point, ...orientationVectorOf({ case: 'quaternion', value: { w, x, y, z } }) };
}

function multiply(a: Quaternion, b: Quaternion): Quaternion {
  return {
    w: a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
    x: a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
    y: a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
    z: a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
  };
}

function rotate(q: Quaternion, { x, y, z }: Point): Point {
  const [tx, ty, tz] = [2 * (q.y * z - q.z * y), 2 * (q.z * x - q.x * z), 2 * (q.x * y - q.y * x)];
  return {
    x: x + q.w * tx + q.y * tz - q.z * ty,
    y: y + q.w * ty + q.z * tx - q.x * tz,
    z: z + q.w * tz + q.x * ty - q.y * tx,
  };
}
