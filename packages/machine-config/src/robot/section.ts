/** Converts sections of a document to parts of the RobotConfig message and back, with one table for each kind of entry. */
import type { Problem } from '@platform/base';
import { formatValue } from '../format-value.ts';
import { isObject } from '../is-object.ts';
import type { Json, JsonObject } from '../schema.ts';
import { unknownKey } from '../unknown-key.ts';
import { durationNanos, formatDuration } from './duration.ts';
import { frameInit, frameOf } from './frame.ts';

type Plain = 'text' | 'flag' | 'number' | 'whole' | 'texts' | 'textMap' | 'object' | 'duration' | 'signal' | 'frame';
type Kind = Plain | { readonly one: Section } | { readonly many: Section } | { readonly names: readonly string[] };

/** By key of the document: field of the message, and the type of its value. `names` are the names of an enum's values, from 0. */
export type Section = Readonly<Record<string, readonly [field: string, kind: Kind]>>;

export type Init = Record<string, unknown>;

/** The init of an entry's message; values that do not fit are reported and omitted. */
export function initOf(section: Section, entry: JsonObject, path: string, problems: Problem[]): Init {
  const init: Init = {};
  for (const [key, value] of Object.entries(entry)) {
    const at = `${path}.${key}`;
    const row = Object.hasOwn(section, key) ? section[key] : undefined;
    if (row === undefined) {
      problems.push(unknownKey(at, key, Object.keys(section)));
      continue;
    }
    if (value === null) continue;
    const [field, kind] = row;
    const part = partOf(kind, value, at, problems);
    if (part === undefined) {
      const message = `expected ${wordsFor(kind)}, found ${formatValue(value)}`;
      problems.push({ path: at, level: 'error', message });
    } else {
      init[field] = part;
    }
  }
  return init;
}

/** The inits of a list; entries that are not objects are reported and omitted. */
export function initsOf(section: Section, list: readonly unknown[], path: string, problems: Problem[]): Init[] {
  return list.flatMap((entry, index) => {
    const at = `${path}[${index}]`;
    if (isObject(entry)) return [initOf(section, entry, at, problems)];
    problems.push({ path: at, level: 'error', message: `expected an object, found ${formatValue(entry)}` });
    return [];
  });
}

/** The entry as in a document; fields with their default value are omitted. */
export function entryOf(section: Section, message: object): JsonObject {
  const entry: Record<string, Json> = {};
  for (const [key, [field, kind]] of Object.entries(section)) {
    const value = jsonOf(kind, (message as Record<string, unknown>)[field]);
    if (value !== undefined) entry[key] = value;
  }
  return entry;
}

/** Undefined if it does not fit. */
function partOf(kind: Kind, value: Json, path: string, problems: Problem[]): unknown {
  if (typeof kind === 'object') {
    if ('one' in kind) return isObject(value) ? initOf(kind.one, value, path, problems) : undefined;
    if ('many' in kind) return Array.isArray(value) ? initsOf(kind.many, value, path, problems) : undefined;
    const at = kind.names.indexOf(String(value));
    return at < 0 ? undefined : at;
  }
  switch (kind) {
    case 'text':
      return typeof value === 'string' ? value : undefined;
    case 'flag':
      return typeof value === 'boolean' ? value : undefined;
    case 'number':
      return typeof value === 'number' ? value : undefined;
    case 'whole':
      return Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31 ? value : undefined;
    case 'texts':
      return Array.isArray(value) && value.every((item) => typeof item === 'string') ? [...value] : undefined;
    case 'textMap':
      return isObject(value) && Object.values(value).every((item) => typeof item === 'string') ? value : undefined;
    case 'object':
      return isObject(value) ? value : undefined;
    case 'duration': {
      const nanos = typeof value === 'string' ? durationNanos(value) : undefined;
      const second = 1_000_000_000n;
      return nanos === undefined ? undefined : { seconds: nanos / second, nanos: Number(nanos % second) };
    }
    case 'signal':
      return signalNumber(value);
    case 'frame':
      return isObject(value) ? frameInit(value, path, problems) : undefined;
  }
}

function wordsFor(kind: Kind): string {
  if (typeof kind === 'object') {
    if ('one' in kind) return 'an object';
    return 'many' in kind ? 'a list' : `one of ${kind.names.filter((name) => name !== '').join(', ')}`;
  }
  const words: Readonly<Record<Plain, string>> = {
    text: 'a string',
    flag: 'true or false',
    number: 'a number',
    whole: 'a whole number',
    texts: 'a list of strings',
    textMap: 'an object of strings',
    object: 'an object',
    duration: 'a duration such as 30s',
    signal: 'a signal such as SIGTERM',
    frame: 'an object',
  };
  return words[kind];
}

function jsonOf(kind: Kind, value: unknown): Json | undefined {
  if (value === undefined) return undefined;
  if (typeof kind === 'object') {
    if ('one' in kind) return entryOf(kind.one, value as object);
    if ('names' in kind) return kind.names[Number(value)] || undefined;
    const list = (value as object[]).map((item) => entryOf(kind.many, item));
    return list.length === 0 ? undefined : list;
  }
  switch (kind) {
    case 'duration': {
      const { seconds, nanos } = value as { seconds: bigint; nanos: number };
      return formatDuration(seconds * 1_000_000_000n + BigInt(nanos));
    }
    case 'signal':
      return formatSignal(Number(value));
    case 'frame':
      return frameOf(value as Parameters<typeof frameOf>[0]);
    case 'object':
      return value as JsonObject;
    case 'texts':
    case 'textMap':
      return Object.keys(value as object).length === 0 ? undefined : (value as Json);
    default:
      return value === '' || value === false || value === 0 ? undefined : (value as Json);
  }
}

const signalNumbers: ReadonlyMap<string, number> = new Map([
  ['HUP', 1],
  ['INT', 2],
  ['QUIT', 3],
  ['ABRT', 6],
  ['KILL', 9],
  ['USR1', 10],
  ['USR2', 12],
  ['TERM', 15],
]);

/** The number of `SIGTERM`, `term`, `15` or 15; undefined for anything else. */
function signalNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) && value > 0 && value < 65 ? value : undefined;
  if (typeof value !== 'string') return undefined;
  if (/^\d+$/.test(value)) return signalNumber(Number(value));
  return signalNumbers.get(value.toUpperCase().replace(/^SIG/, ''));
}

/** Undefined for 0, which means no signal. */
function formatSignal(number: number): string | undefined {
  if (number === 0) return undefined;
  const known = [...signalNumbers].find(([, each]) => each === number);
  return known === undefined ? String(number) : `SIG${known[0]}`;
}
