/** Reads the JSON of prices, with errors that contain the path, the expected and the found value. */
import { invalidArgument, type PlatformError } from '@platform/base';

/** @throws invalid_argument unless it is an object with only these keys */
export function objectOf(json: unknown, path: string, keys: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw wrong(path, 'an object', json);
  const unknown = Object.keys(json).find((key) => !keys.includes(key));
  if (unknown !== undefined) throw wrong(`${path}.${unknown}`, `one of ${keys.join(', ')}`, unknown);
  return json as Record<string, unknown>;
}

/** The error for a wrong value. */
export function wrong(path: string, expected: string, found: unknown): PlatformError {
  const said = typeof found === 'bigint' ? `${found}` : (JSON.stringify(found ?? null) ?? 'nothing');
  return invalidArgument(`${path}: expected ${expected}, found ${said.slice(0, 120)}`);
}
