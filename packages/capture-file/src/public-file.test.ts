import { create, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { concatBytes, crc32c } from '@platform/base';
import {
  type DataCaptureMetadata,
  DataCaptureMetadataSchema,
  DataType,
  SensorDataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { expect, test } from 'vitest';
import { readCaptureFile } from './read-capture-file.ts';
import { captureFileBytes } from './write-capture-file.ts';

const metadata = create(DataCaptureMetadataSchema, {
  componentType: 'core:component:sensor',
  componentName: 'temp',
  methodName: 'Readings',
  type: DataType.TABULAR_SENSOR,
  fileExtension: '.dat',
  tags: ['a', 'b'],
});
const header = create(CaptureFileHeaderSchema, {
  ...{ stream: new Uint8Array(16).fill(9), seq: 300n, partId: 'part', metadata },
  created: timestampFromMs(1_800_000_000_000),
});

function readingOf(struct: JsonObject, ms: number): Uint8Array {
  return toBinary(
    SensorDataSchema,
    create(SensorDataSchema, {
      metadata: { timeRequested: timestampFromMs(ms), timeReceived: timestampFromMs(ms + 1) },
      data: { case: 'struct', value: struct },
    }),
  );
}

const readings = Array.from({ length: 5 }, (_, n) => readingOf({ readings: { n } }, 1_800_000_000_000 + n));

/** A file as a public machine-server writes it. */
function publicFile(about: DataCaptureMetadata, contents: readonly Uint8Array[]): Uint8Array {
  const length = (count: number): Uint8Array =>
    count < 128 ? Uint8Array.of(count) : Uint8Array.of((count & 127) | 128, count >> 7);
  const messages = [toBinary(DataCaptureMetadataSchema, about), ...contents];
  return concatBytes(messages.flatMap((message) => [length(message.length), message]));
}

/** Fields of a message by number, decoded only by the rules of the encoding. */
function fieldsOf(message: Uint8Array): Map<number, (number | Uint8Array)[]> {
  const fields = new Map<number, (number | Uint8Array)[]>();
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = message[at++];
      if (byte === undefined) throw new Error('the message ends within a number');
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const sizes: Record<number, () => number> = { 1: () => 8, 2: varint, 5: () => 4 };
    const size = sizes[tag % 8]?.();
    const value = size === undefined ? varint() : message.subarray(at, at + size);
    at += size ?? 0;
    fields.set(Math.floor(tag / 8), [...(fields.get(Math.floor(tag / 8)) ?? []), value]);
  }
  if (at !== message.length) throw new Error('the last field is longer than its message');
  return fields;
}

function messagesOf(file: Uint8Array): Uint8Array[] {
  const messages: Uint8Array[] = [];
  for (let at = 0; at < file.length; ) {
    let length = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = file[at++] ?? 0;
      length += (byte & 127) * scale;
      if (byte < 128) break;
    }
    messages.push(file.subarray(at, at + length));
    at += length;
  }
  return messages;
}

test('a reader that knows only the public framing and field numbers reads our files; our fields are unknown to it', () => {
  const text = (value: number | Uint8Array | undefined): string => Buffer.from(value as Uint8Array).toString();
  const [first, ...others] = messagesOf(captureFileBytes(header, readings)).map(fieldsOf);
  expect([1, 2, 4, 7].map((no) => text(first?.get(no)?.[0]))).toEqual([
    'core:component:sensor',
    'temp',
    'Readings',
    '.dat',
  ]);
  expect(first?.get(5)).toEqual([2]);
  expect(first?.get(8)?.map(text)).toEqual(['a', 'b']);
  expect([...(first?.keys() ?? [])].filter((no) => no >= 1_000)).toEqual([1_000, 1_001]);
  expect(others.map((fields) => [...fields.keys()])).toEqual(readings.map(() => [1, 2, 1_001]));
  expect(others.map((fields) => fields.get(2))).toEqual(readings.map((reading) => fieldsOf(reading).get(2)));
  expect(others.map((fields) => fields.get(1))).toEqual(readings.map((reading) => fieldsOf(reading).get(1)));
});

test('C12 a file of a public machine-server is read: API names as ours, no identity, an undecodable end is cut', () => {
  const about = create(DataCaptureMetadataSchema, { ...metadata, componentType: 'rdk:component:sensor' });
  const whole = publicFile(about, readings);
  const contents = readCaptureFile(whole);
  expect(contents).toMatchObject({ kind: 'public', cutBytes: 0, missing: 0, readings });
  expect(contents.header).toMatchObject({ seq: 0n, partId: '', metadata: { componentType: 'core:component:sensor' } });
  const ends = readings.map((_, index) => publicFile(about, readings.slice(0, index + 1)).length);
  for (let length = 1; length < whole.length; length++) {
    const torn = whole.subarray(0, length);
    const complete = ends.filter((end) => end <= length).length;
    if (complete === 0) expect(() => readCaptureFile(torn)).toThrow(/not a capture file/);
    else expect(readCaptureFile(torn).readings).toEqual(readings.slice(0, complete));
  }
  for (const foreign of ['text', '', '\n\u0001x', '{"a": 1}']) {
    expect(() => readCaptureFile(Buffer.from(foreign))).toThrow(/not a capture file/);
  }
});

test('C3 one of our files is never mistaken for a public one, whichever of our fields is damaged', () => {
  const whole = captureFileBytes(header, readings);
  const first = messagesOf(whole)[0] ?? new Uint8Array();
  // The identity and the checksum of the header also become fields that public readers skip.
  const hidden = whole.slice();
  const at = first.byteOffset - whole.byteOffset;
  hidden.set([0xba, 0x3e], at);
  hidden.set([0xc1, 0x3e], at + first.length - 10);
  expect(() => readCaptureFile(hidden)).toThrow(/damaged header/);
  hidden.set([0xb9, 0x3e], at + first.length - 10);
  expect(() => readCaptureFile(hidden)).toThrow(/damaged header: its readings have checksums/);
});

test('D42 a capture file of a commit before 0.1 is rejected as none, and never mistaken for a public one', () => {
  const frame = (payload: Uint8Array): Uint8Array => {
    const head = Buffer.alloc(8);
    head.writeUInt32LE(payload.length, 0);
    head.writeUInt32LE(crc32c(payload), 4);
    return concatBytes([head, payload]);
  };
  const frames = [toBinary(CaptureFileHeaderSchema, header), ...Array.from({ length: 20 }, () => readingOf({}, 1))];
  const file = concatBytes([Buffer.from('PLCAP\r\n\u0001'), ...frames.map(frame)]);
  expect(() => readCaptureFile(file)).toThrow(/^not a capture file/);
});
