/** Kinematics in messages (API 0.1.601) as a file in the SVA format, which the frame system reads. Pure. */
import type { JsonObject } from '@bufbuild/protobuf';
import { JointType, type KinematicModel, type LinkPose } from '@platform/proto/platform/common/v1/common';

const radians = Math.PI / 180;

/** @returns undefined for joints that follow others, which the format does not have */
export function svaOfModel({ name, links, joints }: KinematicModel): JsonObject | undefined {
  if (joints.some(({ mimic }) => mimic !== undefined)) return undefined;
  return {
    ...{ name, kinematic_param_type: 'SVA' },
    links: links.map(({ id, parent, pose }) => ({
      ...{ id, parent: parent || 'world', translation: pointOf(pose?.translation) },
      ...orientationOf(pose?.orientation),
    })),
    joints: joints.map(({ id, parent, type, axis, limits: { min, max } = {} }) => ({
      ...{ id, parent: parent || 'world', type: type === JointType.PRISMATIC ? 'prismatic' : 'revolute' },
      axis: pointOf(axis),
      ...(min !== undefined && { min }),
      ...(max !== undefined && { max }),
    })),
  };
}

function pointOf({ x, y, z } = { x: 0, y: 0, z: 0 }): JsonObject {
  return { x, y, z };
}

/** Messages have degrees; of these forms, only the orientation vector has degrees in a file. */
function orientationOf(orientation: LinkPose['orientation'] = { case: undefined }): JsonObject {
  switch (orientation.case) {
    case undefined:
      return {};
    case 'orientationVector': {
      const { oX: x, oY: y, oZ: z, theta: th } = orientation.value;
      return { orientation: { type: 'ov_degrees', value: { x, y, z, th } } };
    }
    case 'quaternion': {
      const { w, x, y, z } = orientation.value;
      return { orientation: { type: 'quaternion', value: { w, x, y, z } } };
    }
    case 'eulerAngles': {
      const { roll, pitch, yaw } = orientation.value;
      const value = { roll: roll * radians, pitch: pitch * radians, yaw: yaw * radians };
      return { orientation: { type: 'euler_angles', value } };
    }
    case 'axisAngles': {
      const { rx: x, ry: y, rz: z, theta } = orientation.value;
      return { orientation: { type: 'axis_angles', value: { x, y, z, th: theta * radians } } };
    }
  }
}
