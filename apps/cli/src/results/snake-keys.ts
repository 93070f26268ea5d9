/** Converts results of the cloud to the spelling of the command line: JSON keys in snake_case. */
import type { JsonValue } from '@platform/sdk/cloud';

/** The same value with the keys of its objects, at any depth, in snake_case. */
export function snakeKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(snakeKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [snakeCase(key), snakeKeys(field)]));
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
