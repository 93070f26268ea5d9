/** Parses JSON into plain values, objects as maps: `JSON.parse` would move keys that look like integers to the front. */

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = Map<string, Json>;

/** @throws SyntaxError with the offset. */
export function readJson(text: string): Json {
  const cursor: Cursor = { text, at: 0 };
  const value = readValue(cursor);
  skipSpace(cursor);
  if (cursor.at < text.length) throw unexpected(cursor);
  return value;
}

interface Cursor {
  readonly text: string;
  at: number;
}

const literals: Readonly<Record<string, Json>> = { n: null, t: true, f: false };
const literalLengths: Readonly<Record<string, number>> = { n: 4, t: 4, f: 5 };

function readValue(cursor: Cursor): Json {
  skipSpace(cursor);
  const start = cursor.text[cursor.at] ?? '';
  if (start === '{') return readObject(cursor);
  if (start === '[') return readArray(cursor);
  if (start === '"') return readText(cursor);
  if (start in literals) {
    const end = cursor.at + literalLengths[start]!;
    if (JSON.parse(cursor.text.slice(cursor.at, end)) !== literals[start]) throw unexpected(cursor);
    cursor.at = end;
    return literals[start]!;
  }
  const number = /-?\d+(\.\d+)?([eE][+-]?\d+)?/y;
  number.lastIndex = cursor.at;
  const found = number.exec(cursor.text);
  if (found === null) throw unexpected(cursor);
  cursor.at = number.lastIndex;
  return Number(found[0]);
}

function readObject(cursor: Cursor): JsonObject {
  const object: JsonObject = new Map();
  cursor.at++;
  while (!closes(cursor, '}', object.size > 0)) {
    const name = readText(cursor);
    skipSpace(cursor);
    expect(cursor, ':');
    object.set(name, readValue(cursor));
  }
  return object;
}

function readArray(cursor: Cursor): Json[] {
  const array: Json[] = [];
  cursor.at++;
  while (!closes(cursor, ']', array.length > 0)) array.push(readValue(cursor));
  return array;
}

/** Moves past the closing sign, or past the comma before the next member. */
function closes(cursor: Cursor, sign: string, afterMember: boolean): boolean {
  skipSpace(cursor);
  if (cursor.text[cursor.at] === sign) {
    cursor.at++;
    return true;
  }
  if (afterMember) expect(cursor, ',');
  skipSpace(cursor);
  return false;
}

function readText(cursor: Cursor): string {
  const quoted = /"(?:[^"\\]|\\.)*"/y;
  quoted.lastIndex = cursor.at;
  const found = quoted.exec(cursor.text);
  if (found === null) throw unexpected(cursor);
  cursor.at = quoted.lastIndex;
  return JSON.parse(found[0]) as string;
}

function expect(cursor: Cursor, sign: string): void {
  if (cursor.text[cursor.at] !== sign) throw unexpected(cursor);
  cursor.at++;
}

function skipSpace(cursor: Cursor): void {
  while (' \t\r\n'.includes(cursor.text[cursor.at] ?? 'x')) cursor.at++;
}

function unexpected({ text, at }: Cursor): SyntaxError {
  return new SyntaxError(`unexpected ${JSON.stringify(text.slice(at, at + 20))} at offset ${at} of the JSON text`);
}
