/** Results of the cloud in the spelling of the command line: the keys of JSON are snake_case. */
import type { JsonValue } from '@platform/sdk/cloud';

/** The same value; the keys of its objects, at any depth, are snake_case. */
export function snakeKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(snakeKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [snakeCase(key), snakeKeys(field)]));
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
