/**
 * google.protobuf.Struct in every form that the wire allows: the reference for which documents can be stored, and what they mean.
 *
 * The last one counts of a key, a value or a field that stands more than once; unknown fields are passed over; a value that was never
 * set is null; text that is not UTF-8 is repaired with U+FFFD; NUL in a key, which BSON cannot hold, becomes U+2400.
 */

import { maxStructLevels } from '../wire/max-struct-levels.ts';
import { WireReader } from '../wire/wire-reader.ts';

export type StructFields = Map<string, StructValue>;
export type StructValue = null | number | string | boolean | StructFields | StructValue[];

const utf8 = /* @__PURE__ */ new TextDecoder('utf-8', { ignoreBOM: true });

/** Throws an Error with the reason when bytes[start..end) are no Struct or nested too deeply. */
export function readStruct(bytes: Uint8Array, start: number, end: number): StructFields {
  return readFields(bytes, start, end, 1);
}

function readFields(bytes: Uint8Array, start: number, end: number, level: number): StructFields {
  checkLevel(level);
  const fields: StructFields = new Map();
  const wire = new WireReader(bytes, start, end);
  while (wire.next()) {
    if (wire.number !== 1 || wire.type !== 2) continue;
    const entry = new WireReader(bytes, wire.contentStart, wire.contentEnd);
    let key = '';
    let value: StructValue = null;
    while (entry.next()) {
      if (entry.type !== 2) continue;
      if (entry.number === 1) key = utf8.decode(entry.content()).replaceAll('\0', '\u2400');
      else if (entry.number === 2) value = readValue(bytes, entry.contentStart, entry.contentEnd, level);
    }
    checkWhole(entry);
    fields.set(key, value);
  }
  checkWhole(wire);
  return fields;
}

function readList(bytes: Uint8Array, start: number, end: number, level: number): StructValue[] {
  checkLevel(level);
  const values: StructValue[] = [];
  const wire = new WireReader(bytes, start, end);
  while (wire.next()) {
    if (wire.number === 1 && wire.type === 2) values.push(readValue(bytes, wire.contentStart, wire.contentEnd, level));
  }
  checkWhole(wire);
  return values;
}

function readValue(bytes: Uint8Array, start: number, end: number, level: number): StructValue {
  let value: StructValue = null;
  const wire = new WireReader(bytes, start, end);
  while (wire.next()) {
    const { contentStart, contentEnd } = wire;
    switch (wire.tag) {
      case 0x08:
        value = null;
        break;
      case 0x11:
        value = wire.double();
        break;
      case 0x1a:
        value = utf8.decode(wire.content());
        break;
      case 0x20:
        value = wire.value !== 0;
        break;
      case 0x2a:
        value = readFields(bytes, contentStart, contentEnd, level + 1);
        break;
      case 0x32:
        value = readList(bytes, contentStart, contentEnd, level + 1);
        break;
    }
  }
  checkWhole(wire);
  return value;
}

function checkLevel(level: number): void {
  if (level > maxStructLevels)
    throw new Error(`expected a document nested at most ${maxStructLevels} deep, found a deeper one`);
}

function checkWhole(wire: WireReader): void {
  if (wire.broken) throw new Error('expected a document (google.protobuf.Struct), found other bytes or a part of one');
}
