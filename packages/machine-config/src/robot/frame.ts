/** The frame of a component or remote: parent, offset, orientation in any form, and its geometry. */
import type { MessageShape } from '@bufbuild/protobuf';
import type { Problem } from '@platform/base';
import type { FrameSchema } from '@platform/proto/platform/app/v1/robot';
import { formatValue } from '../format-value.ts';
import type { JsonObject } from '../schema.ts';
import { unknownKey } from '../unknown-key.ts';
import { geometryInit, geometryOf } from './geometry.ts';
import { type OrientationCase, orientationInit, orientationOf, orientationTypes } from './orientation.ts';
import { type Point, pointOf } from './point.ts';

type FrameMessage = MessageShape<typeof FrameSchema>;

const keys = new Set(['parent', 'translation', 'orientation', 'geometry']);

export function frameInit(frame: JsonObject, path: string, problems: Problem[]): Record<string, unknown> {
  for (const key of Object.keys(frame)) if (!keys.has(key)) problems.push(unknownKey(`${path}.${key}`, key, [...keys]));
  const init: Record<string, unknown> = {};
  const { parent, translation, orientation, geometry } = frame;
  const wrong = (key: string, expected: string): void => {
    const message = `expected ${expected}, found ${formatValue(frame[key])}`;
    problems.push({ path: `${path}.${key}`, level: 'error', message });
  };
  if (typeof parent === 'string') init['parent'] = parent;
  else if (parent !== undefined && parent !== null) wrong('parent', 'a string');
  const offset = pointOf(translation);
  if (offset !== undefined) init['translation'] = offset;
  else if (translation !== undefined && translation !== null) wrong('translation', 'an object with numbers x, y, z');
  if (orientation !== undefined && orientation !== null) {
    const form = orientationInit((typeof orientation === 'object' ? orientation : { type: '?' }) as JsonObject);
    if (form !== undefined) init['orientation'] = { type: form };
    else wrong('orientation', `{type, value} with numbers, of type ${orientationTypes.join(', ')}`);
  }
  if (geometry !== undefined && geometry !== null) {
    const shape = geometryInit(geometry);
    if (shape !== undefined) init['geometry'] = shape;
    else wrong('geometry', 'a box (x, y, z), sphere (r), capsule (r, l), point or mesh (mesh_data)');
  }
  return init;
}

export function frameOf({ parent, translation, orientation, geometry }: FrameMessage): JsonObject {
  return {
    ...(parent === '' ? {} : { parent }),
    ...(translation === undefined ? {} : { translation: { ...(pointOf(translation) as Point) } }),
    ...(orientation === undefined ? {} : { orientation: formOf(orientation.type) }),
    ...(geometry === undefined ? {} : { geometry: geometryOf(geometry) }),
  };
}

function formOf(type: { case: string | undefined; value?: unknown }): JsonObject {
  if (type.case === undefined) return { type: '' };
  return orientationOf({ case: type.case, value: type.value as OrientationCase['value'] });
}
