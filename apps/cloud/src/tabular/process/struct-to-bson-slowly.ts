/** google.protobuf.Struct to BSON through protobuf-es: for wire forms that no encoder writes but the format allows. */
import { fromBinary } from '@bufbuild/protobuf';
import { type ListValue, type Struct, StructSchema, type Value } from '@bufbuild/protobuf/wkt';
import { writeIndex, writeInt32, writeRepairedText } from './bson-bytes.ts';

/** As writeStruct, for a Struct of its own. */
export function writeStructSlowly(wire: Uint8Array, target: Uint8Array, at: number, maxDepth: number): number {
  return writeFields(fromBinary(StructSchema, wire).fields, target, at, maxDepth);
}

function writeFields(fields: Struct['fields'], target: Uint8Array, at: number, depth: number): number {
  if (depth < 0) throw new Error('expected a document that is nested less deeply');
  let to = at + 4;
  for (const [key, value] of Object.entries(fields)) {
    const element = to++;
    to += writeRepairedText(key, target, to, true);
    target[to++] = 0;
    to = writeValue(value, target, element, to, depth);
  }
  return close(target, at, to);
}

function writeList(list: ListValue, target: Uint8Array, at: number, depth: number): number {
  if (depth < 0) throw new Error('expected a document that is nested less deeply');
  let to = at + 4;
  list.values.forEach((value, index) => {
    const element = to;
    to = writeValue(value, target, element, writeIndex(target, element + 1, index), depth);
  });
  return close(target, at, to);
}

function writeValue(value: Value, target: Uint8Array, element: number, at: number, depth: number): number {
  const { kind } = value;
  let to = at;
  switch (kind.case) {
    case 'numberValue':
      target[element] = 0x01;
      new DataView(target.buffer, target.byteOffset + to, 8).setFloat64(0, kind.value, true);
      return to + 8;
    case 'stringValue':
      target[element] = 0x02;
      to += 4 + writeRepairedText(kind.value, target, to + 4, false);
      target[to++] = 0;
      writeInt32(target, at, to - at - 4);
      return to;
    case 'boolValue':
      target[element] = 0x08;
      target[to++] = kind.value ? 1 : 0;
      return to;
    case 'structValue':
      target[element] = 0x03;
      return writeFields(kind.value.fields, target, to, depth - 1);
    case 'listValue':
      target[element] = 0x04;
      return writeList(kind.value, target, to, depth - 1);
    default:
      target[element] = 0x0a;
      return to;
  }
}

function close(target: Uint8Array, at: number, end: number): number {
  target[end] = 0;
  writeInt32(target, at, end + 1 - at);
  return end + 1;
}
