/** google.protobuf.Struct to BSON through values in between: for wire forms that no encoder writes but the format allows. */
import { readStruct, type StructFields, type StructValue } from '../../ingest/read-struct.ts';
import { writeIndex, writeInt32, writeRepairedText } from './bson-bytes.ts';

/** As writeStruct. */
export function writeStructSlowly(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): number {
  return writeFields(readStruct(source, start, end), target, at);
}

function writeFields(fields: StructFields, target: Uint8Array, at: number): number {
  let to = at + 4;
  for (const [key, value] of fields) {
    const element = to++;
    to += writeRepairedText(key, target, to, true);
    target[to++] = 0;
    to = writeValue(value, target, element, to);
  }
  return close(target, at, to);
}

function writeList(values: readonly StructValue[], target: Uint8Array, at: number): number {
  let to = at + 4;
  values.forEach((value, index) => {
    const element = to;
    to = writeValue(value, target, element, writeIndex(target, element + 1, index));
  });
  return close(target, at, to);
}

function writeValue(value: StructValue, target: Uint8Array, element: number, at: number): number {
  let to = at;
  if (typeof value === 'number') {
    target[element] = 0x01;
    new DataView(target.buffer, target.byteOffset + to, 8).setFloat64(0, value, true);
    return to + 8;
  }
  if (typeof value === 'string') {
    target[element] = 0x02;
    to += 4 + writeRepairedText(value, target, to + 4, false);
    target[to++] = 0;
    writeInt32(target, at, to - at - 4);
    return to;
  }
  if (typeof value === 'boolean') {
    target[element] = 0x08;
    target[to++] = value ? 1 : 0;
    return to;
  }
  if (value === null) {
    target[element] = 0x0a;
    return to;
  }
  target[element] = Array.isArray(value) ? 0x04 : 0x03;
  return Array.isArray(value) ? writeList(value, target, to) : writeFields(value, target, to);
}

function close(target: Uint8Array, at: number, end: number): number {
  target[end] = 0;
  writeInt32(target, at, end + 1 - at);
  return end + 1;
}
