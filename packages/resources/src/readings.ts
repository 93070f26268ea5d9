/** `GetReadings` and the capture of `Readings`, for every type that has them. */
import { fromBinary, fromJson, toJson } from '@bufbuild/protobuf';
import { type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import { GetReadingsResponseSchema } from '@platform/proto/platform/common/v1/common';
import type { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { encodedCall, maxMessageDepth } from '@platform/rpc/portable';
import { jsonOf } from './common-methods.ts';
import { EncodedDocument, isLong } from './encoded-document.ts';
import type { Document, Readable } from './resource.ts';
import type { CaptureMethod, Connection } from './resource-descriptor.ts';

export async function getReadings(
  resource: Readable,
  { extra }: { extra?: Document | undefined },
): Promise<{ readings: Record<string, Value> }> {
  const readings = Object.entries(jsonOf(await resource.readings(extra ?? {})));
  return { readings: Object.fromEntries(readings.map(([key, value]) => [key, fromJson(ValueSchema, value)])) };
}

/** As `{readings: {…}}`. The request tells the resource that data capture is calling, not a client. */
export const readingsCapture: CaptureMethod<Readable> = {
  kind: 'tabular',
  read(resource, params) {
    const extra = { ...params, fromDataManagement: true };
    if (resource.encodedReadings !== undefined)
      return resource.encodedReadings(extra).then((bytes) => ({ readings: documentOf(bytes) }));
    const result = resource.readings(extra);
    return result instanceof Promise ? result.then((readings) => ({ readings })) : { readings: result };
  },
};

/** The bytes of a GetReadingsResponse are those of a Struct with the same entries. */
function documentOf(bytes: Uint8Array): Document | EncodedDocument {
  if (isLong(bytes)) return new EncodedDocument(bytes, 1);
  const { readings } = fromBinary(GetReadingsResponseSchema, bytes, {
    readUnknownFields: false,
    recursionLimit: maxMessageDepth,
  });
  return jsonOfValues(readings);
}

function jsonOfValues(values: Readonly<Record<string, Value>>): Document {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, toJson(ValueSchema, value)]));
}

/** `readings` of a resource in another process. @param service has GetReadings */
export function readingsOver(
  connection: Connection,
  service: typeof SensorService,
): Pick<Readable, 'readings' | 'encodedReadings'> {
  const client = connection.client(service);
  const encoded = encodedCall(connection, service.method.getReadings);
  return {
    readings: async (extra) => jsonOfValues((await client.getReadings({ extra: jsonOf(extra) })).readings),
    encodedReadings: (extra) => encoded({ extra: jsonOf(extra) }),
  };
}
