/** Converts the readings of a capture file to documents of a database. Pure. */

import { createRegistry, fromBinary, type JsonValue, toJson } from '@bufbuild/protobuf';
import { type Any, anyUnpack, type Timestamp, timestampMs, ValueSchema } from '@bufbuild/protobuf/wkt';
import type { CaptureFileContents } from '@platform/capture-file';
import { DataType, SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';

/** The ids of the part and what contains it; empty without a cloud. */
export interface PartIds {
  readonly organizationId: string;
  readonly locationId: string;
  readonly robotId: string;
}

export interface ReadingDocument {
  /** The same each time the reading is sent: stream and sequence number of its file, and its place in the file. */
  readonly _id: string;
  readonly [field: string]: JsonValue | Date;
}

const registry = createRegistry(ValueSchema);

/** The fields are those of the table `readings` (D25). Binary readings, and readings that do not decode, give no documents. */
export function documentsOf({ header, readings }: CaptureFileContents, ids: PartIds): ReadingDocument[] {
  const { metadata, partId, stream, seq } = header;
  if (metadata?.type !== DataType.TABULAR_SENSOR) return [];
  const file = `${Buffer.from(stream).toString('hex')}-${seq}`;
  const shared = {
    organization_id: ids.organizationId,
    location_id: ids.locationId,
    robot_id: ids.robotId,
    part_id: partId,
    component_type: metadata.componentType,
    component_name: metadata.componentName,
    method_name: metadata.methodName,
    tags: [...metadata.tags],
    additional_parameters: parametersOf(metadata.methodParameters),
  };
  return readings.flatMap((bytes, index) => {
    const reading = decoded(bytes);
    if (reading?.data.case !== 'struct') return [];
    const received = dateOf(reading.metadata?.timeReceived ?? header.created);
    return [
      {
        _id: `${file}-${index}`,
        ...shared,
        capture_day: received.toISOString().slice(0, 10),
        time_requested: dateOf(reading.metadata?.timeRequested ?? header.created),
        time_received: received,
        data: reading.data.value as JsonValue,
      },
    ];
  });
}

function decoded(bytes: Uint8Array) {
  try {
    return fromBinary(SensorDataSchema, bytes);
  } catch {
    return undefined;
  }
}

function dateOf(time: Timestamp | undefined): Date {
  const date = new Date(time === undefined ? 0 : timestampMs(time));
  return Number.isNaN(date.getTime()) ? new Date(0) : date;
}

function parametersOf(parameters: Readonly<Record<string, Any>>): JsonValue {
  const values: Record<string, JsonValue> = {};
  for (const [name, packed] of Object.entries(parameters)) {
    const value = anyUnpack(packed, registry);
    if (value?.$typeName === 'google.protobuf.Value') values[name] = toJson(ValueSchema, value as never);
  }
  return values;
}
