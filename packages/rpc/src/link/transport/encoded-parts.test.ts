import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { WireType } from '@bufbuild/protobuf/wire';
import { writeVarint } from '@platform/base';
import { RawDataCaptureUploadRequestSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { expect, test } from 'vitest';
import { encodedParts, longBytes } from './encoded-parts.ts';

const bytes = (length: number): Uint8Array => new Uint8Array(length).map((_, at) => at % 251);

function lengthOf(length: number): Uint8Array {
  const buffer = new Uint8Array(5);
  return buffer.subarray(0, writeVarint(buffer, 0, length));
}

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

test('the parts of a message with unknown fields are its encoding, and long ones are not copied', () => {
  const schema = RawDataCaptureUploadRequestSchema;
  const long = Buffer.concat([Buffer.from([...lengthOf(100_000)]), bytes(100_000)]);
  const message = create(schema, { sensorContents: [bytes(3)] });
  const field = (no: number, data: Uint8Array) => ({ no, wireType: WireType.LengthDelimited, data });
  message.$unknown = [
    field(900, Uint8Array.of(1, 7)),
    field(900, long),
    field(901, Uint8Array.of(0)),
    field(900, long),
  ];
  const parts = encodedParts(schema, message);
  expect(parts.filter((part) => part === long)).toHaveLength(2);
  const whole = Buffer.concat(parts);
  expect(whole).toHaveLength(toBinary(schema, message).length);
  expect(fromBinary(schema, new Uint8Array(whole))).toEqual(fromBinary(schema, toBinary(schema, message)));
});

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
