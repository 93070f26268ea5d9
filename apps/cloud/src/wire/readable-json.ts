/** Checks that every public client can read back JSON saved by users exactly as it was given. */
import { invalidArgument } from '@platform/base';
import { requireJsonDepth } from './json-depth.ts';

/**
 * Limits the depth, and refuses numbers that JSON cannot represent (a Struct can hold NaN, and `1e999` in a text is infinite) and lone
 * surrogates, which UTF-8 cannot encode.
 *
 * @param what names the value, for the error. @throws invalid_argument with the path of the first invalid value
 */
export function requireReadableJson(value: unknown, what: string): void {
  requireJsonDepth(value, what);
  const found = firstUnreadable(value, '$');
  if (found !== undefined) throw invalidArgument(`${what}: ${found}`);
}

/** Recursive: the depth has already been checked. */
function firstUnreadable(value: unknown, path: string): string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) return `${path}: expected a finite number, found ${value}`;
  if (typeof value === 'string' && !value.isWellFormed())
    return `${path}: expected text in whole characters, found half of one (a lone surrogate)`;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    if (!key.isWellFormed()) return `${path}: expected keys in whole characters, found ${JSON.stringify(key)}`;
    const at = Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`;
    const found = firstUnreadable(inner, at);
    if (found !== undefined) return found;
  }
  return undefined;
}
