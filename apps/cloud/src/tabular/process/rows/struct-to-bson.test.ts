import { create, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { ListValueSchema, type Struct, StructSchema, type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import { concatBytes, maxReadingLevels } from '@platform/base';
import { BsonDocument, decodeBson, encodeBson } from '@platform/query';
import { deserialize } from 'bson';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { structProblem } from '../../../ingest/readings/check-struct.ts';
import { readDocument } from '../../../reading-codec/read-document.ts';
import { maxBsonBytes, writeStruct } from './struct-to-bson.ts';

function transcode(wire: Uint8Array): Uint8Array {
  const target = new Uint8Array(maxBsonBytes(wire.length) + 7);
  const end = writeStruct(wire, 0, wire.length, target, 7);
  return target.subarray(7, end);
}

/** Decodes with an independent BSON reader, to compare with protobuf-es's JSON of the Struct. */
function read(bson: Uint8Array): unknown {
  return deserialize(bson, { promoteValues: true, useBigInt64: true });
}

const leaf = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.double(),
  fc.integer(),
  fc.string({ unit: 'grapheme' }),
  fc.string({ maxLength: 300 }),
);
const key = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0') && text !== '__proto__');
const { document } = fc.letrec<{ value: JsonValue; document: Record<string, JsonValue> }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 14 }),
    tie('document'),
  ),
  document: fc.dictionary(key, tie('value'), { maxKeys: 40 }),
}));

function valueMessage(json: JsonValue): Value {
  if (json === null) return create(ValueSchema, { kind: { case: 'nullValue', value: 0 } });
  if (typeof json === 'number') return create(ValueSchema, { kind: { case: 'numberValue', value: json } });
  if (typeof json === 'string')
    return create(ValueSchema, { kind: { case: 'stringValue', value: json.toWellFormed() } });
  if (typeof json === 'boolean') return create(ValueSchema, { kind: { case: 'boolValue', value: json } });
  if (Array.isArray(json))
    return create(ValueSchema, {
      kind: { case: 'listValue', value: create(ListValueSchema, { values: json.map(valueMessage) }) },
    });
  return create(ValueSchema, { kind: { case: 'structValue', value: structOf(json) } });
}

function structOf(json: Record<string, JsonValue>): Struct {
  return create(StructSchema, {
    fields: Object.fromEntries(Object.entries(json).map(([name, value]) => [name, valueMessage(value)])),
  });
}

test('a Struct reads as BSON exactly as protobuf-es reads it', () => {
  fc.assert(
    fc.property(document, (json) => {
      expect(read(transcode(toBinary(StructSchema, structOf(json))))).toEqual(json);
    }),
    { numRuns: 200 },
  );
});

test('fields keep their wire order and integers stay doubles', () => {
  const bson = transcode(toBinary(StructSchema, structOf({ z: 1, a: 2.5, m: { y: 1, b: [0] } })));
  expect([...bson]).toEqual([
    ...[0x41, 0, 0, 0, 0x01, 0x7a, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0x01, 0x61, 0, 0, 0, 0, 0, 0, 0, 4, 0x40],
    ...[0x03, 0x6d, 0, 0x23, 0, 0, 0, 0x01, 0x79, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f],
    ...[0x04, 0x62, 0, 0x10, 0, 0, 0, 0x01, 0x30, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  ]);
});

test('a field that occurs twice on the wire is read once with the last value', () => {
  const first = toBinary(StructSchema, structOf({ a: 1, b: 'x' }));
  const second = toBinary(StructSchema, structOf({ a: 'later' }));
  expect(read(transcode(concatBytes([first, second])))).toEqual({ a: 'later', b: 'x' });
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, i]));
  expect(read(transcode(concatBytes([toBinary(StructSchema, structOf(many)), second, second])))).toEqual({
    ...many,
    a: 'later',
  });
});

test('of many fields, each key keeps its first place and its last value', () => {
  const few = fc.stringMatching(/^[a-c]{0,3}$/);
  fc.assert(
    fc.property(fc.array(fc.tuple(few, fc.nat()), { minLength: 20, maxLength: 80 }), (fields) => {
      const wire = concatBytes(fields.map(([name, value]) => toBinary(StructSchema, structOf({ [name]: value }))));
      const expected = new Map(fields);
      const entries = [...decodeBson(transcode(wire))];
      expect(entries).toEqual([...expected]);
    }),
  );
});

test('text that is not UTF-8 is repaired, and NUL in a key is replaced', () => {
  const badText = Uint8Array.from([0x0a, 0x09, 0x0a, 1, 0x61, 0x12, 4, 0x1a, 2, 0xff, 0x62]);
  expect(read(transcode(badText))).toEqual({ a: '\ufffdb' });
  const nulKey = Uint8Array.from([0x0a, 0x07, 0x0a, 3, 0x61, 0, 0x62, 0x12, 0]);
  expect(read(transcode(nulKey))).toEqual({ 'a\u2400b': null });
});

test('long text is preserved, whatever it contains', () => {
  const long = `${'x'.repeat(5_000)}\0\u{1f600}ä${'y'.repeat(300)}`;
  expect(read(transcode(toBinary(StructSchema, structOf({ long, short: 'z' }))))).toEqual({ long, short: 'z' });
  const bytes = toBinary(StructSchema, structOf({ long: 'x'.repeat(5_000) }));
  bytes[2_000] = 0xff;
  const { long: repaired } = read(transcode(bytes)) as { long: string };
  expect([repaired.length, repaired.indexOf('\ufffd')]).toEqual([5_000, 2_000 - (bytes.length - 5_000)]);
});

test('random bytes are read as protobuf-es reads them or refused, and nothing is written outside the given room', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (wire) => {
      const target = new Uint8Array(maxBsonBytes(wire.length) + 8).fill(0xee);
      let end = 0;
      try {
        end = writeStruct(wire, 0, wire.length, target, 4);
      } catch {
        return;
      }
      expect(target.subarray(0, 4)).toEqual(new Uint8Array(4).fill(0xee));
      expect(() => deserialize(target.subarray(4, end))).not.toThrow();
    }),
    { numRuns: 2_000 },
  );
});

test('a document nested too deeply is refused with a reason', () => {
  let json: JsonValue = 1;
  for (let i = 0; i < 90; i++) json = { a: json };
  expect(() => transcode(toBinary(StructSchema, structOf({ a: json })))).not.toThrow();
  let wire = new Uint8Array([0x0a, 3, 0x0a, 1, 0x61]);
  for (let i = 0; i < 400; i++) {
    const value = concatBytes([new Uint8Array([0x2a]), varint(wire.length), wire]);
    const entry = concatBytes([new Uint8Array([0x0a, 1, 0x61, 0x12]), varint(value.length), value]);
    wire = concatBytes([new Uint8Array([0x0a]), varint(entry.length), entry]);
  }
  expect(() => transcode(wire)).toThrow(/nested/);
});

function varint(value: number): Uint8Array {
  return value < 0x80 ? new Uint8Array([value]) : new Uint8Array([(value & 0x7f) | 0x80, value >>> 7]);
}

/** Wire bytes of Structs with one byte or range changed: almost valid input reveals differences between two readers. */
const mutated = fc
  .tuple(
    document.map((json) => toBinary(StructSchema, structOf(json))),
    fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }), fc.constantFrom('set', 'cut', 'insert', 'repeat')), {
      minLength: 1,
      maxLength: 4,
    }),
  )
  .map(([wire, changes]) => {
    let bytes: Uint8Array = wire;
    for (const [place, byte, kind] of changes) {
      const at = place % (bytes.length + 1);
      if (kind === 'set' && bytes.length > 0) bytes = bytes.with(Math.min(at, bytes.length - 1), byte);
      else if (kind === 'cut') bytes = bytes.slice(0, at);
      else if (kind === 'insert') bytes = concatBytes([bytes.subarray(0, at), Uint8Array.of(byte), bytes.subarray(at)]);
      else bytes = concatBytes([bytes, bytes.subarray(at)]);
    }
    return bytes;
  });

test('I1 D14 mutated documents can be loaded if and only if they are accepted before the append', () => {
  let accepted = 0;
  let refused = 0;
  fc.assert(
    fc.property(mutated, (wire) => {
      const problem = structProblem(wire, 0, wire.length);
      if (problem === null) {
        accepted++;
        expect(decodeBson(transcode(wire))).toBeInstanceOf(BsonDocument);
        // Triggers read the same values; NUL in a key is replaced only in BSON.
        const values = readDocument(wire, 0, wire.length);
        if (!JSON.stringify(values).includes('\\u0000')) expect({ ...values }).toEqual(read(transcode(wire)));
      } else {
        refused++;
        expect(() => transcode(wire)).toThrow(problem);
      }
    }),
    { numRuns: 1_000 },
  );
  expect(Math.min(accepted, refused)).toBeGreaterThan(20);
});

test('I1 D14 before the append, documents and lists may nest only up to the limit, with which they load', () => {
  const nested = (levels: number, list: boolean): Uint8Array => {
    let value: JsonValue = list ? [] : {};
    for (let level = 2; level < levels; level++) value = list ? [value] : { a: value };
    return toBinary(StructSchema, structOf({ a: value }));
  };
  for (const list of [false, true]) {
    const deepest = nested(maxReadingLevels, list);
    expect(structProblem(deepest, 0, deepest.length)).toBeNull();
    expect(() => transcode(deepest)).not.toThrow();
    const deeper = nested(maxReadingLevels + 1, list);
    expect(structProblem(deeper, 0, deeper.length)).toBe(
      `struct${`.a${(list ? '[0]' : '.a').repeat(maxReadingLevels)}`.slice(0, 99)}…: expected documents and lists nested at most 100 levels deep, found 101`,
    );
    // Queries can read it within a row's document.
    expect(() => decodeBson(encodeBson(BsonDocument.of({ data: decodeBson(transcode(deepest)) })))).not.toThrow();
    expect(() => transcode(deeper)).toThrow(/nested at most 100 levels/);
  }
});

test('the error names a field that nests too deeply in characters that every log and table can hold', () => {
  let json: JsonValue = 1;
  for (let level = 0; level < maxReadingLevels + 1; level++) json = { '\0🤖\n': json };
  const wire = toBinary(StructSchema, structOf(json as Record<string, JsonValue>));
  const problem = structProblem(wire, 0, wire.length) ?? '';
  expect(problem).toMatch(/^struct\.\ufffd🤖\ufffd\./);
  expect(problem).not.toMatch(/[\p{Cc}\p{Cs}]/u);
});

test("an endlessly nested document is refused before the append with the field's name", () => {
  // From the inside out, each level before what it contains.
  const levels: Uint8Array[] = [];
  let length = 0;
  const before = (field: number, inner: number): Uint8Array =>
    new BinaryWriter().tag(field, WireType.LengthDelimited).uint32(inner).finish();
  for (let level = 0; level < 20_000; level++)
    for (const field of [5, 2, 1]) {
      const begin = before(field, length);
      levels.push(begin);
      length += begin.length;
    }
  const wire = concatBytes(levels.reverse());
  expect(structProblem(wire, 0, wire.length)).toMatch(/^struct\.\..* found more than 300$/);
});

test('wire forms that no encoder writes are read as the reference reads them', () => {
  const entry = (value: number[]): Uint8Array =>
    Uint8Array.from([0x0a, 5 + value.length, 0x0a, 1, 0x61, 0x12, value.length, ...value]);
  const forms: [number[], unknown][] = [
    [[0x18, 1, 0x20, 1], true],
    [[0x20, 0x81, 0x00], true],
    [[0x08, 0x80, 0x00], null],
    [[0x11, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f], Number.NaN],
    [[0x20, 1, 0x1a, 1, 0x78], 'x'],
    [[0x1a, 0x81, 0x80, 0x80, 0x80, 0x80, 0x00, 0x79], 'y'],
    [[0x3a, 1, 0x7a], null],
  ];
  for (const [value, expected] of forms) {
    const wire = entry(value);
    expect(structProblem(wire, 0, wire.length)).toBeNull();
    expect(read(transcode(wire))).toEqual({ a: expected });
  }
  const group = entry([0x3b, 0x3c]);
  expect(structProblem(group, 0, group.length)).not.toBeNull();
});
