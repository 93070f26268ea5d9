import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countElements } from '../mql/count-elements.ts';
import { batchOf, documentsOf } from './batch.ts';
import { compareValues } from './compare.ts';
import { decodeBson } from './decode.ts';
import { encodeBson } from './encode.ts';
import type { Mask } from './field-names.ts';
import { valueKey } from './key.ts';
import {
  Binary,
  BsonDate,
  BsonDocument,
  BsonSymbol,
  BsonUndefined,
  type BsonValue,
  Code,
  DbPointer,
  Decimal128,
  Int32,
  MaxKey,
  MinKey,
  ObjectId,
  Regex,
  Timestamp,
} from './value.ts';

const name = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'));
const bytes = (length: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ minLength: length, maxLength: length });
const long = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const scalar: fc.Arbitrary<BsonValue> = fc.oneof(
  fc.double(),
  fc.integer().map((value) => new Int32(value)),
  long,
  fc.string({ unit: 'grapheme' }),
  fc.boolean(),
  fc.constant(null),
  fc.integer().map((ms) => new BsonDate(ms * 1000)),
  bytes(12).map((id) => new ObjectId(id)),
  bytes(16).map((decimal) => new Decimal128(decimal)),
  fc.tuple(fc.uint8Array(), fc.integer({ min: 0, max: 255 })).map(([data, subtype]) => new Binary(data, subtype)),
  fc.tuple(name, fc.constantFrom('', 'i', 'ims')).map(([pattern, options]) => new Regex(pattern, options)),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => new Timestamp(value)),
  name.map((code) => new Code(code)),
  name.map((code) => new Code(code, BsonDocument.of({ x: 1 }))),
  name.map((text) => new BsonSymbol(text)),
  bytes(12).map((id) => new DbPointer('db.c', new ObjectId(id))),
  fc.constantFrom(new MinKey(), new MaxKey(), new BsonUndefined()),
);
const { value, document } = fc.letrec<{ value: BsonValue; document: BsonDocument }>((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, scalar, fc.array(tie('value'), { maxLength: 4 }), tie('document')),
  document: fc.array(fc.tuple(name, tie('value')), { maxLength: 5 }).map((fields) => new BsonDocument(fields)),
}));

test('every document survives encoding and decoding, byte for byte', () => {
  fc.assert(
    fc.property(document, (original) => {
      const encoded = encodeBson(original);
      const again = decodeBson(encoded);
      expect(again).toEqual(original);
      expect(encodeBson(again)).toEqual(encoded);
    }),
  );
});

test('D48 elements are counted as they are decoded, and no further than asked', () => {
  const elementsOf = (of: BsonValue): number => {
    if (of instanceof Code) return of.scope === undefined ? 0 : elementsOf(of.scope);
    const values = of instanceof BsonDocument ? [...of.values()] : Array.isArray(of) ? of : [];
    return values.reduce<number>((sum, each) => sum + 1 + elementsOf(each), 0);
  };
  fc.assert(
    fc.property(document, (original) => {
      const elements = elementsOf(original);
      expect(countElements(encodeBson(original), elements)).toBe(elements);
      if (elements > 0) expect(countElements(encodeBson(original), elements - 1)).toBe(elements);
    }),
  );
});

test('the bytes match the BSON specification', () => {
  const hex = (each: BsonDocument): string =>
    Array.from(encodeBson(each), (byte) => byte.toString(16).padStart(2, '0')).join('');
  expect(hex(BsonDocument.of({ hello: 'world' }))).toBe('160000000268656c6c6f0006000000776f726c640000');
  expect(hex(BsonDocument.of({ BSON: ['awesome', 5.05, new Int32(1986)] }))).toBe(
    '310000000442534f4e002600000002300008000000617765736f6d65000131003333333333331440103200c20700000000',
  );
  expect(hex(BsonDocument.of({ a: 1n, b: true, c: null, d: new BsonDate(-1) }))).toBe(
    '2200000012610001000000000000000862000' + '10a63000964' + '00ffffffffffffffff00',
  );
});

test('damaged bytes cause an error, never a wrong read or a crash', () => {
  fc.assert(
    fc.property(document, fc.nat(), fc.integer({ min: 0, max: 255 }), (original, at, byte) => {
      const encoded = encodeBson(original);
      encoded[at % encoded.length] = byte;
      expect(countElements(encoded, 1_000)).toBeLessThan(1_000);
      try {
        decodeBson(encoded);
      } catch (error) {
        expect(error).toHaveProperty('codeName');
      }
    }),
  );
});

test('decoding with a mask reads the named fields and nothing else', () => {
  const row = BsonDocument.of({ a: BsonDocument.of({ x: 1, y: 'two' }), b: [1, 2], c: 'three' });
  const mask: Mask = new Map<string, Mask>([
    ['a', new Map([['y', true]])],
    ['b', true],
  ]);
  expect(decodeBson(encodeBson(row), 0, mask)).toEqual(
    BsonDocument.of({ a: BsonDocument.of({ y: 'two' }), b: [1, 2] }),
  );
});

test('a document nested deeper than 200 levels is refused', () => {
  let deep: BsonValue = 1;
  for (let level = 0; level < 201; level++) deep = BsonDocument.of({ a: deep });
  expect(() => encodeBson(BsonDocument.of({ deep }))).toThrow(/nested deeper than 200/);
});

test('batches return their documents', () => {
  fc.assert(
    fc.property(fc.array(document, { maxLength: 5 }), (documents) => {
      expect([...documentsOf(batchOf(documents))]).toEqual(documents);
    }),
  );
});

test('the order of values is total: antisymmetric and transitive', () => {
  fc.assert(
    fc.property(value, value, value, (a, b, c) => {
      expect(Math.sign(compareValues(a, b))).toBe(-Math.sign(compareValues(b, a)) + 0);
      if (compareValues(a, b) <= 0 && compareValues(b, c) <= 0) expect(compareValues(a, c)).toBeLessThanOrEqual(0);
    }),
  );
});

test('two values have the same key exactly when they compare as equal', () => {
  const numeric = fc.oneof(
    fc.integer().map((each) => new Int32(each)),
    fc.integer(),
    fc.integer().map(BigInt),
    long,
    fc.double(),
  );
  fc.assert(
    fc.property(fc.oneof(fc.tuple(value, value), fc.tuple(numeric, numeric)), ([a, b]) => {
      expect(valueKey(a) === valueKey(b)).toBe(compareValues(a, b) === 0);
    }),
  );
  for (const one of [1, new Int32(1), 1n]) expect(valueKey(one)).toBe(valueKey(1));
});

test('the last possible date stays exact, although its number is rounded up', () => {
  const last = BsonDocument.of({ d: new BsonDate(2 ** 63) });
  expect(encodeBson(last).subarray(7, 15)).toEqual(Uint8Array.from([255, 255, 255, 255, 255, 255, 255, 127]));
  expect(decodeBson(encodeBson(last))).toEqual(last);
});
