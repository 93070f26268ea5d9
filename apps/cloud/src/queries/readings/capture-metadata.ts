/** The metadata of readings, without duplicates within an answer. */
import { create, fromJson } from '@bufbuild/protobuf';
import { type Any, AnySchema, anyPack, ValueSchema } from '@bufbuild/protobuf/wkt';
import { type CaptureMetadata, CaptureMetadataSchema } from '@platform/proto/platform/app/data/v1/data';
import { Binary, BsonDocument, type BsonValue } from '@platform/query';
import { jsonOfBson } from './json-of-bson.ts';
import { documentOf, tagsOf, textOf } from './reading.ts';
import type { FleetNames } from './reading-conditions.ts';

export interface SharedMetadata {
  readonly list: readonly CaptureMetadata[];
  /** The index of the row's metadata in the list. */
  indexOf(row: BsonDocument): number;
}

export function createSharedMetadata(names: FleetNames): SharedMetadata {
  const list: CaptureMetadata[] = [];
  const indexes = new Map<string, number>();
  return {
    list,
    indexOf(row) {
      const texts = pathColumns.map((column) => textOf(row, column));
      const parameters = documentOf(row, 'additional_parameters');
      const key = JSON.stringify([texts, tagsOf(row), jsonOfBson(parameters, 'text')]);
      let index = indexes.get(key);
      if (index === undefined) {
        index = list.push(metadataOf(row, parameters, names)) - 1;
        indexes.set(key, index);
      }
      return index;
    },
  };
}

const pathColumns = [
  'organization_id',
  'location_id',
  'robot_id',
  'part_id',
  'component_type',
  'component_name',
  'method_name',
];

function metadataOf(row: BsonDocument, parameters: BsonDocument, names: FleetNames): CaptureMetadata {
  const robotId = textOf(row, 'robot_id');
  const partId = textOf(row, 'part_id');
  return create(CaptureMetadataSchema, {
    organizationId: textOf(row, 'organization_id'),
    locationId: textOf(row, 'location_id'),
    robotName: names.machineName(robotId),
    robotId,
    partName: names.partName(partId),
    partId,
    componentType: textOf(row, 'component_type'),
    componentName: textOf(row, 'component_name'),
    methodName: textOf(row, 'method_name'),
    methodParameters: Object.fromEntries([...parameters].map(([name, value]) => [name, anyOf(value)])),
    tags: tagsOf(row),
  });
}

/** A value that arrived as an unknown type is returned unchanged; all others become a google.protobuf.Value. */
function anyOf(value: BsonValue): Any {
  if (value instanceof BsonDocument && value.size === 2) {
    const [typeUrl, bytes] = [value.get('@type'), value.get('value')];
    if (typeof typeUrl === 'string' && bytes instanceof Binary)
      return create(AnySchema, { typeUrl, value: bytes.bytes });
  }
  return anyPack(ValueSchema, fromJson(ValueSchema, jsonOfBson(value, 'text')));
}
