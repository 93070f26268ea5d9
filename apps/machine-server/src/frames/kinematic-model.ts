/** Kinematics in the SVA format as the messages that clients since API 0.1.601 read. Pure. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Point, pointOf, readFrame } from '@platform/machine-config/frame';
import type { JsonObject } from '@platform/machine-config/schema';
import {
  type GetKinematicsResponseSchema,
  JointType,
  type KinematicJointSchema,
  type KinematicLinkSchema,
  type KinematicModelSchema,
  KinematicsFileFormat,
} from '@platform/proto/platform/common/v1/common';

/** The answer of GetKinematics: for older clients as a file, too. @param name of the resource */
export function svaAnswer(kinematics: JsonObject, name: string): MessageInitShape<typeof GetKinematicsResponseSchema> {
  return {
    format: KinematicsFileFormat.SVA,
    kinematicsData: new TextEncoder().encode(JSON.stringify(kinematics)),
    model: kinematicModel(kinematics, name),
  };
}

/** @param kinematics a chain that `readChain` accepts @param name of the resource */
export function kinematicModel(kinematics: JsonObject, name: string): MessageInitShape<typeof KinematicModelSchema> {
  const [links, joints] = [elements(kinematics['links']).map(linkOf), elements(kinematics['joints']).map(jointOf)];
  const all = [...links, ...joints];
  const parents = new Set(all.map(({ parent }) => parent));
  return { name, links, joints, outputFrames: all.map(({ id }) => id).filter((id) => !parents.has(id)) };
}

type Element<Init> = Init & { readonly id: string; readonly parent: string };

function linkOf(link: JsonObject): Element<MessageInitShape<typeof KinematicLinkSchema>> {
  const { pose, geometry } = readFrame(link);
  const { x, y, z, ...orientation } = pose;
  return {
    ...idsOf(link),
    pose: { translation: { x, y, z }, orientation: { case: 'orientationVector', value: orientation } },
    ...(geometry && { collision: [geometry] }),
  };
}

function jointOf(joint: JsonObject): Element<MessageInitShape<typeof KinematicJointSchema>> {
  const { type, min, max } = joint;
  const limits = { ...(typeof min === 'number' && { min }), ...(typeof max === 'number' && { max }) };
  return {
    ...idsOf(joint),
    type: type === 'prismatic' ? JointType.PRISMATIC : JointType.REVOLUTE,
    axis: pointOf(joint['axis']) as Point,
    ...(Object.keys(limits).length > 0 && { limits }),
  };
}

/** The first element of a chain has the parent `world`, which is empty in messages. */
function idsOf({ id, parent }: JsonObject): { id: string; parent: string } {
  return { id: String(id), parent: parent === 'world' ? '' : String(parent) };
}

function elements(value: unknown): JsonObject[] {
  return Array.isArray(value) ? (value as JsonObject[]) : [];
}
