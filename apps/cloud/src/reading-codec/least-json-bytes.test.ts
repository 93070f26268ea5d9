import { create, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { leastJsonBytes } from './least-json-bytes.ts';
import { SensorDataView } from './sensor-data-view.ts';

test('a document is never shorter as JSON than its least number of bytes, and as long without escapes and numbers', () => {
  const value = fc.object({
    withNullPrototype: false,
    values: [fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)],
  });
  fc.assert(
    fc.property(value, (given) => {
      const json = Buffer.byteLength(JSON.stringify(given));
      expect(leastOf(given as JsonObject)).toBeLessThanOrEqual(json);
    }),
  );
  const texts = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key ${index}`, 'x'.repeat(index)]));
  expect(leastOf(texts)).toBe(Buffer.byteLength(JSON.stringify(texts)));
});

function leastOf(value: JsonObject): number {
  const bytes = toBinary(SensorDataSchema, create(SensorDataSchema, { data: { case: 'struct', value } }));
  const view = new SensorDataView();
  view.read(bytes, 0, bytes.length);
  return leastJsonBytes(bytes, view.contentStart, view.contentEnd);
}
