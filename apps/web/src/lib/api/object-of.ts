import type { JsonObject, JsonValue } from '@bufbuild/protobuf';

/** The value if it is an object, otherwise an empty object. For values that others may have written. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
