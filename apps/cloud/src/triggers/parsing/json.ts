/** Reads configuration JSON and reports what was expected and what was found. */
import { invisibleCharacter, visibleText } from '@platform/base';
import type { Problems } from './problems.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A short text for the value found. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  // JSON would turn 1e999 into null.
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}

/** The kind of a value that must not be repeated because it may be secret. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}

export function warnUnknown(object: JsonObject, known: readonly string[], path: string, problems: Problems): void {
  for (const key of Object.keys(object)) {
    if (!known.includes(key)) {
      problems.warn(
        `${path}.${key}`,
        `expected one of ${known.join(', ')}, found ${shown(key)}: this key has no effect`,
      );
    }
  }
}

/** A non-empty text, or undefined after reporting an error. */
export function requiredText(object: JsonObject, key: string, path: string, problems: Problems): string | undefined {
  const value = object[key];
  if (typeof value === 'string' && value !== '') return value;
  return problems.error(`${path}.${key}`, `expected a non-empty string, found ${shown(value)}`);
}

/**
 * A non-empty text used as a key of rows, or undefined after reporting an error: stores limit the length of keys (Postgres: 2,704 bytes),
 * and a row that cannot be written would hold up all triggers.
 */
export function keyText(
  object: JsonObject,
  key: string,
  maxBytes: number,
  path: string,
  problems: Problems,
): string | undefined {
  const text = requiredText(object, key, path, problems);
  if (text === undefined) return undefined;
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) return problems.error(`${path}.${key}`, `expected at most ${maxBytes} bytes, found ${bytes}`);
  const unseen = invisibleCharacter(text);
  if (unseen === undefined) return text;
  const found = `${unseen} in ${visibleText(text)}`;
  return problems.error(`${path}.${key}`, `expected no control characters or other invisible ones, found ${found}`);
}

/** An array of distinct names from a list; undefined after reporting an error. */
export function namesOf<Name extends string>(
  value: unknown,
  names: readonly Name[],
  path: string,
  problems: Problems,
): ReadonlySet<Name> | undefined {
  if (!Array.isArray(value) || value.length === 0) {
    return problems.error(path, `expected an array of ${names.join(', ')}, found ${shown(value)}`);
  }
  const found = new Set<Name>();
  for (const [index, item] of value.entries()) {
    const name = names.find((one) => one === item);
    if (name === undefined)
      return problems.error(`${path}[${index}]`, `expected one of ${names.join(', ')}, found ${shown(item)}`);
    found.add(name);
  }
  return found;
}
