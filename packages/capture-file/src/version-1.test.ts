import { create, toBinary } from '@bufbuild/protobuf';
import { concatBytes, crc32c } from '@platform/base';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { expect, test } from 'vitest';
import { readCaptureFile } from './read-capture-file.ts';

const header = create(CaptureFileHeaderSchema, { stream: new Uint8Array(16).fill(3), seq: 8n, partId: 'part' });
const readings = [Uint8Array.of(1, 2, 3), new Uint8Array(300).fill(4), Uint8Array.of(5)];

function frame(payload: Uint8Array): Uint8Array {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(payload.length, 0);
  head.writeUInt32LE(crc32c(payload), 4);
  return concatBytes([head, payload]);
}

const magic = (version: number): Uint8Array => concatBytes([Buffer.from('PLCAP\r\n'), Uint8Array.of(version)]);

function version1(): Uint8Array {
  return concatBytes([magic(1), frame(toBinary(CaptureFileHeaderSchema, header)), ...readings.map(frame)]);
}

test('a file of version 1 left on a machine is read, and a torn one keeps its valid prefix', () => {
  const whole = version1();
  expect(readCaptureFile(whole)).toMatchObject({ kind: 1, header, readings, cutBytes: 0, missing: 0 });
  const torn = readCaptureFile(whole.subarray(0, -3));
  expect(torn.readings).toEqual(readings.slice(0, 2));
  expect(torn.goodBytes + torn.cutBytes).toBe(whole.length - 3);
  const flipped = whole.slice();
  flipped[whole.length - 20] = (flipped[whole.length - 20] ?? 0) ^ 1;
  expect(readCaptureFile(flipped).readings).toEqual(readings.slice(0, 1));
});

test('another version after "PLCAP" and a version 1 without header are rejected with the reason', () => {
  expect(() => readCaptureFile(concatBytes([magic(7), version1().subarray(8)]))).toThrow(/capture file of version 7/);
  expect(() => readCaptureFile(version1().subarray(0, 20))).toThrow(/capture file without header/);
});
