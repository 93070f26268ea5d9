/** Reads the frame of a component: where it is attached, its pose there, and its geometry. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Problem } from '@platform/base';
import type { GeometrySchema } from '@platform/proto/platform/common/v1/common';
import { frameInit } from './robot/frame.ts';
import { type OrientationCase, type OrientationVector, orientationVectorOf } from './robot/orientation.ts';
import type { Point } from './robot/point.ts';
import type { JsonObject } from './schema.ts';

export {
  type OrientationCase,
  type OrientationVector,
  orientationInit,
  orientationVectorOf,
} from './robot/orientation.ts';
export { type Point, pointOf } from './robot/point.ts';

export interface ReadFrame {
  /** The frame to which it is attached; `world` if the configuration names none. */
  readonly parent: string;
  /** In mm, with its orientation as a vector in degrees. */
  readonly pose: Point & OrientationVector;
  readonly geometry: MessageInitShape<typeof GeometrySchema> | undefined;
}

/** @param frame as in the configuration. Parsing has reported invalid parts; here they count as absent. */
export function readFrame(frame: JsonObject): ReadFrame {
  const ignored: Problem[] = [];
  const init = frameInit(frame, '', ignored) as {
    readonly parent?: string;
    readonly translation?: Point;
    readonly orientation?: { readonly type: OrientationCase };
    readonly geometry?: MessageInitShape<typeof GeometrySchema>;
  };
  const { x, y, z } = init.translation ?? { x: 0, y: 0, z: 0 };
  return {
    parent: init.parent || 'world',
    pose: { x, y, z, ...orientationVectorOf(init.orientation?.type) },
    geometry: init.geometry,
  };
}
