import { fromJson, type JsonObject, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { StructSchema } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileKeys, type Keys } from './key-filter.ts';
import { readDocument } from './read-document.ts';

const key = fc.constantFrom('a', 'b', 'longer', 'é', '');
const { document, keys } = fc.letrec<{ value: JsonValue; document: JsonObject; keys: Keys }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.integer(),
    fc.string(),
    fc.constant(null),
    tie('document'),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
  document: fc.dictionary(key, tie('value'), { maxKeys: 5, noNullPrototype: true }),
  keys: fc
    .array(fc.tuple(key, fc.oneof({ depthSize: 'small' }, fc.constant('all' as const), tie('keys'))), { maxLength: 3 })
    .map((entries) => new Map(entries) as Keys),
}));

test('a document is read as if it had only the wanted keys; documents in lists are read completely', () => {
  fc.assert(
    fc.property(document, keys, (whole, wanted) => {
      const bytes = toBinary(StructSchema, fromJson(StructSchema, whole));
      const read = readDocument(bytes, 0, bytes.length, compileKeys(wanted));
      expect(json(read)).toEqual(json(chosen(whole, wanted)));
      // A filter does not affect the next document.
      expect(json(readDocument(bytes, 0, bytes.length))).toEqual(json(whole));
    }),
    { numRuns: 2_000 },
  );
});

function chosen(whole: JsonObject, wanted: Keys): unknown {
  const kept = Object.entries(whole).flatMap(([name, value]) => {
    const below = wanted.get(name);
    if (below === undefined) return [];
    const isDocument = typeof value === 'object' && value !== null && !Array.isArray(value);
    return [[name, below !== 'all' && isDocument ? chosen(value, below) : value]];
  });
  return Object.fromEntries(kept);
}

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
