import { create, toBinary } from '@bufbuild/protobuf';
import { concatBytes, PlatformError } from '@platform/base';
import { DataCaptureMetadataSchema, SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readCaptureFile } from './read-capture-file.ts';
import { captureFileBytes } from './write-capture-file.ts';

const metadata = create(DataCaptureMetadataSchema, { componentType: 'a:b:c', componentName: 's', methodName: 'm' });
const header = create(CaptureFileHeaderSchema, {
  ...{ stream: new Uint8Array(16).fill(9), seq: 1n, partId: 'part', metadata },
});
const readings = Array.from({ length: 6 }, (_, n) =>
  toBinary(SensorDataSchema, create(SensorDataSchema, { data: { case: 'struct', value: { n, text: 'x'.repeat(n) } } })),
);

const files = [
  captureFileBytes(header, readings),
  concatBytes(
    [toBinary(DataCaptureMetadataSchema, metadata), ...readings].flatMap((each) => [Uint8Array.of(each.length), each]),
  ),
];

test('C3 for any bytes, a reader returns the intact records or reports that it is not a capture file; nothing else is thrown', () => {
  const change = fc.record({
    ...{ at: fc.nat(400), length: fc.nat(60), junk: fc.uint8Array({ maxLength: 20 }), of: fc.nat(2) },
  });
  const bytes = fc.tuple(fc.nat(1), fc.array(change, { minLength: 1, maxLength: 4 })).map(([kind, changes]) => {
    let file = files[kind] ?? new Uint8Array();
    for (const { at, length, junk, of } of changes)
      file = concatBytes([file.subarray(0, at), of === 0 ? new Uint8Array(length) : junk, file.subarray(at + length)]);
    return file;
  });
  fc.assert(
    fc.property(fc.oneof(bytes, fc.uint8Array({ maxLength: 300 })), (content) => {
      try {
        const { kind, readings: found, goodBytes, cutBytes } = readCaptureFile(content);
        expect(goodBytes + cutBytes).toBeLessThanOrEqual(content.length);
        if (kind !== 'public') for (const each of found) expect(readings.map(String)).toContain(String(each));
      } catch (caught) {
        expect(caught).toBeInstanceOf(PlatformError);
        expect(caught).toMatchObject({ code: 'data_loss', message: expect.stringContaining('capture file') });
      }
    }),
    { numRuns: 2_000 },
  );
});

test('C3 a file full of bytes that look like checksums is read in bounded time', () => {
  const lookalike = Uint8Array.of(0xc9, 0x3e, 1, 0, 0, 0, 0);
  const junk = new Uint8Array(7 * 600_000);
  for (let at = 0; at < junk.length; at += lookalike.length) junk.set(lookalike, at);
  const contents = readCaptureFile(concatBytes([captureFileBytes(header, readings.slice(0, 2)), junk]));
  expect(contents).toMatchObject({ cutBytes: junk.length, missing: 0 });
  expect(contents.readings).toHaveLength(2);
});
