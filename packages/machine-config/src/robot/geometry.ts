/** Geometries in a document (`type`, sizes in mm, offset) and in the message (shape and the pose of its centre). */
import type { Geometry } from '@platform/proto/platform/common/v1/common';
import type { Json, JsonObject } from '../schema.ts';
import { orientationInit, orientationOf, orientationVectorOf } from './orientation.ts';
import { pointOf } from './point.ts';

type Init = Record<string, unknown>;

/** Undefined if it is not a geometry. Without `type` the sizes decide: box, capsule, otherwise sphere. */
export function geometryInit(geometry: Json): Init | undefined {
  if (typeof geometry !== 'object' || geometry === null || Array.isArray(geometry)) return undefined;
  const { type, r = 0, l = 0, translation = {}, orientation, label = '', ...rest } = geometry as JsonObject;
  const sizes = pointOf(geometry);
  const offset = pointOf(translation);
  if (sizes === undefined || offset === undefined || typeof r !== 'number' || typeof l !== 'number') return undefined;
  const form =
    orientation === undefined || orientation === null ? undefined : orientationInit(orientation as JsonObject);
  if (orientation !== undefined && orientation !== null && form === undefined) return undefined;
  const shape = shapeOf(String(type ?? ''), sizes, r, l, rest);
  if (shape === undefined) return undefined;
  return { center: { ...offset, ...orientationVectorOf(form) }, geometryType: shape, label: String(label) };
}

function shapeOf(
  type: string,
  sizes: { x: number; y: number; z: number },
  r: number,
  l: number,
  rest: JsonObject,
): Init | undefined {
  const usual = sizes.x || sizes.y || sizes.z ? 'box' : l ? 'capsule' : r ? 'sphere' : '';
  switch (type === '' ? usual : type) {
    case 'box':
      return { case: 'box', value: { dimsMm: sizes } };
    case 'sphere':
      return { case: 'sphere', value: { radiusMm: r } };
    case 'point':
      return { case: 'sphere', value: { radiusMm: 0 } };
    case 'capsule':
      return { case: 'capsule', value: { radiusMm: r, lengthMm: l } };
    case 'mesh':
      return {
        case: 'mesh',
        value: {
          contentType: String(rest['mesh_content_type'] ?? ''),
          mesh: new Uint8Array(Buffer.from(String(rest['mesh_data'] ?? ''), 'base64')),
        },
      };
    default:
      return undefined;
  }
}

export function geometryOf({ center, geometryType: shape, label }: Geometry): JsonObject {
  const { x = 0, y = 0, z = 0, oX = 0, oY = 0, oZ = 0, theta = 0 } = center ?? {};
  const turned = theta !== 0 || oX !== 0 || oY !== 0 || (oZ !== 1 && oZ !== 0);
  return {
    ...sizesOf(shape),
    ...(x === 0 && y === 0 && z === 0 ? {} : { translation: { x, y, z } }),
    ...(turned ? { orientation: orientationOf({ case: 'vectorDegrees', value: { x: oX, y: oY, z: oZ, theta } }) } : {}),
    ...(label === '' ? {} : { label }),
  };
}

function sizesOf(shape: Geometry['geometryType']): JsonObject {
  switch (shape.case) {
    case 'box': {
      const { x = 0, y = 0, z = 0 } = shape.value.dimsMm ?? {};
      return { type: 'box', x, y, z };
    }
    case 'sphere':
      return shape.value.radiusMm === 0 ? { type: 'point' } : { type: 'sphere', r: shape.value.radiusMm };
    case 'capsule':
      return { type: 'capsule', r: shape.value.radiusMm, l: shape.value.lengthMm };
    case 'mesh':
      return {
        type: 'mesh',
        mesh_data: Buffer.from(shape.value.mesh).toString('base64'),
        ...(shape.value.contentType === '' ? {} : { mesh_content_type: shape.value.contentType }),
      };
    default:
      return {};
  }
}
