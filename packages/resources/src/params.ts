/** Reads `additional_params` of capture methods. Throws invalid_argument that names the parameter. */
import { invalidArgument, type PlatformError } from '@platform/base/portable';

/** A parameter that must be a text. */
export function requiredText(value: unknown, key: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw wrong(key, 'a name', value);
}

/** A list of texts; absent means none. */
export function textsOf(value: unknown, key: string): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  throw wrong(key, 'a list of names', value);
}

/** A number of at least `least`. */
export function numberOf(value: unknown, key: string, fallback: number, least = 0): number {
  if (value === undefined || value === null) return fallback;
  if (typeof value === 'number' && value >= least) return value;
  throw wrong(key, `a number of at least ${least}`, value);
}

function wrong(key: string, expected: string, found: unknown): PlatformError {
  const text = `expected ${expected} in additional_params.${key}, found ${JSON.stringify(found) ?? 'none'}`;
  return invalidArgument(text);
}
