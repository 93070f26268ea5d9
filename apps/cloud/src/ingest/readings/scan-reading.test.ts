import { create, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { maxReadingLevels, runToEnd } from '@platform/base';
import { SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalReading } from './canonical-reading.ts';
import { scanReading } from './scan-reading.ts';

const seconds = fc.bigInt({ min: -62_135_596_800n, max: 253_402_300_799n });
const timestamp = fc.record({ seconds, nanos: fc.integer({ min: 0, max: 999_999_999 }) });
const json = fc.object({
  withNullPrototype: false,
  values: [fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)],
});

test('a scan finds the same kind, bytes and time as decoding', () => {
  const data = fc.oneof(
    json.map((value) => ({ case: 'struct' as const, value: value as JsonObject })),
    fc.uint8Array().map((value) => ({ case: 'binary' as const, value })),
  );
  fc.assert(
    fc.property(timestamp, timestamp, data, (timeRequested, timeReceived, content) => {
      const reading = create(SensorDataSchema, { metadata: { timeRequested, timeReceived }, data: content });
      const found = scanReading(toBinary(SensorDataSchema, reading));
      expect(found).toMatchObject({ kind: content.case, problem: null });
      expect(found.timeReceivedMs).toBe(Number(timeReceived.seconds) * 1_000 + Math.floor(timeReceived.nanos / 1e6));
    }),
  );
});

test('times out of range and missing content are reported, and missing times are allowed', () => {
  const scan = (init: Parameters<typeof create<typeof SensorDataSchema>>[1]): string | null =>
    scanReading(toBinary(SensorDataSchema, create(SensorDataSchema, init))).problem;
  const good = { seconds: 1n, nanos: 0 };
  const data = { case: 'struct' as const, value: { a: 1 } };
  expect(
    scan({ metadata: { timeRequested: good, timeReceived: { seconds: 253_402_300_800n, nanos: 0 } }, data }),
  ).toMatch(/time_received/);
  expect(scan({ metadata: { timeRequested: { seconds: 0n, nanos: -1 }, timeReceived: good }, data })).toMatch(
    /time_requested/,
  );
  expect(scan({ metadata: { timeRequested: good }, data })).toBe(null);
  expect(scan({ data })).toBe(null);
  expect(scan({ metadata: { timeRequested: good, timeReceived: good } })).toMatch(/found neither/);
});

test('a scan of any bytes never throws, and reports a problem for whatever cannot be decoded', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      const { kind, problem } = scanReading(bytes);
      if (kind === 'none') expect(problem).not.toBeNull();
      runToEnd(canonicalReading(bytes));
    }),
    { numRuns: 2_000 },
  );
});

test('D13 the canonical bytes depend on everything except the order of a document', () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, inner]) => [key, shuffled(inner)]),
    );
  };
  const canonical = (value: unknown): string => {
    const reading = create(SensorDataSchema, { data: { case: 'struct', value: value as JsonObject } });
    return Buffer.from(runToEnd(canonicalReading(toBinary(SensorDataSchema, reading)))).toString('hex');
  };
  fc.assert(
    fc.property(json, json, (one, other) => {
      expect(canonical(shuffled(one))).toBe(canonical(one));
      const equal = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
      expect(canonical(one) === canonical(other)).toBe(equal);
    }),
  );
});

test('D13 the order of a document does not matter at any depth that can be stored', () => {
  const nested = (levels: number, inner: JsonObject): JsonObject =>
    levels === 0 ? inner : { a: nested(levels - 1, inner) };
  const canonical = (inner: JsonObject): string => {
    const value = nested(maxReadingLevels - 1, inner);
    const bytes = toBinary(SensorDataSchema, create(SensorDataSchema, { data: { case: 'struct', value } }));
    expect(scanReading(bytes).problem).toBe(null);
    return Buffer.from(runToEnd(canonicalReading(bytes))).toString('hex');
  };
  expect(canonical({ x: 1, y: 2 })).toBe(canonical({ y: 2, x: 1 }));
  expect(canonical({ x: 1, y: 2 })).not.toBe(canonical({ x: 2, y: 1 }));
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (Object.is(value, -0)) return 'minus zero';
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)]);
}
