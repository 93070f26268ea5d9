/**
 * Kinematics in the SVA format (spatial vector algebra): a chain of links, which are fixed, and joints, which turn or slide. Pure.
 *
 * `{"kinematic_param_type": "SVA", "links": [{"id", "parent", "translation", "orientation"}], "joints": [{"id", "type": "revolute" |
 * "prismatic", "parent", "axis", "min", "max"}]}`; the first element's parent is `world`.
 */
import type { JsonObject } from '@bufbuild/protobuf';
import { invalidArgument, type PlatformError } from '@platform/base';
import { orientationInit, orientationVectorOf, type Point, pointOf } from '@platform/machine-config/frame';
import { compose, identity, type RigidPose, rigidPose, turn } from './pose.ts';

export interface Chain {
  /** How many of its elements are joints. */
  readonly joints: number;
  /**
   * The pose of the chain's end relative to its start.
   *
   * @param positions of the joints, from the start to the end: degrees for those that turn, mm for those that slide
   */
  poseAt(positions: readonly number[]): RigidPose;
}

type Element = Readonly<Record<string, unknown>>;
type Step = { readonly fixed: RigidPose } | { readonly axis: Point; readonly slides: boolean };

/** @throws invalid_argument that says which element is wrong */
export function readChain(kinematics: Element): Chain {
  const format = kinematics['kinematic_param_type'];
  if (format !== 'SVA') throw wrong(`expected "kinematic_param_type" SVA, found ${JSON.stringify(format)}`);
  const links = listOf(kinematics['links']).map((link) => ({ element: link, step: linkStep(link) }));
  const joints = listOf(kinematics['joints']).map((joint) => ({ element: joint, step: jointStep(joint) }));
  const byParent = new Map([...links, ...joints].map((each) => [String(each.element['parent']), each]));
  const steps: Step[] = [];
  for (let at = byParent.get('world'); at !== undefined; at = byParent.get(String(at.element['id']))) {
    steps.push(at.step);
    byParent.delete(String(at.element['parent']));
  }
  if (byParent.size > 0)
    throw wrong(`expected one chain from world, found elements outside it: ${[...byParent.keys()].join(', ')}`);
  return { joints: joints.length, poseAt: (positions) => poseAlong(steps, positions) };
}

function poseAlong(steps: readonly Step[], positions: readonly number[]): RigidPose {
  let pose = identity;
  let next = 0;
  for (const step of steps) {
    if ('fixed' in step) {
      pose = compose(pose, step.fixed);
      continue;
    }
    const { axis, slides } = step;
    const position = positions[next++] ?? 0;
    const by: RigidPose = slides
      ? { ...identity, point: { x: axis.x * position, y: axis.y * position, z: axis.z * position } }
      : { ...identity, rotation: turn(axis, (position * Math.PI) / 180) };
    pose = compose(pose, by);
  }
  return pose;
}

function linkStep(link: Element): Step {
  const offset = pointOf(link['translation'] ?? {});
  const form = orientationInit((link['orientation'] ?? {}) as JsonObject);
  if (offset === undefined || form === undefined)
    throw wrong(`link ${JSON.stringify(link['id'])}: expected a translation and an orientation with numbers`);
  return { fixed: rigidPose({ ...offset, ...orientationVectorOf(form) }) };
}

function jointStep(joint: Element): Step {
  const { id, type } = joint;
  const axis = pointOf(joint['axis']);
  if (axis === undefined || Math.hypot(axis.x, axis.y, axis.z) === 0)
    throw wrong(
      `joint ${JSON.stringify(id)}: expected an axis with numbers x, y, z, found ${JSON.stringify(joint['axis'])}`,
    );
  if (type !== 'revolute' && type !== 'prismatic')
    throw wrong(`joint ${JSON.stringify(id)}: expected a type revolute or prismatic, found ${JSON.stringify(type)}`);
  return { axis, slides: type === 'prismatic' };
}

function listOf(value: unknown): Element[] {
  return Array.isArray(value) ? (value as Element[]) : [];
}

function wrong(message: string): PlatformError {
  return invalidArgument(`kinematics: ${message}`);
}
