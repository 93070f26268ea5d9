import type { Problem } from '@platform/base';
import type { Field, Fields } from './fields.ts';
import { formatValue } from './format-value.ts';
import { isObject } from './is-object.ts';
import { lengthFault, maxTags } from './limits.ts';
import type { Json, JsonObject } from './schema.ts';
import { unknownKey } from './unknown-key.ts';

export interface FieldValues {
  /** A value for every field: the given one if it is valid, otherwise the default. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The valid part of the object, without defaults. */
  readonly kept: JsonObject;
}

/** Reads an object by its table; an invalid value is reported with path, expected and found, and omitted. */
export function readFields(fields: Fields, from: JsonObject, path: string, problems: Problem[]): FieldValues {
  const values: Record<string, unknown> = {};
  const kept: Record<string, Json> = {};
  for (const key of Object.keys(from)) {
    if (!Object.hasOwn(fields, key)) problems.push(unknownKey(`${path}.${key}`, key, Object.keys(fields)));
  }
  for (const [key, field] of Object.entries(fields)) {
    const given = from[key] ?? undefined;
    const value = given === undefined ? undefined : fitting(field, given, `${path}.${key}`, problems);
    if (value !== undefined) kept[key] = value;
    values[key] = value ?? fallbackOf(field);
  }
  return { values, kept };
}

function fallbackOf(field: Field): unknown {
  if (field.kind === 'tags' || field.kind === 'absolutePaths') return [];
  return 'default' in field ? field.default : undefined;
}

/** The value without its invalid parts; undefined if nothing is valid. */
function fitting(field: Field, value: Json, path: string, problems: Problem[]): Json | undefined {
  if (field.kind === 'object' && field.of !== undefined && isObject(value))
    return readFields(field.of, value, path, problems).kept;
  if ((field.kind === 'tags' || field.kind === 'absolutePaths') && Array.isArray(value)) {
    const tooMany = field.kind === 'tags' && value.length > maxTags;
    if (tooMany)
      problems.push({ path, level: 'error', message: `expected at most ${maxTags} tags, found ${value.length}` });
    return value.filter((item, index) => {
      if (tooMany && index >= maxTags) return false;
      const fault = field.kind === 'tags' ? tagFault(item) : pathFault(item);
      if (fault !== undefined) problems.push({ path: `${path}[${index}]`, level: 'error', message: fault });
      return fault === undefined;
    });
  }
  const expected = expectedOf(field, value);
  if (expected === undefined) return value;
  if (field.kind === 'docdbUri') {
    problems.push({ path, level: 'error', message: `expected ${expected}, found something else` });
    return undefined;
  }
  problems.push({ path, level: 'error', message: `expected ${expected}, found ${formatValue(value)}` });
  return undefined;
}

function tagFault(tag: unknown): string | undefined {
  if (typeof tag === 'string' && /^[\w-]+$/.test(tag)) return lengthFault(tag);
  return `expected a tag of letters, digits, underscores and dashes, found ${formatValue(tag)}`;
}

/** `~/…` is absolute on the machine. */
function pathFault(path: unknown): string | undefined {
  if (typeof path === 'string' && /^(\/|~(\/|$)|[a-z]:[\\/])/i.test(path)) return undefined;
  return `expected an absolute path, found ${formatValue(path)}`;
}

/** What was expected instead of the value; undefined if it is valid. */
function expectedOf(field: Field, value: Json): string | undefined {
  switch (field.kind) {
    case 'any':
      return undefined;
    case 'bool':
      return typeof value === 'boolean' ? undefined : 'true or false';
    case 'string':
      return typeof value === 'string' ? undefined : 'a string';
    case 'docdbUri':
      // A placeholder becomes a variable of the machine (docs/specs/machine-server.md).
      return typeof value === 'string' && /^(mongodb(\+srv)?:\/\/|\$\{|$)/.test(value)
        ? undefined
        : 'an address that begins with mongodb:// or mongodb+srv://';
    case 'tags':
    case 'absolutePaths':
      return 'a list of strings';
    case 'list':
      return Array.isArray(value) ? undefined : 'a list';
    case 'object':
      return isObject(value) ? undefined : 'an object';
    default: {
      const { kind, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = field;
      const fits = typeof value === 'number' && Number.isFinite(value) && (kind === 'float' || Number.isInteger(value));
      if (fits && value >= min && value <= max) return undefined;
      const number = kind === 'int' ? 'a whole number' : 'a number';
      if (Number.isFinite(max)) return `${number} from ${min} to ${max}`;
      return Number.isFinite(min) ? `${number} of at least ${min}` : number;
    }
  }
}
