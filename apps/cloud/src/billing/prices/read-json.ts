/** Reads the JSON of prices, with errors that name the path, what was expected and what was found. */
import { PlatformError } from '@platform/base';

/** @throws invalid_argument unless it is an object with no other keys than these */
export function objectOf(json: unknown, path: string, keys: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw wrong(path, 'an object', json);
  const unknown = Object.keys(json).find((key) => !keys.includes(key));
  if (unknown !== undefined) throw wrong(`${path}.${unknown}`, `one of ${keys.join(', ')}`, unknown);
  return json as Record<string, unknown>;
}

/** What is thrown for a value that is wrong. */
export function wrong(path: string, expected: string, found: unknown): PlatformError {
  const said = typeof found === 'bigint' ? `${found}` : (JSON.stringify(found ?? null) ?? 'nothing');
  return new PlatformError('invalid_argument', `${path}: expected ${expected}, found ${said.slice(0, 120)}`);
}
