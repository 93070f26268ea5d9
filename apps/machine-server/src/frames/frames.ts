/** The frame system: the poses of the components, from their frames in the configuration and their current motion. */
import { create, type JsonObject, type MessageInitShape } from '@bufbuild/protobuf';
import { asPlatformError, failedPrecondition, invalidArgument, type Log, unavailable } from '@platform/base';
import { readFrame } from '@platform/machine-config/frame';
import type { ResourceConfig } from '@platform/machine-config/schema';
import {
  type GeometrySchema,
  type PoseInFrame,
  PoseSchema,
  type Transform,
} from '@platform/proto/platform/common/v1/common';
import { type Document, formatResourceName, type Resource, type ResourceCall } from '@platform/resources';
import type { Graph } from '../graph/graph.ts';
import type { TypeTable } from '../modules/type-table.ts';
import { createFrameTree, type Frame, type FrameTree, world } from './frame-tree.ts';
import { type Chain, readChain } from './kinematics.ts';
import { compose, identity, invert, type PoseFields, poseFields, type RigidPose, rigidPose } from './pose.ts';

export interface Frames {
  /** Every frame that reaches `world`, parents first. @param more frames in addition to those of the configuration */
  list(more: readonly Transform[], call: ResourceCall): Promise<readonly ListedFrame[]>;
  /**
   * The current pose of one frame in another.
   *
   * @param from empty: `world`
   * @throws not_found for an unknown frame, failed_precondition for one that does not reach `world`, unavailable if a component between
   * the two does not report its position
   */
  between(from: string, to: string, more: readonly Transform[], call: ResourceCall): Promise<RigidPose>;
  /** The pose of a component in `world`, in the captured form. Throws as `between`. */
  worldPose(name: string): Promise<Document>;
  /** Logs the problems of the frames in the configuration. */
  check(): void;
}

export interface ListedFrame {
  readonly name: string;
  readonly parent: string;
  readonly pose: PoseFields;
  readonly geometry: MessageInitShape<typeof GeometrySchema> | undefined;
  /** Empty if nothing moves there, or its model does not report how. */
  readonly kinematics: JsonObject;
}

interface OwnFrame extends Frame {
  readonly pose: PoseFields;
  readonly geometry: MessageInitShape<typeof GeometrySchema> | undefined;
  /** The full name of its component; undefined for a frame that a caller added. */
  readonly component: string | undefined;
}

interface Kinematics {
  readonly json: JsonObject;
  readonly chain: Chain;
}

export interface FramesDeps {
  readonly graph: Pick<Graph, 'configuration' | 'get'>;
  readonly types: Pick<TypeTable, 'of'>;
  readonly log: Log;
}

export function createFrames({ graph, types, log }: FramesDeps): Frames {
  /** By running resource; undefined if its model has none. */
  const known = new WeakMap<Resource, Promise<Kinematics | undefined>>();
  let latest: { readonly of: readonly ResourceConfig[]; readonly tree: FrameTree<OwnFrame> } | undefined;

  const tree = (more: readonly Transform[]): FrameTree<OwnFrame> => {
    const { configuration } = graph;
    if (latest?.of !== configuration) {
      latest = { of: configuration, tree: createFrameTree(configuration.flatMap(frameOf)) };
      for (const problem of latest.tree.problems) log.warn(problem);
    }
    return more.length === 0
      ? latest.tree
      : createFrameTree([...configuration.flatMap(frameOf), ...more.map(addedFrame)]);
  };
  const motionOf = (frame: OwnFrame) => {
    const resource = frame.component === undefined ? undefined : graph.get(frame.component);
    const type = types.of(frame.component?.split('/')[0] ?? '');
    return resource === undefined || type?.motion === undefined ? undefined : { resource, motion: type.motion };
  };
  const kinematicsOf = (
    resource: Resource,
    type: NonNullable<ReturnType<typeof motionOf>>['motion'],
    call: ResourceCall,
  ) => {
    const found = known.get(resource) ?? readKinematics(type.kinematics(resource, call));
    known.set(resource, found);
    found.catch(() => known.delete(resource));
    return found;
  };
  /** The current pose of the moving end in a frame. */
  const endOf = async (frame: OwnFrame, call: ResourceCall): Promise<RigidPose> => {
    const moving = motionOf(frame);
    if (moving === undefined) {
      const type = types.of(frame.component?.split('/')[0] ?? '');
      if (type?.motion !== undefined)
        throw unavailable(`${frame.component} is not running, so the position of its end is unknown`);
      return identity;
    }
    const { resource, motion } = moving;
    const kinematics = await kinematicsOf(resource, motion, call);
    if (kinematics !== undefined) return kinematics.chain.poseAt(await motion.joints(resource, call));
    const end = await motion.end?.(resource, call);
    return end === undefined ? identity : rigidPose({ ...create(PoseSchema), ...end });
  };
  const inWorld = async (name: string, all: FrameTree<OwnFrame>, call: ResourceCall): Promise<RigidPose> => {
    const path = all.path(name || world);
    const steps = await Promise.all(
      path.map(async ({ frame, atOrigin }) =>
        atOrigin ? frame.offset : compose(frame.offset, await endOf(frame, call)),
      ),
    );
    return steps.reduce(compose, identity);
  };
  const between: Frames['between'] = async (from, to, more, call) => {
    const all = tree(more);
    const [source, destination] = await Promise.all([inWorld(from, all, call), inWorld(to, all, call)]);
    return compose(invert(destination), source);
  };
  return {
    between,
    check: () => void tree([]),
    async worldPose(name) {
      if (!graph.configuration.some((config) => config.name === name && config.frame !== undefined))
        throw failedPrecondition(`"${name}" has no frame in the configuration: add "frame": {"parent": "world"} to it`);
      // The collector has its own time limit.
      const { signal } = new AbortController();
      const { oX: o_x, oY: o_y, oZ: o_z, ...rest } = poseFields(await between(name, world, [], { signal }));
      return { ...rest, o_x, o_y, o_z };
    },
    list: (more, call) =>
      Promise.all(
        tree(more).frames.map(async (frame) => {
          const moving = motionOf(frame);
          const kinematics =
            moving && (await kinematicsOf(moving.resource, moving.motion, call).catch(() => undefined));
          const { name, parent, pose, geometry } = frame;
          return { name, parent, pose, geometry, kinematics: kinematics?.json ?? {} };
        }),
      ),
  };
}

/** Undefined if the model has no kinematics, or none in a known format. */
async function readKinematics(answer: Promise<Uint8Array | undefined>): Promise<Kinematics | undefined> {
  try {
    const data = await answer;
    if (data === undefined) return undefined;
    const json = JSON.parse(new TextDecoder().decode(data)) as JsonObject;
    return { json, chain: readChain(json) };
  } catch (caught) {
    const error = asPlatformError(caught);
    if (error.code === 'unimplemented') return undefined;
    throw error;
  }
}

function frameOf(config: ResourceConfig): OwnFrame[] {
  if (config.frame === undefined) return [];
  const { parent, pose, geometry } = readFrame(config.frame);
  return [
    { name: config.name, parent, pose, geometry, offset: rigidPose(pose), component: formatResourceName(config) },
  ];
}

function addedFrame({ referenceFrame: name, poseInObserverFrame, physicalObject }: Transform): OwnFrame {
  if (name === '' || poseInObserverFrame?.pose === undefined) {
    const text = `supplemental_transforms: expected a reference_frame and a pose_in_observer_frame, found "${name}" ${poseInObserverFrame?.pose === undefined ? 'without a pose' : ''}`;
    throw invalidArgument(text.trim());
  }
  const { pose, referenceFrame: parent } = poseInObserverFrame as PoseInFrame & { pose: PoseFields };
  return {
    name,
    parent: parent || world,
    pose,
    geometry: physicalObject,
    offset: rigidPose(pose),
    component: undefined,
  };
}
