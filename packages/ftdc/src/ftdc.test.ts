import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FtdcEncoder } from './encoder.ts';
import { blockHeaderBytes, fileHeaderBytes, type Sample } from './format.ts';
import { readFtdc } from './read-ftdc.ts';

const number = fc.oneof(
  fc.integer(),
  fc.integer({ min: -(2 ** 50), max: 2 ** 50 }),
  fc.constantFrom(0, 1_700_000_000_000),
);
const anySample: fc.Arbitrary<Sample> = fc.record({
  timeMs: fc.integer({ min: 0, max: 2 ** 45 }),
  labels: fc.dictionary(fc.constantFrom('revision', 'version'), fc.string(), { noNullPrototype: true }),
  values: fc
    .dictionary(fc.constantFrom('rss_bytes', 'cpu_us', 'a "name" — ü'), number, { noNullPrototype: true })
    .map((values) => new Map(Object.entries(values))),
});

function fileOf(pieces: readonly (readonly Sample[])[]): { bytes: Uint8Array; ends: number[] } {
  const encoder = new FtdcEncoder();
  const parts = [encoder.header(), ...pieces.map((samples) => encoder.blocks(samples))];
  let end = 0;
  const ends = parts.map((part) => (end += part.length));
  return { bytes: Buffer.concat(parts), ends };
}

const samplesFrom = (timeMs: number, count: number): Sample[] =>
  Array.from({ length: count }, (_, i) => ({
    timeMs: timeMs + i * 1_000,
    labels: { revision: 'r1' },
    values: new Map(Array.from({ length: 60 }, (_, metric) => [`metric_${metric}`, metric * 1_000 + i * (metric % 3)])),
  }));

test('every sample is read back as it was written, whatever changes between samples', () => {
  fc.assert(
    fc.property(fc.array(fc.array(anySample, { maxLength: 12 }), { maxLength: 5 }), (pieces) => {
      expect(readFtdc(fileOf(pieces).bytes)).toEqual({ samples: pieces.flat(), skipped: [] });
    }),
  );
});

test('fractions are rounded, and a number that does not fit becomes the nearest one that does', () => {
  const values = new Map([
    ['fraction', 1.6],
    ['none', Number.NaN],
    ['huge', Number.POSITIVE_INFINITY],
  ]);
  const { samples } = readFtdc(fileOf([[{ timeMs: 1, labels: {}, values }]]).bytes);
  expect([...(samples[0]?.values.values() ?? [])]).toEqual([2, 0, Math.floor((2 ** 52 - 1) / 2)]);
});

test('a file cut anywhere keeps all whole blocks, and the reader reports what it dropped', () => {
  const pieces = [samplesFrom(0, 10), samplesFrom(10_000, 10), samplesFrom(20_000, 10)];
  const { bytes, ends } = fileOf(pieces);
  for (let length = fileHeaderBytes; length < bytes.length; length++) {
    const { samples, skipped } = readFtdc(bytes.subarray(0, length));
    const whole = ends.slice(1).filter((end) => end <= length).length;
    expect(samples.length).toBe(whole * 10);
    expect(skipped.every(({ reason }) => reason.includes('torn'))).toBe(true);
  }
  expect(readFtdc(bytes.subarray(0, 4)).skipped[0]?.reason).toContain('shorter than its header');
});

test('a changed byte loses only the samples of its block, a damaged schema only those that refer to it; nothing is invented', () => {
  const pieces = [samplesFrom(0, 10), samplesFrom(10_000, 10), samplesFrom(20_000, 10)];
  const { bytes, ends } = fileOf(pieces);
  const written = JSON.stringify(pieces.flat().map(({ timeMs }) => timeMs));
  fc.assert(
    fc.property(
      fc.integer({ min: fileHeaderBytes, max: bytes.length - 1 }),
      fc.integer({ min: 1, max: 255 }),
      (at, change) => {
        const damaged = Uint8Array.from(bytes);
        damaged[at] = (damaged[at] ?? 0) ^ change;
        const { samples, skipped } = readFtdc(damaged);
        expect(skipped.length).toBeGreaterThan(0);
        const times = samples.map(({ timeMs }) => timeMs);
        expect(written).toContain(JSON.stringify(times).slice(1, -1).split(',').slice(0, 10).join(','));
        // Past the first piece, which contains the schema.
        if (at >= (ends[1] ?? 0)) expect(samples).toHaveLength(20);
      },
    ),
  );
});

test('other files, other versions and other kinds of blocks are reported', () => {
  const [reasonOf, { bytes }] = [(file: Uint8Array) => readFtdc(file).skipped[0]?.reason, fileOf([samplesFrom(0, 1)])];
  expect(reasonOf(Buffer.from('{"this": "is JSON"}'))).toContain('expected it to begin with "PLATFTDC"');
  const later = Uint8Array.from(bytes);
  later[8] = 2;
  expect(reasonOf(later)).toBe('expected version 1 of the format, found 2');
});

test('ten seconds of 60 metrics take less than 400 bytes', () => {
  const { ends } = fileOf([samplesFrom(0, 10), samplesFrom(10_000, 10)]);
  expect((ends[2] ?? 0) - (ends[1] ?? 0) - blockHeaderBytes).toBeLessThan(400);
});
