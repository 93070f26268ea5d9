import { create, fromBinary, type JsonObject, toBinary, toJson } from '@bufbuild/protobuf';
import { StructSchema, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { maxReadingLevels } from '@platform/base';
import { SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Document, readDocument } from './read-document.ts';
import { SensorDataView } from './sensor-data-view.ts';

const view = new SensorDataView();

/** Undefined for a reading without a document. */
function documentOf(reading: Uint8Array): Document | undefined {
  view.read(reading, 0, reading.length);
  return view.kind === 'struct' ? readDocument(reading, view.contentStart, view.contentEnd) : undefined;
}

const json = (document: unknown): unknown => JSON.parse(JSON.stringify(document));

test('a document is decoded to the same values as by the generated code', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(object, (document) => {
      // Keys such as __proto__ are covered by the other test, because JavaScript literals cannot contain them.
      fc.pre(!JSON.stringify(document).includes('__proto__'));
      const reading = { data: { case: 'struct' as const, value: document as JsonObject } };
      const bytes = toBinary(SensorDataSchema, create(SensorDataSchema, reading));
      const decoded = fromBinary(SensorDataSchema, bytes);
      if (decoded.data.case !== 'struct') throw new Error('expected a struct');
      const expected = toJson(StructSchema, fromBinary(StructSchema, structBytes(bytes)));
      expect(json(documentOf(bytes))).toEqual(json(expected));
    }),
  );
});

test('a binary reading has no document, and its times are read separately', () => {
  const bytes = toBinary(
    SensorDataSchema,
    create(SensorDataSchema, {
      metadata: { timeRequested: timestampFromMs(1_700_000_000_123), timeReceived: timestampFromMs(1_700_000_000_456) },
      data: { case: 'binary', value: new Uint8Array(10) },
    }),
  );
  expect(documentOf(bytes)).toBe(undefined);
  expect(view).toMatchObject({ requestedMs: 1_700_000_000_123, receivedMs: 1_700_000_000_456 });
  view.read(new Uint8Array(), 0, 0);
  expect(view).toMatchObject({ kind: 'none', requestedMs: null, receivedMs: null, metadataEnd: -1 });
});

test('bytes that are not a reading cause an error, never a wrong value beyond their field', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        documentOf(bytes);
      } catch (caught) {
        expect(caught).toBeInstanceOf(Error);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('a document is read at any depth that can be stored; endless nesting is refused without a stack overflow', () => {
  expect(documentOf(nestedReading(maxReadingLevels))).toHaveProperty(['']);
  expect(() => documentOf(nestedReading(300))).toThrow('levels');
});

function nestedReading(levels: number): Uint8Array {
  let struct = Uint8Array.of();
  for (let level = 1; level < levels; level++) {
    // Struct{fields: {"": Value{struct}}}, each level around the previous one.
    const value = Uint8Array.of(0x2a, ...varint(struct.length), ...struct);
    const entry = Uint8Array.of(0x12, ...varint(value.length), ...value);
    struct = Uint8Array.of(0x0a, ...varint(entry.length), ...entry);
  }
  return Uint8Array.of(0x12, ...varint(struct.length), ...struct);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}

/** Content of field 2 of a SensorData that has no other field. */
function structBytes(bytes: Uint8Array): Uint8Array {
  let at = 1;
  while (bytes[at]! >= 128) at++;
  return bytes.subarray(at + 1);
}
