import { fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import { StructSchema } from '@bufbuild/protobuf/wkt';
import { maxReadingLevels } from '@platform/base';
import { SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { EncodedDocument } from '@platform/resources';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ReadingEncoder } from './encode.ts';

test('an encoded reading is the SensorData message of the same document and times', () => {
  const encoder = new ReadingEncoder();
  const document = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { noNullPrototype: true });
  fc.assert(
    fc.property(document, fc.nat(), (readings, micros) => {
      const requestedMicros = 1.7e15 + micros;
      const bytes = encoder.encode({ requestedMicros, receivedMicros: requestedMicros + 7, document: { readings } });
      const message = fromBinary(SensorDataSchema, bytes);
      expect(message.data).toEqual({ case: 'struct', value: { readings } });
      const { timeRequested, timeReceived } = message.metadata ?? {};
      expect(timeRequested?.nanos).toBe((requestedMicros % 1e6) * 1_000);
      expect(Number(timeReceived?.seconds) * 1e6 + (timeReceived?.nanos ?? 0) / 1_000).toBe(requestedMicros + 7);
    }),
  );
});

test('D48 an encoded document becomes part of the reading as it is', () => {
  const readings = { a: 1, list: [null, 'x', { b: true }] };
  const times = { requestedMicros: 1, receivedMicros: 2 };
  const encoded = new EncodedDocument(toBinary(StructSchema, fromJson(StructSchema, readings)), 1);
  const encoder = new ReadingEncoder();
  const bytes = encoder.encode({ ...times, document: { readings: encoded } });
  expect(bytes).toEqual(encoder.encode({ ...times, document: { readings } }));
  expect(encoder.encode({ ...times, document: encoded })).toEqual(encoder.encode({ ...times, document: readings }));
});

test('values that JSON lacks are kept as text, absent ones are omitted', () => {
  const document = { at: new Date(0), raw: Uint8Array.of(1, 2), none: undefined, big: 5n };
  const bytes = new ReadingEncoder().encode({ requestedMicros: 1, receivedMicros: 2, document });
  const json = toJson(SensorDataSchema, fromBinary(SensorDataSchema, bytes)) as { struct: unknown };
  expect(json.struct).toEqual({ at: '1970-01-01T00:00:00.000Z', raw: 'AQI=', big: 5 });
});

test('a document is encoded to the depth that the cloud stores; one level more is refused', () => {
  const nested = (levels: number): Record<string, unknown> => (levels === 1 ? { i: 1 } : { a: [nested(levels - 2)] });
  const encoder = new ReadingEncoder();
  const times = { requestedMicros: 1, receivedMicros: 2 };
  expect(() => encoder.encode({ ...times, document: { a: nested(maxReadingLevels - 1) } })).not.toThrow();
  expect(() => encoder.encode({ ...times, document: { a: [nested(maxReadingLevels - 1)] } })).toThrow(
    /deeper than 100/,
  );
});

test('an endless document is refused, and the encoder keeps working', () => {
  const loop: Record<string, unknown> = {};
  loop['self'] = loop;
  const encoder = new ReadingEncoder();
  const times = { requestedMicros: 1, receivedMicros: 2 };
  expect(() => encoder.encode({ ...times, document: loop })).toThrow(/deeper/);
  expect(fromBinary(SensorDataSchema, encoder.encode({ ...times, document: { a: 1 } })).data.value).toEqual({ a: 1 });
});
