import { create, toBinary } from '@bufbuild/protobuf';
import { RawDataCaptureUploadRequestSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { expect, test } from 'vitest';
import { encodedParts, longBytes } from './encoded-parts.ts';

const bytes = (length: number): Uint8Array => new Uint8Array(length).map((_, at) => at % 251);

const lists = [[], [0, 1, longBytes], [127, 128, 16_383], [longBytes + 1], [3, 100_000, 0, 200_000], [3, 2 ** 21, 5]];

test.each(lists.map((lengths) => [lengths]))(
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

test('anything but bytes in a list of bytes is refused', () => {
  const sensorContents = ['text'] as unknown as Uint8Array[];
  const message = create(RawDataCaptureUploadRequestSchema, { sensorContents });
  expect(() => encodedParts(RawDataCaptureUploadRequestSchema, message)).toThrow('sensor_contents');
});
