/**
 * Parses JSON into values whose numbers keep the digits as typed, and whose objects keep the order of their keys; `JSON.parse` loses both.
 */
import { invalidArgument, type PlatformError } from '@platform/base';

export type Json = null | boolean | string | NumberText | readonly Json[] | JsonMap;
export type JsonMap = ReadonlyMap<string, Json>;

/** A number as it was typed. */
export class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** The nesting limit of BSON servers. */
const maxDepth = 100;

/** @throws invalid_argument with line and column, both from 1 */
export function readJson(text: string): Json {
  const cursor: Cursor = { text, at: 0, depth: 0 };
  const value = readValue(cursor);
  skipSpace(cursor);
  if (cursor.at < text.length) throw unexpected(cursor, 'the end of the text');
  return value;
}

interface Cursor {
  readonly text: string;
  at: number;
  depth: number;
}

const words: readonly (readonly [string, Json])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
];

function readValue(cursor: Cursor): Json {
  skipSpace(cursor);
  const start = cursor.text[cursor.at];
  if (start === '"') return readText(cursor);
  if (start === '{' || start === '[') {
    if (++cursor.depth > maxDepth) throw unexpected(cursor, `at most ${maxDepth} levels`);
    const value = start === '{' ? readObject(cursor) : readArray(cursor);
    cursor.depth--;
    return value;
  }
  for (const [word, value] of words) {
    if (!cursor.text.startsWith(word, cursor.at)) continue;
    cursor.at += word.length;
    return value;
  }
  const number = matched(cursor, /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
  if (number === undefined) throw unexpected(cursor, 'a value');
  return new NumberText(number);
}

function readObject(cursor: Cursor): JsonMap {
  const object = new Map<string, Json>();
  cursor.at++;
  for (let first = true; !closes(cursor, '}', first); first = false) {
    const at = cursor.at;
    const name = readText(cursor);
    if (object.has(name)) throw unexpected({ ...cursor, at }, 'each key once');
    skipSpace(cursor);
    take(cursor, ':');
    object.set(name, readValue(cursor));
  }
  return object;
}

function readArray(cursor: Cursor): Json[] {
  const array: Json[] = [];
  cursor.at++;
  for (let first = true; !closes(cursor, ']', first); first = false) array.push(readValue(cursor));
  return array;
}

/** Moves past the closing sign, or past the comma before the next member. */
function closes(cursor: Cursor, sign: string, first: boolean): boolean {
  skipSpace(cursor);
  if (cursor.text[cursor.at] === sign) {
    cursor.at++;
    return true;
  }
  if (!first) take(cursor, ',', `"," or "${sign}"`);
  skipSpace(cursor);
  return false;
}

function readText(cursor: Cursor): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON allows none inside strings.
  const found = matched(cursor, /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y);
  if (found === undefined) throw unexpected(cursor, 'a string in double quotes');
  return JSON.parse(found) as string;
}

function take(cursor: Cursor, sign: string, expected = `"${sign}"`): void {
  if (cursor.text[cursor.at] !== sign) throw unexpected(cursor, expected);
  cursor.at++;
}

function matched(cursor: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text)?.[0];
  cursor.at += found?.length ?? 0;
  return found;
}

function skipSpace(cursor: Cursor): void {
  while (' \t\r\n'.includes(cursor.text[cursor.at] ?? 'x')) cursor.at++;
}

function unexpected({ text, at }: Cursor, expected: string): PlatformError {
  const before = text.slice(0, at).split('\n');
  const found = at < text.length ? JSON.stringify(text.slice(at, at + 20)) : 'the end of the text';
  return invalidArgument(
    `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: expected ${expected}, found ${found}`,
  );
}
