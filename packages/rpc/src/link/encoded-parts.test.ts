import { create, toBinary } from '@bufbuild/protobuf';
import { RawDataCaptureUploadRequestSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { expect, test } from 'vitest';
import { encodedParts, longBytes } from './encoded-parts.ts';

const bytes = (length: number): Uint8Array => new Uint8Array(length).map((_, at) => at % 251);

test.each([[[]], [[0, 1, longBytes]], [[longBytes + 1]], [[3, 100_000, 0, 200_000]]])(
  'the parts of a message whose list has bytes of the lengths %j are its encoding',
  (lengths) => {
    const message = create(RawDataCaptureUploadRequestSchema, {
      metadata: bytes(40),
      sensorContents: lengths.map(bytes),
    });
    const parts = encodedParts(RawDataCaptureUploadRequestSchema, message);
    expect(Buffer.concat(parts)).toEqual(Buffer.from(toBinary(RawDataCaptureUploadRequestSchema, message)));
  },
);

test('long bytes are not copied', () => {
  const image = bytes(100_000);
  const message = create(RawDataCaptureUploadRequestSchema, { sensorContents: [image] });
  expect(encodedParts(RawDataCaptureUploadRequestSchema, message)).toContain(image);
});
