/** Reads the index that a client describes: BSON, or JSON as text, {keys, options}; keys and options may also be separate documents. */
import { errorText, invalidArgument, type PlatformError } from '@platform/base';
import { BsonDocument, type BsonValue, decodeBson, Int32 } from '@platform/query';

export interface IndexSpec {
  readonly name: string;
  readonly document: BsonDocument;
}

const maxSpecBytes = 16 * 1024;
const maxKeys = 32;
const maxNameLength = 200;
const kinds: readonly BsonValue[] = ['text', '2d', '2dsphere', 'hashed'];

/** @throws invalid_argument */
export function readIndexSpec(parts: readonly Uint8Array[]): IndexSpec {
  const bytes = parts.reduce((sum, part) => sum + part.length, 0);
  if (bytes > maxSpecBytes) throw wrong(`at most ${maxSpecBytes} bytes`, `${bytes}`);
  const documents = parts.map(readDocument);
  const [first, second = new BsonDocument()] = documents;
  if (first === undefined || documents.length > 2) throw wrong('{keys, options}', `${documents.length} documents`);
  const keys = first.get('keys') ?? first.get('key') ?? first;
  const options = first.get('options') ?? second;
  if (!(keys instanceof BsonDocument) || keys.size === 0) throw wrong('keys with at least one field', 'none');
  if (keys.size > maxKeys) throw wrong(`at most ${maxKeys} keys`, `${keys.size}`);
  if (!(options instanceof BsonDocument)) throw wrong('options as an object', 'something else');
  for (const [field, direction] of keys)
    if (directionText(direction) === undefined)
      throw wrong(`1, -1, "${kinds.join('", "')}" for the key ${JSON.stringify(field)}`, 'something else');
  const given = options.get('name');
  const name =
    typeof given === 'string' && given !== ''
      ? given
      : [...keys].map(([field, direction]) => `${field}_${directionText(direction)}`).join('_');
  if (name.length > maxNameLength) throw wrong(`a name of at most ${maxNameLength} characters`, `${name.length}`);
  return {
    name,
    document: new BsonDocument([['keys', keys], ...(options.size > 0 ? [['options', options] as const] : [])]),
  };
}

function directionText(direction: BsonValue): string | undefined {
  if (typeof direction === 'string') return kinds.includes(direction) ? direction : undefined;
  const number = direction instanceof Int32 ? direction.value : Number(direction);
  return typeof direction === 'object' && !(direction instanceof Int32)
    ? undefined
    : number === 1 || number === -1
      ? String(number)
      : undefined;
}

function readDocument(part: Uint8Array): BsonDocument {
  try {
    const isBson = part.length >= 5 && new DataView(part.buffer, part.byteOffset).getInt32(0, true) === part.length;
    if (isBson) return decodeBson(part);
    return documentOfJson(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(part)));
  } catch (caught) {
    throw wrong('documents in BSON, or a JSON string', errorText(caught));
  }
}

function documentOfJson(json: unknown): BsonDocument {
  const value = bsonOfJson(json);
  if (value instanceof BsonDocument) return value;
  throw new Error('JSON that is not an object');
}

function bsonOfJson(json: unknown): BsonValue {
  if (Array.isArray(json)) return json.map(bsonOfJson);
  if (typeof json === 'object' && json !== null)
    return new BsonDocument(Object.entries(json).map(([name, value]) => [name, bsonOfJson(value)]));
  if (typeof json === 'number') return Number.isInteger(json) && Math.abs(json) < 2 ** 31 ? new Int32(json) : json;
  return typeof json === 'string' || typeof json === 'boolean' ? json : null;
}

function wrong(expected: string, found: string): PlatformError {
  return invalidArgument(`index_spec: expected ${expected}, found ${found}`);
}
