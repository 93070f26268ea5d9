import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { type Any, anyPack, ValueSchema } from '@bufbuild/protobuf/wkt';
import type { JsonObject } from '@platform/machine-config/schema';

/** Additional parameters in wire form: each is a google.protobuf.Value in an Any. */
export function methodParameters(params: JsonObject): Record<string, Any> {
  const packed = (value: unknown): Any => anyPack(ValueSchema, fromJson(ValueSchema, value as JsonValue));
  return Object.fromEntries(Object.entries(params).map(([key, value]) => [key, packed(value)]));
}
