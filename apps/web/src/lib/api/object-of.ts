import type { JsonObject, JsonValue } from '@bufbuild/protobuf';

/** The value if it is an object; otherwise an empty one: others may have written anything. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
